// A convolution to test: its window, sizes and operands.
#pragma once

#include "libcore/kernels/conv.h"
#include "tests/kernels/direct_conv.h"
#include "tests/kernels/support.h"

namespace voxshard::test {

inline const std::uint64_t kSeed = printed_seed("kernels/conv", 20240611);

struct Case {
  std::string name;
  Window window;
  Dims spatial;  // of x, whole
  std::int64_t ci, co, batch = 1;

  int axes() const { return window.axes(); }
  std::int64_t forward_terms() const { return window.volume() * ci; }
  std::int64_t input_grad_terms() const { return window.volume() * co; }
  Box x_box() const { return box(spatial, ci); }
  Box y_box() const {
    Dims out;
    for (int a = 0; a < axes(); ++a) out.push_back(window.output_extent(a, spatial[a]));
    return box(out, co);
  }
  Shape weights() const {
    Shape w = window.kernel;
    w.push_back(ci);
    w.push_back(co);
    return w;
  }

 private:
  Box box(const Dims& extent, std::int64_t channels) const {
    Shape shape = {batch};
    for (auto e : extent) shape.push_back(e);
    shape.push_back(channels);
    return Box::whole(shape);
  }
};

inline Window window_of(int axes, std::int64_t kernel, std::int64_t stride, std::int64_t dilation, std::int64_t lo,
                        std::int64_t hi) {
  return {.kernel = Dims::filled(axes, kernel),
          .stride = Dims::filled(axes, stride),
          .dilation = Dims::filled(axes, dilation),
          .pad_lo = Dims::filled(axes, lo),
          .pad_hi = Dims::filled(axes, hi)};
}

/// Returns a case that is named after all of its numbers.
inline Case case_of(const Window& w, const Dims& spatial, std::int64_t ci, std::int64_t co, std::int64_t batch) {
  return {"k" + to_string(w.kernel) + " s" + to_string(w.stride) + " d" + to_string(w.dilation) + " lo" +
              to_string(w.pad_lo) + " hi" + to_string(w.pad_hi) + " x" + to_string(spatial) + " " + std::to_string(ci) +
              "->" + std::to_string(co) + " n" + std::to_string(batch),
          w,
          spatial,
          ci,
          co,
          batch};
}

struct Operands {
  Place x, w, bias, d_y;
  explicit Operands(const Case& c, DType type, std::int64_t margin, bool integers) {
    x = place(type, c.x_box(), margin);
    w = place(type, Box::whole(c.weights()));
    bias = place(DType::kF32, Box::whole({c.co}));
    d_y = place(type, c.y_box(), margin);
    std::uint64_t stream = kSeed;
    for (const Place* p : {&x, &w, &bias, &d_y})
      integers ? fill_integers(p->view, ++stream) : fill_normal(p->view, ++stream);
  }
};

using MakeKernel = std::unique_ptr<Kernel> (*)(KernelSet, const Window&, const Shape&, DType);
inline std::unique_ptr<Kernel> forward(KernelSet set, const Window& window, const Shape& weights, DType type) {
  return make_conv_forward(set, window, weights, type);
}
inline std::unique_ptr<Kernel> input_grad(KernelSet set, const Window& window, const Shape& weights, DType type) {
  return make_conv_input_grad(set, window, weights, type);
}

}  // namespace voxshard::test
