// `voxshard explain --stage passes`: what a cut adds to each instruction on a TPU as the original's compiler lowers it,
// pass by pass, with bytes and time (libcore/device/tpu/halo_passes.h); and the same in all for each kind of pass.
#pragma once

#include <array>
#include <string>

#include "libcore/device/device.h"

namespace voxshard {

/// One kind of pass over a step: of the slowest core.
struct PassSum {
  std::int64_t count = 0;
  double bytes = 0, seconds = 0;
};
std::array<PassSum, std::size(kPassNames)> pass_sums(const StepPrice& price);

/// A line per pass, then a line per kind. Says so where there are none: on a program whose samples are not cut.
std::string passes_text(const Program& program, const StepPrice& price, const std::string& device);

}  // namespace voxshard
