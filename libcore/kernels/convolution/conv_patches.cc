// Convolutions with kernel == stride (up-convolutions) in bf16 as one product of AMX tiles per slab: each window is a
// row of K * C values, gathered before the product or scattered after it.
#include <algorithm>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_ranges.h"
#include "libcore/kernels/pointwise.h"

namespace voxshard::fast {
namespace {

constexpr std::int64_t kRowBytes = 8 << 20;  // of a slab

/// The rows of a box of windows (N, D, H, W, *), taken in slabs of one sample: some planes, or some rows of a plane.
class PatchRows {
 public:
  explicit PatchRows(const ConvUse& use) : window_(use.window.lifted()) {
    const Shape w = lifted_weights(use.weights);
    weights_ = {1, 1, 1, window_.volume() * w[3], w[4]};
  }

  const Window& window() const { return window_; }
  const Shape& weights() const { return weights_; }  // (1, 1, 1, K * Ci, Co): the same memory

  Box rows_of(const Box& slab) const {
    Box box = slab;
    box.set(4, 0, weights_[3]);
    return box;
  }
  std::int64_t bytes(const Box& slab) const { return aligned_bytes(rows_of(slab).count() * 2); }

  template <class Body>
  void for_each_slab(const Box& windows, Body body) const {
    if (windows.empty()) return;
    const std::int64_t row = windows.extent[3] * weights_[3] * 2;
    const std::int64_t height = std::clamp<std::int64_t>(kRowBytes / row, 1, windows.extent[2]);
    const std::int64_t planes = std::clamp<std::int64_t>(kRowBytes / (row * windows.extent[2]), 1, windows.extent[1]);
    for (std::int64_t n = windows.begin[0]; n < windows.end(0); ++n)
      for (std::int64_t d = windows.begin[1]; d < windows.end(1); d += planes)
        for (std::int64_t h = windows.begin[2]; h < windows.end(2); h += height) {
          Box slab = windows;
          slab.set(0, n, n + 1);
          slab.set(1, d, std::min(d + planes, windows.end(1)));
          slab.set(2, h, std::min(h + height, windows.end(2)));
          body(slab);
        }
  }

 private:
  Window window_;
  Shape weights_;
};

std::string patches_code() { return std::string(kAmxCode) + ":patches"; }

/// The forward convolution: gather, multiply. The input gradient: multiply, scatter.
class PatchConv : public Kernel {
 public:
  PatchConv(const amx::Routines& routines, const ConvUse& use)
      : rows_(use),
        shape_(use.weights),
        forward_(use.pass == ConvPass::kForward),
        conv_({.window = unit_window(),
               .weights = rows_.weights(),
               .direction = forward_ ? ConvDirection::kForward : ConvDirection::kInputGrad,
               .routines = routines}) {}

  std::string code() const override { return patches_code(); }
  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }
  int packed_input() const override { return 1; }
  std::int64_t pack_tasks() const override { return ceil_div(conv_.out_blocks(), kBlocksPerTask); }
  void pack(const TensorView& w, std::byte* packed, std::int64_t task) const override {
    ensure(w.is_dense() && w.extent() == shape_, "weights are dense");
    conv_.pack(dense_view(w.data, w.dtype, Box::whole(rows_.weights())), task * kBlocksPerTask,
               std::min((task + 1) * kBlocksPerTask, conv_.out_blocks()), packed);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const TensorView out = conv_view(call.output);
    std::int64_t rows = 0, product = 0;
    rows_.for_each_slab(windows(out), [&](const Box& slab) {
      rows = std::max(rows, rows_.bytes(slab));
      product = std::max(product, conv_.workspace_bytes(forward_ ? slab : rows_.rows_of(slab)));
    });
    return rows + bias_bytes() + product;
  }

  void run(const KernelCall& call) const override {
    const TensorView in = conv_view(call.inputs[0]), out = conv_view(call.output);
    std::int64_t bytes = 0;
    rows_.for_each_slab(windows(out), [&](const Box& slab) { bytes = std::max(bytes, rows_.bytes(slab)); });
    std::byte* rest = call.workspace + bytes + bias_bytes();
    TensorView bias;
    if (call.inputs.size() > 2) bias = forward_ ? call.inputs[2] : repeated(call.inputs[2], call.workspace + bytes);
    rows_.for_each_slab(windows(out), [&](const Box& slab) {
      const TensorView rows = dense_view(call.workspace, DType::kBF16, rows_.rows_of(slab));
      const TensorView source = forward_ ? rows : in.sub(intersect(in.box, slab_of(in, slab)));
      if (forward_) gather_patches(in, rows_.window(), rows);
      conv_.run({.src = {&source, 1},
                 .bias = call.inputs.size() > 2 ? &bias : nullptr,
                 .dst = forward_ ? out.sub(slab) : rows,
                 .packed = call.packed,
                 .workspace = rest});
      if (!forward_) scatter_patches(rows, rows_.window(), out);
    });
  }

