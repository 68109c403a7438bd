// The images that `predict` is given: one file or address, the files of a folder, the series of a study, the volumes of
// an archive.
//
//   find_images("study.zip", volume_formats(), false, progress)   // study.zip/#series=ct_77dddbdf335a
#pragma once

#include <filesystem>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Returns the paths of the images, sorted; logs what is left out.
///   best_only  of several reconstructions of a scan only the best is taken
/// Errors: kInput when the input is missing or damaged; kNoCase when it holds no image.
std::vector<std::filesystem::path> find_images(const std::filesystem::path& input, const VolumeFormats& formats,
                                               bool best_only, Progress& progress);

}  // namespace voxshard
