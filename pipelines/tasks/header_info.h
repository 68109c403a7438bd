// What `voxshard info` tells about volumes and images, one by one and in folders, from their headers, and read
// through.
//
//   VolumeFile file{path, read_volume_info(path)};
//   report.files.add(to_json(file), to_text(file));
#pragma once

#include "io/image/image_header.h"
#include "io/volume/volume.h"
#include "pipelines/engine/requests.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {

struct VolumeFile {
  std::filesystem::path path;
  VolumeInfo header;
};

struct ImageFile {
  std::filesystem::path path;
  ImageHeader header;
};

/// The spread of the volumes of a folder, and its videos.
struct FolderInfo {
  std::filesystem::path path;
  std::vector<VolumeFile> images;  // by name
  std::vector<VideoInfo> videos;   // by name
  nlohmann::ordered_json dataset;  // what a task knows of the folder; null: nothing
  std::string dataset_text;
};

/// What is known of one volume: its header and, unless options.quick, whether every byte behind it can be read.
/// A volume that cannot be used is in `failures` too. Errors: kInput without a usable header.
VolumeFile read_volume_file(const std::filesystem::path& path, const InfoOptions& options,
                            std::vector<CaseFailure>& failures);

/// The header of an image, which is decoded too unless options.quick. Errors: kInput.
ImageFile read_image_file(const std::filesystem::path& path, const InfoOptions& options);

/// Reads volumes into `folder`, some at once; `failures` gets the files that cannot be used.
void add_volumes(FolderInfo& folder, const std::vector<std::filesystem::path>& files, const InfoOptions& options,
                 std::vector<CaseFailure>& failures);

nlohmann::ordered_json to_json(const VolumeFile& file);
nlohmann::ordered_json to_json(const ImageFile& file);
nlohmann::ordered_json to_json(const FolderInfo& folder);
std::string to_text(const VolumeFile& file);
std::string to_text(const ImageFile& file);
std::string to_text(const FolderInfo& folder);

}  // namespace voxshard
