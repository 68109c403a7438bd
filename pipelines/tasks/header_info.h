// The report of `voxshard info` about volumes and images, single files and folders, from their headers and, on request,
// from reading them completely.
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
  std::vector<std::string> files = {};  // that hold it
  std::string better = {};              // as in FoundVolume
};

struct ImageFile {
  std::filesystem::path path;
  ImageHeader header;
};

/// The volumes of a folder, for a summary of their properties, and its videos.
struct FolderInfo {
  std::filesystem::path path;
  std::vector<VolumeFile> images;  // by name
  std::vector<VideoInfo> videos;   // by name
  nlohmann::ordered_json dataset;  // a task's report on the folder; null: none
  std::string dataset_text;
  std::string left_out;  // "1 localizer": DICOM files that are no part of a volume; may be empty
};

/// Reads the header of a volume and, unless options.quick, checks that all of its data can be read. A volume that
/// cannot be used is also added to `failures`. Errors: kInput without a usable header.
VolumeFile read_volume_file(const std::filesystem::path& path, const InfoOptions& options,
                            std::vector<CaseFailure>& failures);

/// Reads the header of an image and, unless options.quick, decodes the image. Errors: kInput.
ImageFile read_image_file(const std::filesystem::path& path, const InfoOptions& options);

/// Reads volumes into `folder`, several at once; files that cannot be used are added to `failures`.
void add_volumes(FolderInfo& folder, const std::vector<std::filesystem::path>& files, const InfoOptions& options,
                 std::vector<CaseFailure>& failures);

nlohmann::ordered_json to_json(const VolumeFile& file);
nlohmann::ordered_json to_json(const ImageFile& file);
nlohmann::ordered_json to_json(const FolderInfo& folder);
std::string to_text(const VolumeFile& file);
std::string to_text(const ImageFile& file);
std::string to_text(const FolderInfo& folder);

}  // namespace voxshard
