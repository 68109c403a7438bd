#include "pipelines/tasks/volume_files.h"

#include <algorithm>
#include <system_error>
#include <tuple>

namespace voxshard {

namespace fs = std::filesystem;

std::optional<std::string> volume_id(const fs::path& path, const VolumeFormats& formats) {
  const auto id = volume_stem(path, formats);
  return !id || id->empty() || id->starts_with(".") ? std::nullopt : id;
}

namespace {

/// Returns ", but 2 archives; give one of them" for a folder that holds some; else empty.
std::string archives_in(const fs::path& folder, const VolumeFormats& formats) {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    count += !it->is_directory(unknown) && is_volume_folder(it->path(), formats);
  }
  if (count == 0) return "";
  return ", but " + std::to_string(count) + (count == 1 ? " archive; give it" : " archives; give one of them");
}

}  // namespace

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
    list = {.volumes = std::move(found.volumes), .left_out = std::move(found.left_out), .files = false};
  }
  if (list.volumes.empty())
    throw Error(ErrorKind::kNoCase, "[" + folder.string() + "] the " + (is_folder ? "folder" : "archive") +
                                        " holds no " + volume_endings(formats) + " file and no DICOM series" +
                                        archives_in(folder, formats));
  std::ranges::sort(list.volumes, [](const FoundVolume& a, const FoundVolume& b) {
    return std::tie(a.id, a.path) < std::tie(b.id, b.path);
  });
  return list;
}

}  // namespace voxshard
