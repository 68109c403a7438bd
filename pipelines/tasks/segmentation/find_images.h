// The images that `predict` is given: one file or address, the files of a folder, the series of a study, the volumes of
// an archive.
//
//   find_images("study.zip", volume_formats(), true, progress).images   // {study.zip/#series=ct_77dddbdf335a}
#pragma once

#include <filesystem>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

struct FoundImages {
  std::vector<std::filesystem::path> images;  // sorted
  std::vector<FoundVolume> others;            // other reconstructions of their scans, which are left out
};

/// Returns the paths of the images; logs what is left out.
///   best_only  of several reconstructions of a scan only the one that stands for it is taken (io/dicom/same_scan.h)
/// Errors: kInput when the input is missing or damaged; kNoCase when it holds no image.
FoundImages find_images(const std::filesystem::path& input, const VolumeFormats& formats, bool best_only,
                        Progress& progress);

}  // namespace voxshard
