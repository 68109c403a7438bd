// The images that `predict` is given: one file or address, the files of a folder, the series of a study, the volumes of
// an archive.
//
//   find_images("study.zip", volume_formats(), {}, progress).images   // study.zip/#series=ct_77dddbdf335a
#pragma once

#include <filesystem>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/foreign_files.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

struct ImageSearch {
  bool best_only = true;  // of several reconstructions of a scan only the one that stands for it (io/dicom/same_scan.h)
  bool recursive = false;  // of a folder everything in it and in the folders in it (list_volumes_below)
};

struct FoundImageFiles {
  std::vector<std::filesystem::path> images = {};  // sorted
  std::vector<FoundVolume> others = {};            // other reconstructions of their scans, which are left out
  ForeignFiles foreign = {};                       // of a folder of files
};

/// Returns the paths of the images; logs series and volumes that are left out. Errors: kInput when the input is missing
/// or damaged; kNoCase when it holds no image.
FoundImageFiles find_images(const std::filesystem::path& input, const VolumeFormats& formats, const ImageSearch& search,
                            Progress& progress);

}  // namespace voxshard
