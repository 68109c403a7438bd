// Largest parts of a whole label map at once, beside which tests hold what is done slab by slab.
//
//   const auto removed = keep_largest_components(labels, {0, 1, 1});   // of the classes 1 and 2: voxels by class
#pragma once

#include <cstdint>
#include <vector>

#include "io/volume/largest_component.h"

namespace voxshard {

inline std::vector<std::int64_t> keep_largest_components(Tensor& labels, const std::vector<char>& of_class,
                                                         std::int64_t most_bytes = 0, double kept_above = 1) {
  LargestComponents largest(of_class, most_bytes, kept_above);
  largest.see(labels.view());
  largest.seen();
  largest.rewrite(labels.view());
  return largest.removed();
}

}  // namespace voxshard
