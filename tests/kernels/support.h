// Shared by the kernel tests: tensors with boxes and margins, random values from a printed seed, and running a Kernel
// with exactly the workspace it asked for.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "libcore/base/rng.h"
#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"
#include "libcore/tensor/rows.h"
#include "tests/base/print_boxes.h"

namespace voxshard::test {

/// Prints the seed of a test file once and returns it.
inline std::uint64_t printed_seed(const char* what, std::uint64_t seed) {
  std::printf("seed of %s: %llu\n", what, static_cast<unsigned long long>(seed));
  return seed;
}

/// A view with memory of its own; with a margin the view is the interior of a larger buffer, hence strided.
struct Place {
  Tensor memory;
  TensorView view;
};

inline Place place(DType type, const Box& box, std::int64_t margin = 0) {
  Box outer = box;
  for (int a = 1; a + 1 < box.axes() && margin > 0; ++a) outer.set(a, box.begin[a] - margin, box.end(a) + margin);
  Place p{Tensor(type, outer.extent), {}};
  if (p.memory.count() == 0) {
    p.view = dense_view(p.memory.data(), type, box);
  } else {
    p.view = dense_view(p.memory.data(), type, outer).sub(box);
    if (box.empty()) p.view.box = box;
  }
  return p;
}

/// Fills a view with a function of the global coordinates, so that equal coordinates hold equal values in any view.
template <class Value>
void fill(const TensorView& view, Value value) {
  for_each_row(view.box, [&](Dims at) {
    const std::int64_t first = view.axes() > 0 ? at[at.axes() - 1] : 0;
    const std::int64_t offset = offset_at(view, at);
    for (std::int64_t c = 0; c < row_count(view.box); ++c) {
      if (view.axes() > 0) at[at.axes() - 1] = first + c;
      store(view, offset + c, value(static_cast<const Dims&>(at)));
    }
  });
}

inline std::uint64_t index_of(const Dims& at) {
  std::uint64_t index = 0;
  for (auto i : at) index = index * 1009 + static_cast<std::uint64_t>(i + 100);
  return index;
}

inline void fill_normal(const TensorView& view, std::uint64_t seed) {
  fill(view, [=](const Dims& at) { return rng_normal({.seed = seed, .stream = 1}, index_of(at)); });
}

/// Fills a view with integers in -span .. span.
inline void fill_integers(const TensorView& view, std::uint64_t seed, int span = 3) {
  fill(view, [=](const Dims& at) {
    return static_cast<double>(rng_below({.seed = seed, .stream = 2}, index_of(at), 2 * span + 1)) - span;
  });
}

inline Place random(DType type, const Box& box, std::uint64_t seed, std::int64_t margin = 0) {
  Place p = place(type, box, margin);
  fill_normal(p.view, seed);
  return p;
}

/// Returns the box that `y` reads through the window; spatial axes follow the first axis.
inline Box read_box(const Box& y, const Window& window, std::int64_t channels) {
  Box read = y;
  for (int a = 0; a < window.axes(); ++a) {
    const std::int64_t first = y.begin[a + 1] * window.stride[a] - window.pad_lo[a];
    const std::int64_t last = (y.end(a + 1) - 1) * window.stride[a] - window.pad_lo[a] + window.span(a);
    read.set(a + 1, first, last);
  }
  read.set(y.axes() - 1, 0, channels);
  return read;
}

/// Packs and runs a kernel with exactly workspace_bytes of scratch, filled with ones and guarded behind.
inline void run_kernel(const Kernel& kernel, std::vector<TensorView> inputs, const TensorView& output) {
  Tensor packed(DType::kU8, {kernel.packed_bytes() + 64});
  if (kernel.packed_bytes() > 0) kernel.pack_all(inputs.at(kernel.packed_input()), packed.data());
  std::vector<TensorView> planned = inputs;
  for (TensorView& view : planned) view.data = nullptr;
  TensorView planned_output = output;
  planned_output.data = nullptr;
  const std::int64_t bytes = kernel.workspace_bytes({.inputs = planned, .output = planned_output});
  Tensor workspace(DType::kU8, {bytes + 64});
  std::memset(workspace.data(), 0xff, static_cast<std::size_t>(bytes + 64));
  kernel.run({.inputs = inputs, .output = output, .packed = packed.data(), .workspace = workspace.data()});
  for (std::int64_t i = 0; i < 64; ++i)
    ASSERT_EQ(workspace.as<std::uint8_t>()[bytes + i], 0xff) << "wrote behind its workspace of " << bytes << " bytes";
}

/// Expects |a - b| <= tolerance * (1 + max |a|) everywhere.
inline void expect_close(const TensorView& a, const TensorView& b, double tolerance, const std::string& what) {
  Place wide_a = place(DType::kF64, a.box), wide_b = place(DType::kF64, b.box);
  copy(a, wide_a.view);
  copy(b, wide_b.view);
  const Difference d = compare(wide_a.view, wide_b.view);
  EXPECT_LE(d.max_abs, tolerance * (1 + d.max_magnitude)) << what << " at " << to_string(d.at);
}

/// Returns the tolerance, relative to the largest result, between convolutions of normal operands that add the same
/// `terms` products in different orders and store results in `stored`; for expect_close(). f32: sums of n such products
/// are of size sqrt(n), as are their magnitudes over the largest of many results; four roundings, and the random walk
/// of n more. bf16: one rounding, and half of one where the other result lies across its border.
inline double sum_tolerance(DType stored, std::int64_t terms) {
  return stored == DType::kBF16 ? 0x1.8p-8 : 0x1p-23 * (4 + std::sqrt(static_cast<double>(terms)));
}

/// Expects `part`, a block of the convolution `whole` that was computed alone, to hold the same sums of `terms`
/// products. Their bits may differ: oneDNN adds the products of one element in an order that follows from the size of
/// the block and the processor's caches (seen: 192 channels in f32 on a Zen 4).
inline void expect_same_sums(const TensorView& whole, const TensorView& part, std::int64_t terms,
                             const std::string& what) {
  const Difference d = compare(whole.sub(part.box), part);
  const double largest = compare(whole, whole).max_magnitude;
  EXPECT_LE(d.max_abs, sum_tolerance(part.dtype, terms) * (1 + largest)) << what << " at " << to_string(d.at);
}

inline void expect_same_bits(const TensorView& a, const TensorView& b, const std::string& what) {
  const Difference d = compare(a, b);
  EXPECT_TRUE(d.bit_equal) << what << ": differs by " << d.max_abs << " of " << d.max_magnitude << " at "
                           << to_string(d.at);
}

/// Returns max over elements of |numeric - analytic| / max |analytic|, numeric from central differences of `value` in
/// `x` (f64).
inline double gradient_error(const TensorView& x, const TensorView& gradient, const std::function<double()>& value,
                             double step = 1e-5) {
  double worst = 0, scale = 0;
  for_each_row(x.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(x.box); ++c) {
      double& element = x.as<double>()[offset_at(x, at) + c];
      const double kept = element;
      element = kept + step;
      const double up = value();
      element = kept - step;
      const double down = value();
      element = kept;
      const double analytic = load(gradient, offset_at(gradient, at) + c);
      worst = std::max(worst, std::abs((up - down) / (2 * step) - analytic));
      scale = std::max(scale, std::abs(analytic));
    }
  });
  return worst / (scale > 0 ? scale : 1);
}

/// Returns the sum of a * b over equal boxes.
inline double dot(const TensorView& a, const TensorView& b) {
  double total = 0;
  for_each_row(a.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(a.box); ++c)
      total += load(a, offset_at(a, at) + c) * load(b, offset_at(b, at) + c);
  });
  return total;
}

}  // namespace voxshard::test
