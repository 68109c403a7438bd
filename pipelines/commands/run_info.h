// `voxshard info`: what the headers of files and folders say. No voxel is read; the frames of videos are counted by
// decoding them.
//
//   InfoReport r = run_info({"liver_03.nii.gz", "Dataset001", "clip.mp4"}, {.threads = 2});
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/volume/volume.h"
#include "pipelines/runs/report.h"
#include "pipelines/tasks/detection/detection_info.h"
#include "pipelines/tasks/detection/video_info.h"

namespace voxshard {

struct FileInfo {
  std::filesystem::path path;
  VolumeInfo header;
};

/// The spread of a data set, or of a folder without dataset.json (then `dataset` is empty).
struct FolderInfo {
  std::filesystem::path path;
  std::optional<Dataset> dataset;
  std::vector<FileInfo> images;  // by name
  std::vector<VideoInfo> videos;  // by name
};

struct InfoReport {
  std::vector<FileInfo> files;
  std::vector<VideoInfo> videos;
  std::vector<PictureInfo> pictures;
  std::vector<DetectionSetInfo> detection_sets;  // files and folders of annotations; their pictures' headers are checked
  std::vector<FolderInfo> folders;
  std::vector<CaseFailure> failures;  // files of folders that cannot be used
};

/// Errors: kInput when a path is missing or a single given file cannot be read; kNoCase for an empty folder.
InfoReport run_info(const std::vector<std::filesystem::path>& paths, const VideoInfoOptions& options = {},
                    const VolumeFormats& formats = volume_formats());
nlohmann::ordered_json to_json(const InfoReport& report);

}  // namespace voxshard
