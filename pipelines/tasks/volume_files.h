// The volumes of a folder by case id, for commands that work on plain folders.
//
//   for (auto& [id, path] : volume_files("predictions")) ...     // "liver_03" -> predictions/liver_03.nii.gz
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

/// Returns the name of a volume file without its ending; none for other files, "._*" and temporary files.
std::optional<std::string> volume_id(const std::filesystem::path& path,
                                     const VolumeFormats& formats = volume_formats());

/// Returns the volumes of a folder, sorted by id. Errors: kInput when the folder is missing; kNoCase when it holds no
/// volume.
std::map<std::string, std::filesystem::path> volume_files(const std::filesystem::path& folder,
                                                          const VolumeFormats& formats = volume_formats());

/// Returns the images of a folder by case: the channel suffix of nnU-Net ("_0000") is removed when every file has it.
std::map<std::string, std::filesystem::path> image_files(const std::filesystem::path& folder,
                                                         const VolumeFormats& formats = volume_formats());

}  // namespace voxshard
