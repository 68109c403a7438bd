// Printers of extents and boxes for GoogleTest.
#pragma once

#include <ostream>

#include "libcore/tensor/box.h"

namespace voxshard {

inline void PrintTo(const Dims& dims, std::ostream* out) { *out << to_string(dims); }
inline void PrintTo(const Box& box, std::ostream* out) { *out << to_string(box); }

}  // namespace voxshard
