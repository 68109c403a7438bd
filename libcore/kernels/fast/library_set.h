// Limits the instruction set of oneDNN to the one in force (base/cpu.h). kernels/conv.h reports the set that results.
#pragma once

namespace voxshard::fast {

/// Passes the limit to oneDNN, once; must precede every other call that lets it inspect the processor. Errors: those of
/// instruction_set().
void limit_library();

}  // namespace voxshard::fast
