// Command lines of `voxshard verify` drawn from a seed: every kind of model, both precisions, odd sizes, uneven grids
// of 1 to 16 cores, 4 to 8 base filters, batches of 1 to 4.
//
//   random_verify(7, 0)   ->   "verify --model unet3d --size 13x9x22 --batch 2 --precision bf16 --partition 1x3x1x2x1
//   ..."
#pragma once

#include <cstdint>
#include <string>

namespace voxshard {

/// Returns case `index` of a seed; models and precisions take turns, so that some ten cases in a row have all of them.
std::string random_verify(std::uint64_t seed, int index);

}  // namespace voxshard