 private:
  static constexpr std::int64_t kBlocksPerTask = 8;

  /// The windows that a call computes, or that overlap d_x.
  Box windows(const TensorView& out) const {
    Box box = out.box;
    if (forward_ || box.empty()) return box;
    const Window& w = rows_.window();
    for (int a = 0; a < 3; ++a)
      box.set(a + 1, floor_div(out.box.begin[a + 1] + w.pad_lo[a], w.stride[a]),
              floor_div(out.box.end(a + 1) - 1 + w.pad_lo[a], w.stride[a]) + 1);
    return box;
  }

  static Box slab_of(const TensorView& view, const Box& slab) {
    Box box = slab;
    box.set(4, view.box.begin[4], view.box.end(4));
    return box;
  }

  std::int64_t bias_bytes() const { return forward_ ? 0 : aligned_bytes(4 * rows_.weights()[3]); }

  /// The bias, one value per channel of d_x, repeated for each tap.
  TensorView repeated(const TensorView& bias, std::byte* to) const {
    const TensorView all = dense_view(to, DType::kF32, Box::whole({rows_.weights()[3]}));
    for (std::int64_t i = 0; i < all.count(); ++i)
      all.as<float>()[i] = static_cast<float>(load(bias, i % bias.count()));
    return all;
  }

  PatchRows rows_;
  Shape shape_;
  bool forward_;
  amx::Convolution conv_;
};

/// The weight gradient of a product on gathered rows; slabs are added in order.
class PatchWeightGrad : public Kernel {
 public:
  PatchWeightGrad(const amx::Routines& routines, const ConvUse& use)
      : rows_(use), grad_({.window = unit_window(), .weights = rows_.weights(), .routines = routines}) {}

  std::string code() const override { return patches_code(); }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const Parts parts = parts_of(conv_view(call.inputs[1]).box);
    std::int64_t product = 0;
    rows_.for_each_slab(conv_view(call.inputs[1]).box,
                        [&](const Box& slab) { product = std::max(product, scratch_of_all(grad_, slab)); });
    return parts.rows + parts.addend + product;
  }

  void run(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    const TensorView d_w = dense_gradient(call, rows_.weights());
    if (d_y.box.empty()) return fill_zero(d_w);
    const Parts parts = parts_of(d_y.box);
    bool first = true;
    rows_.for_each_slab(d_y.box, [&](const Box& slab) {
      const TensorView rows = dense_view(call.workspace, DType::kBF16, rows_.rows_of(slab));
      gather_patches(x, rows_.window(), rows);
      const TensorView addend =
          first ? d_w : dense_view(call.workspace + parts.rows, DType::kF32, Box::whole(rows_.weights()));
      run_all(grad_, rows, d_y.sub(slab), addend, call.workspace + parts.rows + parts.addend);
      if (!first)
        for (std::int64_t i = 0; i < d_w.count(); ++i) d_w.as<float>()[i] += addend.as<float>()[i];
      first = false;
    });
  }

 private:
  /// Bytes at the front of the workspace; one slab needs no addend.
  struct Parts {
    std::int64_t rows = 0, addend = 0;
  };
  Parts parts_of(const Box& d_y) const {
    Parts parts;
    std::int64_t slabs = 0;
    rows_.for_each_slab(d_y, [&](const Box& slab) { parts.rows = std::max(parts.rows, rows_.bytes(slab)), ++slabs; });
    if (slabs > 1) parts.addend = aligned_bytes(4 * element_count(rows_.weights()));
    return parts;
  }

  PatchRows rows_;
  amx::WeightGradient grad_;
};

}  // namespace

bool patches_apply(const ConvUse& use) {
  const std::int64_t all = lifted_weights(use.weights)[3];
  return is_patch_window(use.window.lifted()) && use.parts == 1 && (use.channels < 0 || use.channels == all);
}

std::unique_ptr<Kernel> make_amx_patches(const amx::Routines& routines, const ConvUse& use) {
  if (use.pass == ConvPass::kWeightGrad) return std::make_unique<PatchWeightGrad>(routines, use);
  return std::make_unique<PatchConv>(routines, use);
}

}  // namespace voxshard::fast
