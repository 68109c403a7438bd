// Which library the fast convolutions call, for reports of the machine.
//
//   kernel_library_version()  ->  "oneDNN 2.7.2"
#pragma once

#include <string>

namespace voxshard {

std::string kernel_library_version();

}  // namespace voxshard
