#include "pipelines/tasks/volume_files.h"

#include <algorithm>
#include <system_error>

namespace voxshard {

namespace fs = std::filesystem;

std::optional<std::string> volume_id(const fs::path& path, const VolumeFormats& formats) {
  const auto id = volume_stem(path, formats);
  return !id || id->empty() || id->starts_with(".") ? std::nullopt : id;
}

std::string series_beside(const fs::path& folder, const VolumeFormats& formats) {
  const std::size_t count = find_volumes(folder, formats).volumes.size();
  return count == 0 ? "" : std::to_string(count) + " DICOM series beside volume files; name their own folder";
}

std::map<std::string, fs::path> volume_files(const fs::path& folder, const VolumeFormats& formats,
                                             std::string* left_out) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(ErrorKind::kInput,
                "[" + folder.string() + "] no such folder; expected a folder of " + volume_endings(formats) + " files");
  std::map<std::string, fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto id = volume_id(it->path(), formats)) files[*id] = it->path();
  if (error) throw Error(ErrorKind::kInput, "[" + folder.string() + "] cannot be read: " + error.message());
  if (files.empty()) {
    FoundVolumes found = find_volumes(folder, formats);
    for (FoundVolume& volume : found.volumes) files[volume.id] = std::move(volume.path);
    if (left_out != nullptr) *left_out = std::move(found.left_out);
  } else if (left_out != nullptr) {
    *left_out = series_beside(folder, formats);
  }
  if (files.empty())
    throw Error(ErrorKind::kNoCase, "[" + folder.string() + "] the folder holds no " + volume_endings(formats) +
                                        " file and no DICOM series");
  return files;
}

std::map<std::string, fs::path> image_files(const fs::path& folder, const VolumeFormats& formats) {
  constexpr std::string_view kChannel = "_0000";
  auto files = volume_files(folder, formats);
  if (!std::all_of(files.begin(), files.end(), [&](const auto& f) { return f.first.ends_with(kChannel); }))
    return files;
  std::map<std::string, fs::path> images;
  for (const auto& [id, path] : files) images[id.substr(0, id.size() - kChannel.size())] = path;
  return images;
}

}  // namespace voxshard
