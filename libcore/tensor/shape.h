// Extents per axis. Axes are in tensor order with channels last: N D H W C, N H W C, or any number up to 6 for weights.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "libcore/base/error.h"

namespace voxshard {

inline constexpr int kMaxAxes = 6;

/// A short list of integers, one per axis; used for extents, begins, strides and kernel sizes.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    for (auto v : values) push_back(v);
  }
  static Dims filled(int axes, std::int64_t value) {
    Dims d;
    for (int a = 0; a < axes; ++a) d.push_back(value);
    return d;
  }

  int axes() const { return axes_; }
  bool empty() const { return axes_ == 0; }
  std::int64_t operator[](int axis) const { return values_[axis]; }
  std::int64_t& operator[](int axis) { return values_[axis]; }
  std::int64_t back() const { return values_[axes_ - 1]; }
  void push_back(std::int64_t v) {
    ensure(axes_ < kMaxAxes, "a shape has at most 6 axes");
    values_[axes_++] = v;
  }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + axes_; }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.axes_ != b.axes_) return false;
    for (int i = 0; i < a.axes_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }
  friend bool operator<(const Dims& a, const Dims& b) {
    if (a.axes_ != b.axes_) return a.axes_ < b.axes_;
    for (int i = 0; i < a.axes_; ++i)
      if (a.values_[i] != b.values_[i]) return a.values_[i] < b.values_[i];
    return false;
  }

 private:
  std::int64_t values_[kMaxAxes] = {};
  int axes_ = 0;
};

using Shape = Dims;

/// The number of elements; 1 without axes.
inline std::int64_t element_count(const Shape& shape) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  return n;
}

/// "1x48x40x56x1"; "scalar" without axes.
inline std::string to_string(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (int a = 0; a < dims.axes(); ++a) text += (a ? "x" : "") + std::to_string(dims[a]);
  return text;
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -((-a) / b); }
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace voxshard
