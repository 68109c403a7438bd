#include "pipelines/tasks/volume_files.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/volume/archive.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/input_tree.h"

namespace voxshard {

namespace fs = std::filesystem;

std::optional<std::string> volume_id(const fs::path& path, const VolumeFormats& formats) {
  const auto id = volume_stem(path, formats);
  return !id || id->empty() || id->starts_with(".") ? std::nullopt : id;
}

namespace {

/// The series of a folder and its archives without their files: which of them are reconstructions of one scan is told
/// across archives.
class SeriesOfTree {
 public:
  void add(const DicomFolder& found) {
    all_.labelled.insert(found.labelled.begin(), found.labelled.end());
    for (const DicomSeries& series : found.series) {
      if (!ids_.insert(series_id(series)).second) continue;
      DicomSeries light = series;
      light.files.clear(), light.slices = {series.slices.front(), series.slices.back()};
      all_.series.push_back(std::move(light));
    }
  }
  /// Says of each volume whether another one stands for its scan.
  void judge(std::vector<FoundVolume>& volumes) const {
    const std::map<std::string, std::string> better = better_series(all_);
    for (FoundVolume& volume : volumes)
      if (ids_.contains(volume.id)) volume.better = better.contains(volume.id) ? better.at(volume.id) : "";
  }

 private:
  DicomFolder all_;
  std::set<std::string> ids_;
};

/// Adds the volumes of the archives in a folder, one archive for each study, to those of its DICOM files. An archive
/// that cannot be read stands for itself: reading it says why.
void add_archived(const fs::path& folder, const VolumeFormats& formats, FoundVolumes& found) {
  std::vector<std::string> left_out;
  if (!found.left_out.empty()) left_out.push_back(found.left_out);
  std::set<std::string> ids;  // an archive often lies beside what was unpacked from it
  for (const FoundVolume& volume : found.volumes) ids.insert(volume.id);
  std::size_t empty = 0, mixed = 0, doubled = 0;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) left_out.push_back(std::to_string(count) + (count == 1 ? " archive " : " archives ") + what);
  };
  const std::vector<fs::path> archives = archives_below(folder);
  SeriesOfTree series;
  if (!archives.empty() && !found.volumes.empty()) series.add(*find_dicom_series(folder));
  for (const fs::path& archive : archives) {
    if (!is_volume_folder(archive, formats)) continue;
    FoundVolumes more;
    try {
      more = find_volumes(archive, formats);
      series.add(*read_archived_study(archive, formats.limits).found);  // it was unpacked just now
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      std::error_code error;
      const auto bytes = fs::file_size(archive, error);
      found.volumes.push_back(
          {"archive_" + (error || bytes == 0 ? "empty" : file_hash(archive).substr(0, 12)), archive});
      continue;
    }
    empty += more.volumes.empty();
    mixed += !more.volumes.empty() && !more.left_out.empty();
    for (FoundVolume& volume : more.volumes) {
      if (ids.insert(volume.id).second)
        found.volumes.push_back(std::move(volume));
      else
        ++doubled;
    }
  }
  if (!archives.empty()) series.judge(found.volumes);
  if (doubled > 0)
    left_out.push_back(std::to_string(doubled) + (doubled == 1 ? " volume of an archive that is there twice"
                                                               : " volumes of archives that are there twice"));
  add(empty, "without a volume"), add(mixed, "with other files beside volumes");
  found.left_out = joined(left_out, ", ");
}

/// "another reconstruction of the scan of ct_77dddbdf335a (slices 1.00 mm apart, ...)"
std::string reason_of(const FoundVolume& other) { return "another reconstruction of the scan of " + other.better; }

/// Returns the files that hold a volume, of one of an archive the archive; the path itself where they cannot be told.
std::vector<fs::path> held_in(const FoundVolume& volume, const VolumeFormats& formats) {
  if (is_archive_name(volume.path.parent_path())) return {volume.path.parent_path()};
  try {
    std::vector<fs::path> files = files_of_volume(volume.path, formats);
    files.push_back(volume.path);
    return files;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;  // reading reports it
    return {volume.path};
  }
}

[[noreturn]] void throw_no_volume(const fs::path& folder, const std::string& what, const VolumeFormats& formats,
                                  const std::string& but) {
  throw Error(ErrorKind::kNoCase,
              "[" + folder.string() + "] the " + what + " no " + volume_endings(formats) + " file, no DICOM series" +
                  (what.starts_with("archive") ? "" : " and no archive of such") + none_found_text(but));
}

/// Returns what is said of the files of a folder without volumes; none where it has none.
std::vector<std::string> others_in(const fs::path& folder) {
  ForeignFiles foreign = foreign_in(folder);
  foreign.folders = 0;  // they hold no volume either, and {recursive} is an option of predict alone
  if (!foreign.any()) return {};
  return {text_of(foreign)};
}

void sort_volumes(std::vector<FoundVolume>& volumes) {
  std::ranges::sort(volumes, [](const FoundVolume& a, const FoundVolume& b) {
    return std::tie(a.id, a.path) < std::tie(b.id, b.path);
  });
}

}  // namespace

bool holds_volume_files(const fs::path& folder, const VolumeFormats& formats) {
  std::error_code error;
  return std::any_of(fs::directory_iterator(folder, error), {},
                     [&](const auto& entry) { return volume_id(entry.path(), formats).has_value(); });
}

