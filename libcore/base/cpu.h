// Facts of the processor. What the kernels' library makes of it (its instruction set can be limited) is in kernels/conv.h.
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// AVX2 and FMA, which the kernels are compiled for: without them the process would die of an illegal instruction.
bool cpu_runs_kernels();

/// "AMD EPYC 7763"; empty when unknown.
std::string cpu_name();

/// Those that the kernels can use, as Linux names them.
std::vector<std::string> cpu_features();

}  // namespace voxshard
