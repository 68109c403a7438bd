// A box: begin and extent per axis, in global coordinates. The begin may be negative and the end may lie beyond the
// tensor: the part outside is margin. A box is empty when any extent is 0; all empty boxes of equal rank are alike.
#pragma once

#include <algorithm>
#include <string>

#include "libcore/tensor/shape.h"

namespace voxshard {

struct Box {
  Dims begin;
  Dims extent;

  static Box whole(const Shape& shape) { return {Dims::filled(shape.axes(), 0), shape}; }
  static Box none(int axes) { return {Dims::filled(axes, 0), Dims::filled(axes, 0)}; }

  int axes() const { return begin.axes(); }
  std::int64_t end(int axis) const { return begin[axis] + extent[axis]; }
  bool empty() const {
    return std::any_of(extent.begin(), extent.end(), [](auto e) { return e <= 0; });
  }
  std::int64_t count() const { return empty() ? 0 : element_count(extent); }
  void set(int axis, std::int64_t first, std::int64_t past) {
    begin[axis] = first;
    extent[axis] = std::max<std::int64_t>(0, past - first);
  }

  bool contains(const Box& other) const {
    if (other.empty()) return true;
    for (int a = 0; a < axes(); ++a)
      if (other.begin[a] < begin[a] || other.end(a) > end(a)) return false;
    return true;
  }
  friend bool operator==(const Box& a, const Box& b) {
    if (a.axes() != b.axes()) return false;
    if (a.empty() || b.empty()) return a.empty() == b.empty();
    return a.begin == b.begin && a.extent == b.extent;
  }
};

/// The intersection; Box::none when it is empty.
inline Box intersect(const Box& a, const Box& b) {
  Box c = a;
  for (int x = 0; x < a.axes(); ++x) c.set(x, std::max(a.begin[x], b.begin[x]), std::min(a.end(x), b.end(x)));
  return c.empty() ? Box::none(a.axes()) : c;
}

/// The smallest box that holds both; an empty box adds nothing.
inline Box hull(const Box& a, const Box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box c = a;
  for (int x = 0; x < a.axes(); ++x) c.set(x, std::min(a.begin[x], b.begin[x]), std::max(a.end(x), b.end(x)));
  return c;
}

/// "[0:1, -1:25, 0:40, 0:56, 0:8]".
inline std::string to_string(const Box& box) {
  std::string text = "[";
  for (int a = 0; a < box.axes(); ++a)
    text += (a ? ", " : "") + std::to_string(box.begin[a]) + ":" + std::to_string(box.end(a));
  return text + "]";
}

}  // namespace voxshard
