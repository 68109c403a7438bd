// The fast forward convolution: one SlabConv; with kernel == stride (the gradient of an up-convolution, patch
// embedding) a gather of patches and a matrix product.
#include <memory>

#include "libcore/kernels/conv.h"
#include "libcore/kernels/fast/conv_slabs.h"

namespace voxshard {
namespace fast {
namespace {

class ForwardKernel : public Kernel {
 public:
  ForwardKernel(const Window& window, const Shape& weights, DType dtype)
      : window_(window.lifted()),
        weights_(weights),
        patches_(is_patch_window(window_)),
        conv_(patches_ ? unit_window() : window_, engine_weights(), dtype) {}

  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }

  void pack(std::span<const TensorView> inputs, std::byte* packed) const override {
    const TensorView& w = find_weights(inputs, weights_);
    ensure(w.is_dense(), "weights are dense");
    conv_.pack(w.data, w.dtype, dense_strides(engine_weights()), packed);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override { return conv_.workspace_bytes(io(call)); }

  void run(const KernelCall& call) const override {
    conv_.run(io(call), call.packed, call.inputs.size() > 2 ? &call.inputs[2] : nullptr, call.workspace);
  }

 private:
  static Window unit_window() {
    return {.kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 0}};
  }

  /// The weights' memory as the SlabConv sees it: (K, Ci, Co) with patches is (1, 1, 1, K * Ci, Co).
  Shape engine_weights() const {
    const Shape w = conv_weights(weights_);
    return patches_ ? Shape{1, 1, 1, window_.volume() * w[3], w[4]} : w;
  }

  SlabIo io(const KernelCall& call) const {
    const TensorView x = conv_view(call.inputs[0]), y = conv_view(call.output);
    return {.out = y.box,
            .out_type = y.dtype,
            .source = [=, this](const Box& read, DType compute,
                                TensorView& part) { return !patches_ && use_in_place(x, read, compute, part); },
            .fill = [=, this](const TensorView& to) { patches_ ? gather_patches(x, window_, to) : fill_from(x, to); },
            .target = [=](const Box& slab, DType type, TensorView& part) { return use_in_place(y, slab, type, part); },
            .emit = [=](const TensorView& from) { fill_from(from, y.sub(from.box)); }};
  }

  Window window_;
  Shape weights_;
  bool patches_;
  SlabConv conv_;
};

}  // namespace
}  // namespace fast

std::unique_ptr<Kernel> make_conv_forward(KernelSet set, const Window& window, const Shape& weights, DType dtype) {
  if (set == KernelSet::kFast && (dtype == DType::kF32 || dtype == DType::kBF16))
    return std::make_unique<fast::ForwardKernel>(window, weights, dtype);
  return std::make_unique<FunctionKernel>(
      [window = window.lifted(), shape = fast::conv_weights(weights)](const KernelCall& call) {
        const TensorView w = dense_view(call.inputs[1].data, call.inputs[1].dtype, Box::whole(shape));
        const TensorView* bias = call.inputs.size() > 2 ? &call.inputs[2] : nullptr;
        reference::conv_forward(call.inputs[0].lifted(), w, bias, call.output.lifted(), window);
      });
}

}  // namespace voxshard
