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

/// Returns the volumes of a folder, sorted by id: its files or, when none is named like a volume, the DICOM series in
/// it and the folders in it. Errors: kInput when the folder is missing; kNoCase when it holds no volume.
///   left_out  set to what lies beside the series, "1 localizer"; may be null
std::map<std::string, std::filesystem::path> volume_files(const std::filesystem::path& folder,
                                                          const VolumeFormats& formats = volume_formats(),
                                                          std::string* left_out = nullptr);

/// Returns "2 DICOM series beside volume files; name their own folder" where a folder holds both, of which only the
/// files are taken; else empty. Errors: kInput.
std::string series_beside(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());

/// Returns the images of a folder by case: the channel suffix of nnU-Net ("_0000") is removed when every file has it.
std::map<std::string, std::filesystem::path> image_files(const std::filesystem::path& folder,
                                                         const VolumeFormats& formats = volume_formats());

}  // namespace voxshard
