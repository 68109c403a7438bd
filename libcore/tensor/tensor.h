// A view refers to memory that holds a box in global coordinates; a tensor owns dense memory. No arithmetic here.
//
//   Tensor t(DType::kF32, {1, 4, 4, 4, 2});
//   TensorView inner = t.view().sub(box);     // same global coordinates, strided
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "libcore/tensor/box.h"
#include "libcore/tensor/dtype.h"

namespace voxshard {

/// Row-major strides, in elements.
Dims dense_strides(const Dims& extent);

struct TensorView {
  std::byte* data = nullptr;  // the element at box.begin; null while planning
  DType dtype = DType::kF32;
  Box box;       // global coordinates of the elements in memory
  Dims strides;  // in elements; the last axis has stride 1

  const Dims& extent() const { return box.extent; }
  int axes() const { return box.axes(); }
  std::int64_t count() const { return box.count(); }
  std::int64_t bytes() const { return count() * dtype_bytes(dtype); }
  bool is_dense() const;
  /// The view of the box `part` (must lie inside `box`), sharing memory.
  TensorView sub(const Box& part) const;
  /// The same view with spatial axes of extent 1 inserted after N until there are 5 axes: N H W C -> N 1 H W C.
  TensorView lifted() const;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

/// A dense view of `box` at `data`.
TensorView dense_view(void* data, DType dtype, const Box& box);

class Tensor {
 public:
  Tensor() = default;
  /// Makes a tensor that is zero-filled and 64-byte aligned.
  Tensor(DType dtype, Shape shape);
  /// The same without values: the system gives large memory page by page, as elements are written.
  static Tensor unwritten(DType dtype, Shape shape);
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return element_count(shape_); }
  std::int64_t bytes() const { return count() * dtype_bytes(dtype_); }
  bool empty() const { return data_ == nullptr; }
  std::byte* data() const { return data_.get(); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }
  TensorView view() const;
  /// Gives the pages that lie wholly in the bytes [begin, end) back to the system: what was there is lost, and the
  /// tensor stays as large as it is. For a tensor that is read once from its front to its end while another grows.
  void release(std::int64_t begin, std::int64_t end);

 private:
  Tensor(DType dtype, Shape shape, bool filled);
  struct Free {
    void operator()(std::byte* p) const;
  };
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::unique_ptr<std::byte[], Free> data_;
};

/// Reads or writes the element at `offset` elements from view.data as a double; store() rounds to the view's type.
double load(const TensorView& view, std::int64_t offset);
void store(const TensorView& view, std::int64_t offset, double value);

/// Copies the elements of dst.box from src (which must contain it); types may differ (converted through double).
void copy(const TensorView& src, const TensorView& dst);
void fill_zero(const TensorView& dst);
void fill(const TensorView& dst, double value);

/// The difference between two views of equal boxes.
struct Difference {
  bool bit_equal = true;
  double max_abs = 0;        // max |a - b|; infinite when one side is not finite and the other is
  double max_magnitude = 0;  // max |a|
  double sum_square = 0;     // sum (a - b)^2
  double sum_square_a = 0;
  Dims at;  // global coordinates of max_abs
};
Difference compare(const TensorView& a, const TensorView& b);

}  // namespace voxshard
