#include "libcore/device/device.h"

#include <algorithm>

namespace voxshard {

double Price::seconds() const { return std::max({matrix_s, vector_s, memory_s, link_s}) + pass_s + overhead_s; }

Price& Price::operator+=(const Price& part) {
  matrix_s += part.matrix_s;
  vector_s += part.vector_s;
  memory_s += part.memory_s;
  link_s += part.link_s;
  pass_s += part.pass_s;
  overhead_s += part.overhead_s;
  return *this;
}

}  // namespace voxshard
