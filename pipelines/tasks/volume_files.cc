#include "pipelines/tasks/volume_files.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <tuple>

#include "io/files/content_hash.h"
#include "io/volume/archive.h"
#include "libcore/base/text.h"

namespace voxshard {

namespace fs = std::filesystem;

std::optional<std::string> volume_id(const fs::path& path, const VolumeFormats& formats) {
  const auto id = volume_stem(path, formats);
  return !id || id->empty() || id->starts_with(".") ? std::nullopt : id;
}

namespace {

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
  for (const fs::path& archive : archives_below(folder)) {
    if (!is_volume_folder(archive, formats)) continue;
    FoundVolumes more;
    try {
      more = find_volumes(archive, formats);
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
  if (doubled > 0)
    left_out.push_back(std::to_string(doubled) + (doubled == 1 ? " volume of an archive that is there twice"
                                                               : " volumes of archives that are there twice"));
  add(empty, "without a volume"), add(mixed, "with other files beside volumes");
  found.left_out = joined(left_out, ", ");
}

/// "another reconstruction of the scan of ct_77dddbdf335a (slices 1.00 mm apart, ...)"
std::string reason_of(const FoundVolume& other) { return "another reconstruction of the scan of " + other.better; }

}  // namespace

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
  if (list.volumes.empty())
    throw Error(ErrorKind::kNoCase, "[" + folder.string() + "] the " + (is_folder ? "folder" : "archive") +
                                        " holds no " + volume_endings(formats) + " file, no DICOM series" +
                                        (is_folder ? " and no archive of such" : "") +
                                        (list.left_out.empty() ? "" : " (but " + list.left_out + ")"));
  std::ranges::sort(list.volumes, [](const FoundVolume& a, const FoundVolume& b) {
    return std::tie(a.id, a.path) < std::tie(b.id, b.path);
  });
  return list;
}

}  // namespace voxshard
