// The class probabilities of whole volumes, summed over the models that predict them, and the labels that follow.
//
//   SpilledFloats sums;
//   add_probabilities(first, image, multiple, 1, sums);       // in coordinate()
//   add_probabilities(second, image, multiple, 1, sums);
//   Tensor labels = likeliest_labels(sums);                   // of the average, summed in the order of the calls
#pragma once

#include <filesystem>

#include "libcore/runtime/spilled_floats.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"

namespace voxshard {

/// Adds `times` times the class probabilities of every voxel, the softmax of the logits of a model, to `sums`. Only the
/// calling process, the first process, reads the volume and holds the sums; from cores of other processes come
/// probabilities as f32.
///   sums     (D, H, W, C); empty ones are made when the image is not read any more
///   scratch  the folder of a file for empty ones; empty: they are made in memory
/// Of equal logits, and of those that f32 cannot tell apart, the probability of the class that predict_volume() would
/// choose is the largest, if need be by one unit in the last place.
/// Errors: as run_cores(); as ScratchFile::with_room().   Threads: the cores of this process are added at once, each by
/// one thread.
void add_probabilities(Session& session, const VolumeVoxels& image, std::int64_t multiple, std::int64_t times,
                       SpilledFloats& sums, const std::filesystem::path& scratch = {});

/// Returns the work of every process for add_probabilities().
CoreWork probability_work();

/// Returns the class with the largest sum of each voxel; ties go to the lower class.
///   returns  (D, H, W) i32
Tensor likeliest_labels(const SpilledFloats& sums);

/// Converts the logits of a voxel to probabilities, in place, and to f32.
///   logits  of every class, at least one
void to_probabilities(std::span<double> logits, std::span<float> probabilities);

}  // namespace voxshard
