#include "io/dicom/doubled_slices.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <system_error>

#include "io/dicom/dicom_grid.h"
#include "io/dicom/dicom_pixels.h"
#include "io/files/content_hash.h"
#include "libcore/base/coded_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Indices into series.slices: slices that lie at one place along the normal, two or more.
using DoubledPlace = std::vector<std::size_t>;

std::vector<DoubledPlace> doubled_places(const DicomSeries& series) {
  std::vector<DoubledPlace> places;
  for (std::size_t z = 0; z < series.slices.size(); ++z) {
    if (z == 0 || series.slices[z].along_mm - series.slices[z - 1].along_mm >= kCoincidingMm) places.emplace_back();
    places.back().push_back(z);
  }
  std::erase_if(places, [](const DoubledPlace& place) { return place.size() < 2; });
  return places;
}

/// Calls take(i, values) with the values of slices[i] of the series, in the order of files.
void read_some_slices(const DicomSeries& series, const std::vector<std::size_t>& slices,
                      const std::function<void(std::size_t i, std::span<const double> values)>& take) {
  DicomSeries part = series;
  part.problem.clear(), part.slices.clear();
  for (const std::size_t z : slices) part.slices.push_back(series.slices[z]);
  read_dicom_slices(part, take);
}

/// "31.2 % of their pixels, by up to 812"
std::string difference_text(const DicomSeries& series, std::size_t a, std::size_t b) {
  std::vector<double> first;
  std::size_t apart = 0;
  double most = 0;
  read_some_slices(series, {a, b}, [&](std::size_t, std::span<const double> values) {
    if (first.empty()) {
      first.assign(values.begin(), values.end());
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double gap = std::abs(values[i] - first[i]);
      apart += gap > 0 ? 1 : 0, most = std::max(most, gap);
    }
  });
  return fixed_text(100.0 * static_cast<double>(apart) / static_cast<double>(first.size()), 1) +
         " % of their pixels, by up to " + fixed_text(most, 0);
}

bool is_beside(const DicomSlice& a, const DicomSlice& b) {
  return std::equal(a.at.begin(), a.at.end(), b.at.begin(),
                    [](double x, double y) { return std::abs(x - y) < kCoincidingMm; });
}

/// The result of comparing the pixels of doubled slices.
struct Doubled {
  std::vector<std::size_t> extra;  // slices that equal another one, which is kept; ascending
  std::string problem;             // of slices that differ; else empty
};

Doubled compare_doubled(const DicomSeries& series) {
  const std::vector<DoubledPlace> places = doubled_places(series);
  std::vector<std::size_t> all;
  for (const DoubledPlace& place : places) all.insert(all.end(), place.begin(), place.end());
  std::vector<std::string> hash_of(series.slices.size());
  read_some_slices(series, all, [&](std::size_t i, std::span<const double> values) {
    hash_of[all[i]] = content_hash(std::as_bytes(values));
  });
  Doubled doubled;
  std::int64_t apart = 0;
  std::string where;
  for (const DoubledPlace& place : places)
    for (std::size_t i = 1; i < place.size(); ++i) {
      const std::size_t kept = place.front(), other = place[i];
      const bool beside = is_beside(series.slices[kept], series.slices[other]);
      if (beside && hash_of[other] == hash_of[kept]) {
        doubled.extra.push_back(other);
        continue;
      }
      if (++apart > 1) continue;
      where = "the first at " + fixed_text(series.slices[kept].along_mm, 2) + " mm, " +
              (beside ? "in " + difference_text(series, kept, other) : "which lies beside it in the plane");
    }
  if (apart == 0) return doubled;
  const auto count = static_cast<std::int64_t>(doubled.extra.size()) + apart;
  doubled.problem = "has " + std::to_string(count) + (count == 1 ? " slice" : " slices") +
                    " at a place where another one lies, and " + std::to_string(apart) +
                    (apart == 1 ? " of them differs" : " of them differ") + " from that one, " + where +
                    ": these are two scans or reconstructions, which neither AcquisitionNumber nor "
                    "TemporalPositionIdentifier tells apart; move the files of one of them to a folder of its own, by "
                    "InstanceNumber or AcquisitionTime, and give one folder at a time";
  return doubled;
}

/// Names a series as long as none of its files changes.
std::string state_of(const DicomSeries& series) {
  ContentHash hash;
  hash.add(series.key);
  for (const DicomFile& file : series.files) {
    std::error_code error;
    const auto changed = std::filesystem::last_write_time(file.path, error).time_since_epoch().count();
    hash.add("\n" + file.path.string() + "\n" + std::to_string(file.bytes) + " " + std::to_string(changed));
  }
  return hash.text();
}

/// A command asks for the header, the plan and the voxels of a series in turn: what the pixels said last is kept.
class RecentlyCompared {
 public:
  Doubled of(const DicomSeries& series) {
    const std::string state = state_of(series);
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [known, doubled] : recent_)
        if (known == state) return doubled;
    }
    Doubled doubled = compare_doubled(series);
    const std::lock_guard lock(mutex_);
    recent_.emplace_front(state, doubled);
    if (recent_.size() > kMost) recent_.pop_back();
    return doubled;
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::mutex mutex_;
  std::deque<std::pair<std::string, Doubled>> recent_;
};

}  // namespace

void join_doubled_slices(DicomSeries& series) {
  static RecentlyCompared recent;
  const Doubled doubled = recent.of(series);
  if (!doubled.problem.empty()) {
    series.problem = doubled.problem;
    return;
  }
  for (auto extra = doubled.extra.rbegin(); extra != doubled.extra.rend(); ++extra)
    series.slices.erase(series.slices.begin() + static_cast<std::ptrdiff_t>(*extra));
  const std::size_t count = doubled.extra.size();
  add_coded(series.warning, "W_DOUBLED " + std::to_string(count) + (count == 1 ? " slice lies" : " slices lie") +
                                " where another one with the same values lies; one of each is kept");
  series.problem.clear();
  place_series(series, true);
}

}  // namespace voxshard
