// How far two answers of a model to the same input lie apart, where equal bytes cannot be expected: computed with other
// instructions, sums are rounded otherwise, and voxels whose classes are nearly tied get another label.
//
//   const AnswerDifference apart = task.answer_difference("golden/answer/a.nii.gz", "found/a.nii.gz", DType::kF32);
//   if (!apart.within()) ...
#pragma once

#include <cstdint>
#include <string>

namespace voxshard {

struct AnswerDifference {
  std::int64_t compared = 0, differing = 0;
  std::int64_t allowed = 0;  // of those that differ
  std::string unit = {};     // what is counted: "voxels"

  bool within() const { return differing <= allowed; }
};

}  // namespace voxshard
