#include "libcore/kernels/fast/library_version.h"

#include <oneapi/dnnl/dnnl.h>

namespace voxshard {

std::string kernel_library_version() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
}

}  // namespace voxshard