std::string files_in_folders(const fs::path& folder, const VolumeFormats& formats) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> named;
  std::set<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_directory(unknown)) folders.insert(it->path());
  }
  for (const fs::path& one : folders) {
    std::int64_t count = 0;
    std::error_code unread;
    for (fs::directory_iterator it(one, unread), end; !unread && it != end; it.increment(unread))
      count += volume_id(it->path(), formats) ? 1 : 0;
    if (count == 0) continue;
    if (named.size() == kMostNamed) return joined(named, ", ") + ", ...";
    named.push_back(std::to_string(count) + (named.empty() ? count == 1 ? " file in " : " files in " : " in ") +
                    shown_name(one.filename().string()));
  }
  const bool lacks_list = fs::exists(folder / "imagesTr", error) && !fs::exists(folder / "dataset.json", error);
  return joined(named, ", ") + (!named.empty() && lacks_list ? ", without a dataset.json beside them" : "");
}

std::vector<FoundVolume> take_other_reconstructions(std::vector<FoundVolume>& volumes) {
  std::vector<FoundVolume> kept, others;
  for (FoundVolume& volume : volumes) (volume.better.empty() ? kept : others).push_back(std::move(volume));
  volumes = std::move(kept);
  return others;
}

std::vector<std::string> reconstruction_lines(const std::vector<FoundVolume>& others) {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(kMostNamed, others.size()); ++i)
    lines.push_back("left out: " + others[i].id + ", " + reason_of(others[i]));
  if (!others.empty())
    lines.push_back(std::to_string(others.size()) +
                    (others.size() == 1 ? " series is left out as another reconstruction of a scan"
                                        : " series are left out as other reconstructions of scans") +
                    "; {series} all takes every series");
  return lines;
}

nlohmann::ordered_json reconstructions_json(const std::vector<FoundVolume>& others) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FoundVolume& other : others) json.push_back({{"id", other.id}, {"reason", reason_of(other)}});
  return json;
}

VolumeList list_volumes_below(const fs::path& folder, const VolumeFormats& formats, ForeignFiles& foreign) {
  InputTree tree = files_below(folder);
  foreign = {.files = {}, .folder = folder, .links = tree.links, .folders = tree.folders, .is_tree = true};
  FoundVolumes found = find_volumes(folder, formats);
  add_archived(folder, formats, found);
  for (const fs::path& file : tree.files)
    if (const auto id = volume_id(file, formats)) found.volumes.push_back({*id, file});
  std::set<fs::path> held;
  std::erase_if(found.volumes, [&](const FoundVolume& volume) {
    const std::vector<fs::path> files = held_in(volume, formats);
    if (std::ranges::any_of(files, [&](const fs::path& file) { return leads_out(file, folder); })) return true;
    held.insert(files.begin(), files.end());
    return false;
  });
  for (fs::path& file : tree.files)
    if (!held.contains(file)) foreign.files.push_back(std::move(file));
  if (found.volumes.empty()) throw_no_volume(folder, "folder and the folders in it hold", formats, text_of(foreign));
  sort_volumes(found.volumes);
  return {.volumes = std::move(found.volumes), .left_out = std::move(found.left_out), .files = false};
}

ForeignFiles foreign_beside(const std::vector<FoundVolume>& volumes, const fs::path& folder,
                            const VolumeFormats& formats) {
  ForeignFiles foreign = foreign_in(folder);
  std::set<fs::path> held;
  for (const FoundVolume& volume : volumes)
    for (const fs::path& file : held_in(volume, formats)) held.insert(file);
  std::erase_if(foreign.files, [&](const fs::path& file) { return held.contains(file); });
  return foreign;
}

std::string series_beside(const fs::path& folder, const VolumeFormats& formats) {
  const std::size_t count = find_volumes(folder, formats).volumes.size();
  return count == 0 ? "" : std::to_string(count) + " DICOM series beside volume files; name their own folder";
}

VolumeList list_volumes(const fs::path& folder, const VolumeFormats& formats) {
  std::error_code error;
  const bool is_folder = fs::is_directory(folder, error);
  if (!is_folder && !is_volume_folder(folder, formats))
    throw Error(ErrorKind::kInput,
                "[" + folder.string() + "] no such folder; expected a folder of " + volume_endings(formats) + " files");
  VolumeList list;
  if (is_folder)
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (const auto id = volume_id(it->path(), formats)) list.volumes.push_back({*id, it->path()});
  if (error) throw Error(ErrorKind::kInput, "[" + folder.string() + "] cannot be read: " + error.message());
  if (list.volumes.empty()) {
    FoundVolumes found = find_volumes(folder, formats);
    if (is_folder) add_archived(folder, formats, found);
    list = {.volumes = std::move(found.volumes), .left_out = std::move(found.left_out), .files = false};
  }
  if (list.volumes.empty()) {
    std::vector<std::string> but;
    if (!list.left_out.empty()) but.push_back(list.left_out);
    const std::string inside = is_folder ? files_in_folders(folder, formats) : "";
    if (!inside.empty()) but.push_back(inside);
    if (is_folder && but.empty()) but = others_in(folder);
    throw_no_volume(folder, is_folder ? "folder holds" : "archive holds", formats, joined(but, ", "));
  }
  sort_volumes(list.volumes);
  return list;
}

}  // namespace voxshard
