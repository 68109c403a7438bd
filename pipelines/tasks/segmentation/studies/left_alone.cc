#include "pipelines/tasks/segmentation/studies/left_alone.h"

#include <memory>
#include <optional>
#include <set>

#include "io/volume/archive.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// The series of a folder by id, as its search found them; those of archives are opened one by one.
class SeriesById {
 public:
  SeriesById(const fs::path& input, const VolumeFormats& formats) : limits_(formats.limits) {
    std::error_code error;
    if (fs::is_directory(input, error))
      found_ = find_dicom_series(input);
    else if (is_archive_name(input) && fs::is_regular_file(input, error))
      found_ = read_archived_study(input, limits_).found;
    if (!found_) return;
    for (const DicomSeries& series : found_->series) by_id_[series_id(series)] = &series;
  }
  /// Returns the series of a volume without its files; none for other formats. Errors: kInput.
  std::optional<DicomSeries> of(const FoundVolume& volume) const {
    const auto known = by_id_.find(volume.id);
    if (known != by_id_.end() && series_address(*known->second) == volume.path) return light(*known->second);
    const auto opened = open_series(volume.path, limits_);
    return opened ? std::optional(light(opened->series)) : std::nullopt;
  }
  const std::set<std::string>* labelled() const { return found_ ? &found_->labelled : nullptr; }

 private:
  static DicomSeries light(DicomSeries series) {
    series.files.clear();
    return series;
  }
  VolumeLimits limits_;
  std::shared_ptr<const DicomFolder> found_;
  std::map<std::string, const DicomSeries*> by_id_;
};

}  // namespace

std::int64_t LeftAlone::count() const {
  std::int64_t all = 0;
  for (const auto& [rule, count] : series) all += count;
  return all;
}

void LeftAlone::add(const LeftAlone& other) {
  for (const auto& [rule, count] : other.series) series[rule] += count;
  studies += other.studies;
}

std::string LeftAlone::text() const {
  if (series.empty()) return {};
  return std::to_string(count()) + " series left alone: " + joined(series, ", ", [](const auto& one) {
           return std::to_string(one.second) + " by " + one.first;
         });
}

nlohmann::ordered_json to_json(const LeftAlone& left) {
  nlohmann::ordered_json rules = nlohmann::ordered_json::object();
  for (const auto& [rule, count] : left.series) rules[rule] = count;
  return {{"series", left.count()}, {"studies", left.studies}, {"by_rule", rules}};
}

LeftAlone leave_by_rules(const SeriesRules& rules, const fs::path& input, std::vector<FoundVolume>& volumes,
                         const VolumeFormats& formats) {
  LeftAlone left;
  if (!rules.any()) return left;
  const SeriesById found(input, formats);
  DicomFolder remaining;
  if (found.labelled() != nullptr) remaining.labelled = *found.labelled();
  std::erase_if(volumes, [&](const FoundVolume& volume) {
    std::optional<DicomSeries> series;
    try {
      series = found.of(volume);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      return false;  // reading reports it
    }
    const std::string rule = series ? broken_rule(rules, *series) : "format";
    if (!rule.empty()) {
      ++left.series[rule];
      return true;
    }
    remaining.series.push_back(std::move(*series));
    return false;
  });
  const std::map<std::string, std::string> better = better_series(remaining);
  for (FoundVolume& volume : volumes) volume.better = better.contains(volume.id) ? better.at(volume.id) : "";
  return left;
}

}  // namespace voxshard
