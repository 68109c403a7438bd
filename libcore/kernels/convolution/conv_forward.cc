// The fast forward convolution: one SlabConv. With kernel == stride (the gradient of an up-convolution, patch
// embedding), and with a kernel of 1 that skips voxels, it is a gather of patches and a matrix product.
#include <memory>
#include <vector>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"

namespace voxshard {
namespace fast {
namespace {

class ForwardKernel : public Kernel {
 public:
  explicit ForwardKernel(const ConvUse& use)
      : window_(use.window.lifted()),
        weights_(use.weights),
        parts_(use.parts),
        patches_(parts_ == 1 && (is_patch_window(window_) || skips_voxels(window_))),
        conv_(patches_ ? unit_window() : window_, engine_weights(), use.dtype,
              usual_slab(patches_ ? unit_window() : window_, use.over)) {}

  std::string code() const override { return conv_.code(); }
  std::int64_t programs() const override { return conv_.programs(); }

  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }

  int packed_input() const override { return static_cast<int>(parts_); }

  std::int64_t pack_tasks() const override { return conv_.pack_tasks(); }

  void pack(const TensorView& w, std::byte* packed, std::int64_t task) const override {
    ensure(w.is_dense() && w.extent() == weights_, "weights are dense");
    const std::byte* plain = w.data + task * conv_.pack_channels() * dtype_bytes(w.dtype);
    conv_.pack(plain, w.dtype, dense_strides(engine_weights()), packed, task);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override { return conv_.workspace_bytes(io(call)); }

  void run(const KernelCall& call) const override {
    conv_.run(io(call), call.packed, call.inputs.size() > parts_ + 1 ? &call.inputs[parts_ + 1] : nullptr,
              call.workspace);
  }

 private:
  /// The shape of the weights' memory for the SlabConv: (K, Ci, Co) with patches is (1, 1, 1, K * Ci, Co).
  Shape engine_weights() const {
    const Shape w = lifted_weights(weights_);
    return patches_ ? Shape{1, 1, 1, window_.volume() * w[3], w[4]} : w;
  }

  SlabIo io(const KernelCall& call) const {
    const TensorView x = conv_view(call.inputs[0]), y = conv_view(call.output);
    if (parts_ > 1) return io_of_parts(call, y);
    return {.out = y.box,
            .out_type = y.dtype,
            .source = [=, this](const Box& read, DType compute,
                                TensorView& part) { return !patches_ && use_in_place(x, read, compute, part); },
            .fill = [=, this](const TensorView& to) { patches_ ? gather_patches(x, window_, to) : fill_from(x, to); },
            .target = [=](const Box& slab, DType type, TensorView& part) { return use_in_place(y, slab, type, part); },
            .emit = [=](const TensorView& from) { fill_from(from, y.sub(from.box)); }};
  }

  /// Each slab is assembled from all parts.
  SlabIo io_of_parts(const KernelCall& call, const TensorView& y) const {
    std::vector<TensorView> xs;
    for (std::size_t i = 0; i < parts_; ++i) xs.push_back(conv_view(call.inputs[i]));
    return {.out = y.box,
            .out_type = y.dtype,
            .source = [](const Box&, DType, TensorView&) { return false; },
            .fill = [xs](const TensorView& to) { fill_from_parts(xs, to); },
            .target = [=](const Box& slab, DType type, TensorView& part) { return use_in_place(y, slab, type, part); },
            .emit = [=](const TensorView& from) { fill_from(from, y.sub(from.box)); }};
  }

  Window window_;
  Shape weights_;
  std::size_t parts_;
  bool patches_;
  SlabConv conv_;
};

}  // namespace

std::unique_ptr<Kernel> make_library_forward(const ConvUse& use) { return std::make_unique<ForwardKernel>(use); }

}  // namespace fast
}  // namespace voxshard
