// Compares two files of classes that one classifier predicted for the same items with other instructions.
//
//   const AnswerDifference apart = classes_difference("golden/answer/found.json", "found.json", DType::kF32);
#pragma once

#include <filesystem>

#include "libcore/tensor/dtype.h"
#include "pipelines/tasks/answer_difference.h"

namespace voxshard {

/// Counts the probabilities that differ by more than 0.001 in f32, 0.05 in bf16; all, where the items or classes
/// differ. None may. Reason: rounding moves a logit by some 1e-6 of its size in f32 and by 1/256 per layer in bf16, and
/// a probability by at most a quarter of that times the spread of the logits. Errors: kInput.
AnswerDifference classes_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                    DType precision);

}  // namespace voxshard
