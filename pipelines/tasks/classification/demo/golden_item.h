// The golden case of a classifier: a generated image, CT or video of the size that the model sees, and how two files
// of classes are compared.
//
//   write_golden_item(preparation, "golden/input");        // golden.png, golden.nii.gz or golden.mp4
#pragma once

#include <filesystem>

#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Writes an item of the size of samples; where items keep their own size, 64 x 64 pixels, 32 x 40 x 48 voxels, or
/// frames of 64 x 64. A video has two clips. Errors: kOutput.
void write_golden_item(const ClassPreparation& preparation, const std::filesystem::path& folder);

}  // namespace voxshard
