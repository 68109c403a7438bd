#include "libcore/tensor/tensor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "libcore/tensor/rows.h"

namespace voxshard {
Dims dense_strides(const Dims& extent) {
  Dims strides = Dims::filled(extent.axes(), 1);
  for (int a = extent.axes() - 2; a >= 0; --a) strides[a] = strides[a + 1] * extent[a + 1];
  return strides;
}

bool TensorView::is_dense() const {
  std::int64_t expected = 1;
  for (int a = axes() - 1; a >= 0; --a) {
    if (box.extent[a] != 1 && strides[a] != expected) return false;
    expected *= box.extent[a];
  }
  return true;
}

TensorView TensorView::sub(const Box& part) const {
  if (part.empty()) return {data, dtype, Box::none(part.axes()), strides};
  ensure(box.contains(part), "a sub-view lies inside its view");
  TensorView v{data, dtype, part, strides};
  if (data != nullptr) v.data += offset_at(*this, part.begin) * dtype_bytes(dtype);
  return v;
}

TensorView TensorView::lifted() const {
  if (axes() >= 5 || axes() < 2) return *this;
  TensorView v{data, dtype, {}, {}};
  for (int a = 0; a < axes(); ++a) {
    if (a == 1) {
      for (int fill = axes(); fill < 5; ++fill) {
        v.box.begin.push_back(0);
        v.box.extent.push_back(1);
        v.strides.push_back(strides[0]);
      }
    }
    v.box.begin.push_back(box.begin[a]);
    v.box.extent.push_back(box.extent[a]);
    v.strides.push_back(strides[a]);
  }
  return v;
}

TensorView dense_view(void* data, DType dtype, const Box& box) {
  return {static_cast<std::byte*>(data), dtype, box, dense_strides(box.extent)};
}

namespace {

std::uintptr_t page_bytes() {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Asks the system for its large pages where the memory is large: one of 2 MiB costs far less than 512 of 4 KiB, each
/// of which is a fault of its own when it is first written.
void prefer_large_pages(void* memory, std::size_t bytes) {
  constexpr std::size_t kWorth = std::size_t{4} << 20;
  if (bytes < kWorth) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page_bytes() - 1) / page_bytes() * page_bytes();
  const std::uintptr_t past = (begin + bytes) / page_bytes() * page_bytes();
  madvise(reinterpret_cast<void*>(first), past - first, MADV_HUGEPAGE);
}

}  // namespace

void Tensor::Free::operator()(std::byte* p) const { std::free(p); }

Tensor::Tensor(DType dtype, Shape shape) : Tensor(dtype, shape, true) {}

Tensor Tensor::unwritten(DType dtype, Shape shape) { return Tensor(dtype, shape, false); }

Tensor::Tensor(DType dtype, Shape shape, bool filled) : dtype_(dtype), shape_(shape) {
  const auto size = static_cast<std::size_t>((bytes() + 63) / 64 * 64 + 64);
  void* p = std::aligned_alloc(64, size);
  if (p == nullptr) throw std::bad_alloc();
  prefer_large_pages(p, size);
  if (filled) std::memset(p, 0, size);
  data_.reset(static_cast<std::byte*>(p));
}

Tensor::Tensor(const Tensor& other) { *this = other; }

Tensor& Tensor::operator=(const Tensor& other) {
  if (this == &other) return *this;
  if (other.empty()) return *this = Tensor();
  Tensor fresh = unwritten(other.dtype_, other.shape_);
  std::memcpy(fresh.data(), other.data(), static_cast<std::size_t>(other.bytes()));
  return *this = std::move(fresh);
}

void Tensor::release(std::int64_t begin, std::int64_t end) {
  const std::uintptr_t page = page_bytes();
  const auto base = reinterpret_cast<std::uintptr_t>(data_.get());
  const std::uintptr_t first = (base + static_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const std::uintptr_t past = (base + static_cast<std::uintptr_t>(std::min(end, bytes()))) / page * page;
  if (past > first) madvise(reinterpret_cast<void*>(first), past - first, MADV_DONTNEED);
}

TensorView Tensor::view() const { return dense_view(data_.get(), dtype_, Box::whole(shape_)); }

double load(const TensorView& view, std::int64_t offset) {
  switch (view.dtype) {
    case DType::kF32:
      return static_cast<double>(view.as<float>()[offset]);
    case DType::kBF16:
      return static_cast<double>(static_cast<float>(view.as<BF16>()[offset]));
    case DType::kF64:
      return view.as<double>()[offset];
    case DType::kI32:
      return view.as<std::int32_t>()[offset];
    case DType::kU8:
      return view.as<std::uint8_t>()[offset];
  }
  return 0;
}

void store(const TensorView& view, std::int64_t offset, double value) {
  switch (view.dtype) {
    case DType::kF32:
      view.as<float>()[offset] = static_cast<float>(value);
      return;
    case DType::kBF16:
      view.as<BF16>()[offset] = BF16(static_cast<float>(value));
      return;
    case DType::kF64:
      view.as<double>()[offset] = value;
      return;
    case DType::kI32:
      view.as<std::int32_t>()[offset] = static_cast<std::int32_t>(value);
      return;
    case DType::kU8:
      view.as<std::uint8_t>()[offset] = static_cast<std::uint8_t>(value);
      return;
  }
}

void copy(const TensorView& src, const TensorView& dst) {
  if (dst.box.empty()) return;
  ensure(src.box.contains(dst.box), "a copy reads inside its source");
  if (dst.axes() == 0) return store(dst, 0, load(src, 0));
  const std::int64_t row = row_count(dst.box);
  for_each_row(dst.box, [&](const Dims& index) {
    const std::int64_t from = offset_at(src, index), to = offset_at(dst, index);
    if (src.dtype == dst.dtype) {
      const std::int64_t size = dtype_bytes(src.dtype);
      std::memcpy(dst.data + to * size, src.data + from * size, static_cast<std::size_t>(row * size));
    } else {
      for (std::int64_t i = 0; i < row; ++i) store(dst, to + i, load(src, from + i));
    }
  });
}

void fill_zero(const TensorView& dst) {
  const std::int64_t size = dtype_bytes(dst.dtype);
  for_each_row(dst.box, [&](const Dims& index) {
    std::memset(dst.data + offset_at(dst, index) * size, 0, static_cast<std::size_t>(row_count(dst.box) * size));
  });
}

void fill(const TensorView& dst, double value) {
  if (dst.axes() == 0) return store(dst, 0, value);
  for_each_row(dst.box, [&](const Dims& index) {
    const std::int64_t at = offset_at(dst, index);
    for (std::int64_t i = 0; i < dst.extent().back(); ++i) store(dst, at + i * dst.strides[dst.axes() - 1], value);
  });
}

Difference compare(const TensorView& a, const TensorView& b) {
  ensure(a.box == b.box && a.dtype == b.dtype, "compared views have equal boxes and types");
  Difference d;
  auto one = [&](std::int64_t i, std::int64_t j, const Dims& index, std::int64_t k) {
    const double x = load(a, i), y = load(b, j);
    d.max_magnitude = std::max(d.max_magnitude, std::abs(x));
    d.sum_square_a += x * x;
    if (x == y || (std::isnan(x) && std::isnan(y))) return;
    d.bit_equal = false;
    const double gap = std::isfinite(x) && std::isfinite(y) ? std::abs(x - y) : std::numeric_limits<double>::infinity();
    d.sum_square += gap * gap;
    if (gap > d.max_abs) {
      d.max_abs = gap;
      d.at = index;
      if (d.at.axes() > 0) d.at[d.at.axes() - 1] += k;
    }
  };
  for_each_row(a.box, [&](const Dims& index) {
    const std::int64_t i = offset_at(a, index), j = offset_at(b, index);
    for (std::int64_t k = 0; k < row_count(a.box); ++k) one(i + k, j + k, index, k);
  });
  return d;
}

}  // namespace voxshard
