#include "libcore/kernels/amx/processor.h"

#include "libcore/base/cpu.h"

namespace voxshard::amx {

bool available() { return instruction_set() >= InstructionSet::kAmx; }

}  // namespace voxshard::amx
