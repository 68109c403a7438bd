// What `voxshard info` tells about volumes and pictures, one by one and in folders, from their headers alone.
//
//   VolumeFile file{path, read_volume_info(path)};
//   report.files.add(to_json(file), to_text(file));
#pragma once

#include "io/image/image_header.h"
#include "io/volume/volume.h"
#include "pipelines/tasks/requests.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {

struct VolumeFile {
  std::filesystem::path path;
  VolumeInfo header;
};

struct PictureFile {
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

/// Reads headers of volumes into `folder`; `failures` gets the files that cannot be used.
void add_volumes(FolderInfo& folder, const std::vector<std::filesystem::path>& files, const VolumeFormats& formats,
                 std::vector<CaseFailure>& failures);

nlohmann::ordered_json to_json(const VolumeFile& file);
nlohmann::ordered_json to_json(const PictureFile& file);
nlohmann::ordered_json to_json(const FolderInfo& folder);
std::string to_text(const VolumeFile& file);
std::string to_text(const PictureFile& file);
std::string to_text(const FolderInfo& folder);

}  // namespace voxshard
