// The golden case of a model of volumes: a generated CT for each of its channels, at the spacing that the model sees,
// and how two label maps are compared.
//
//   write_golden_volumes(run, "golden/input");        // golden_0000.nii.gz, golden_0001.nii.gz
#pragma once

#include <filesystem>

#include "libcore/tensor/dtype.h"
#include "pipelines/model_runs/trained_run.h"
#include "pipelines/tasks/answer_difference.h"

namespace voxshard {

/// Writes a volume per channel: 48 x 40 x 32 voxels, along each axis at least twice the multiple to which extents are
/// rounded, so that the coarsest level has more than one voxel. Errors: kCheckpoint, kOutput.
void write_golden_volumes(const TrainedRun& run, const std::filesystem::path& folder);

/// Returns the SHA-256 of the shape and the labels, each as 32 bits (little endian). Errors: kInput.
std::string label_map_hash(const std::filesystem::path& file);

/// Counts the voxels whose labels differ; all, where the shapes do. Allowed is 1 of 1000 voxels in f32 and 1 of 100 in
/// bf16. Reason: other instructions add the products of a convolution in another order. In f32 that moves a logit by
/// some 1e-6 of its size, and only voxels change whose two best classes lie that near to each other. bf16 keeps 8 bits,
/// so that each layer may round a value to its neighbour, 1/256 away. Errors: kInput.
AnswerDifference label_map_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                      DType precision);

}  // namespace voxshard
