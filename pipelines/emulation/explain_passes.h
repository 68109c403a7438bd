// `voxshard explain --stage passes`: lists the passes that a cut adds to each instruction on a TPU, as the original's
// compiler lowers it, with bytes and time (libcore/device/tpu/halo_passes.h); and the total for each kind of pass.
#pragma once

#include <array>
#include <string>

#include "libcore/device/device.h"

namespace voxshard {

/// The total of one kind of pass over a step, on the slowest core.
struct PassSum {
  std::int64_t count = 0;
  double bytes = 0, seconds = 0;
};
std::array<PassSum, std::size(kPassNames)> pass_sums(const StepPrice& price);

/// Returns a line per pass, then a line per kind; or a sentence that there are none, for a program whose samples are
/// not cut.
std::string passes_text(const Program& program, const StepPrice& price, const std::string& device);

}  // namespace voxshard
