// Which library the fast convolutions call, and with which instructions: for reports of the machine, and for
// checkpoints, since sums may be added in another order on another processor.
//
//   kernel_library_version()   ->  "oneDNN 2.7.2"
//   kernel_instruction_set()   ->  "avx2"
#pragma once

#include <string>

namespace voxshard {

std::string kernel_library_version();
/// The newest that the library uses on this processor; ONEDNN_MAX_CPU_ISA lowers it.
std::string kernel_instruction_set();

}  // namespace voxshard
