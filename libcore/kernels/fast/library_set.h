// Which instruction set oneDNN takes: the one in force (base/cpu.h) or less. What it then is, kernels/conv.h says.
#pragma once

namespace voxshard::fast {

/// Tells oneDNN the limit, once; comes before every other call that lets it look at the processor. Errors: those of
/// instruction_set().
void limit_library();

}  // namespace voxshard::fast
