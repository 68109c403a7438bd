// A dense layer: a sample has one window that covers it all, so the samples are the rows of one matrix product: a
// convolution of 1x1x1 windows along a row of samples. Tensors are used in place where whole samples are contiguous.
#include <vector>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"

namespace voxshard::fast {
namespace {

/// Views the samples as (1, 1, 1, N, D * H * W * C) of the same memory.
TensorView rows_of(const TensorView& samples) {
  const Box& box = samples.box;
  const std::int64_t values = box.count() / std::max<std::int64_t>(1, box.extent[0]);
  return dense_view(samples.data, samples.dtype, {{0, 0, 0, box.begin[0], 0}, {1, 1, 1, box.extent[0], values}});
}

class DenseConv : public Kernel {
 public:
  DenseConv(std::unique_ptr<Kernel> (*make)(const ConvUse&), const ConvUse& use)
      : pass_(use.pass), weights_(lifted_weights(use.weights)), product_(make(product_of_samples(use))) {}

  std::string code() const override { return product_->code(); }
  std::int64_t programs() const override { return product_->programs(); }
  std::int64_t packed_bytes() const override { return product_->packed_bytes(); }
  int packed_input() const override { return product_->packed_input(); }
  std::int64_t pack_tasks() const override { return product_->pack_tasks(); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    product_->pack(plain(weights), packed, task);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    if (call.output.box.empty()) return 0;
    const Product p = product(call, nullptr);
    return p.staged_bytes + product_->workspace_bytes({.inputs = p.inputs, .output = p.output});
  }

  void run(const KernelCall& call) const override {
    if (pass_ == ConvPass::kWeightGrad && call.inputs[1].box.empty()) return fill_zero(call.output);
    if (call.output.box.empty()) return;
    const Product p = product(call, call.workspace);
    product_->run(
        {.inputs = p.inputs, .output = p.output, .packed = call.packed, .workspace = call.workspace + p.staged_bytes});
    if (p.staged) fill_from(p.result, conv_view(call.output));
  }

 private:
  struct Product {
    std::vector<TensorView> inputs;
    TensorView output, result;  // result: the output with samples as rows
    bool staged = false;        // the result is in the workspace, not in the output
    std::int64_t staged_bytes = 0;
  };

  Box samples(std::int64_t first, std::int64_t past) const {
    return {{first, 0, 0, 0, 0}, {past - first, weights_[0], weights_[1], weights_[2], weights_[3]}};
  }
  Box voxels(std::int64_t first, std::int64_t past) const {
    return {{first, 0, 0, 0, 0}, {past - first, 1, 1, 1, weights_[4]}};
  }

  /// Operands in place or staged at `workspace`; null: sizes only.
  Product product(const KernelCall& call, std::byte* workspace) const {
    Product p;
    const auto stage = [&](const TensorView& like, const Box& box) {
      const TensorView copy = dense_view(workspace == nullptr ? nullptr : workspace + p.staged_bytes, like.dtype, box);
      p.staged_bytes += aligned_bytes(box.count() * dtype_bytes(like.dtype));
      return copy;
    };
    const auto operand = [&](const TensorView& view, const Box& box) {
      TensorView part;
      if (use_in_place(view, box, view.dtype, part)) return rows_of(part);
      const TensorView copy = stage(view, box);
      if (workspace != nullptr) fill_from(view, copy);
      return rows_of(copy);
    };
    const TensorView first = conv_view(call.inputs[0]);
    if (pass_ == ConvPass::kWeightGrad) {
      const TensorView d_y = conv_view(call.inputs[1]);
      const std::int64_t from = d_y.box.begin[0], past = d_y.box.end(0);
      p.inputs = {operand(first, samples(from, past)), operand(d_y, voxels(from, past))};
      p.output = plain(call.output);
      return p;
    }
    const TensorView out = conv_view(call.output);
    const bool forward = pass_ == ConvPass::kForward;
    const std::int64_t from = out.box.begin[0], past = out.box.end(0);
    p.inputs = {operand(first, forward ? samples(from, past) : voxels(from, past)), plain(call.inputs[1])};
    if (call.inputs.size() > 2)
      p.inputs.push_back(forward ? call.inputs[2] : repeated(call.inputs[2], stage, workspace));
    const Box whole = forward ? voxels(from, past) : samples(from, past);
    p.staged = !use_in_place(out, whole, out.dtype, p.result);
    if (p.staged) p.result = stage(out, whole);
    p.output = rows_of(p.result);
    return p;
  }

  /// Views the weights as (1, 1, 1, K * Ci, Co) of the same memory.
  TensorView plain(const TensorView& weights) const {
    ensure(weights.is_dense(), "weights are dense");
    return dense_view(weights.data, weights.dtype,
                      Box::whole({1, 1, 1, element_count(weights_) / weights_[4], weights_[4]}));
  }

  /// The bias, one value per channel of d_x, repeated for each tap.
  template <class Stage>
  TensorView repeated(const TensorView& bias, Stage stage, const std::byte* workspace) const {
    const TensorView all = stage({.dtype = DType::kF32}, Box::whole({element_count(weights_) / weights_[4]}));
    for (std::int64_t i = 0; workspace != nullptr && i < all.count(); ++i)
      all.as<float>()[i] = static_cast<float>(load(bias, i % bias.count()));
    return all;
  }

  ConvPass pass_;
  Shape weights_;
  std::unique_ptr<Kernel> product_;
};

}  // namespace

bool is_dense_layer(const ConvUse& use) {
  if (use.over.empty() || use.parts != 1 || use.slices != 1) return false;
  const Window& w = use.window;
  for (int a = 0; a < w.axes(); ++a) {
    const std::int64_t sample = use.pass == ConvPass::kInputGrad ? w.kernel[a] : 1;
    if (w.kernel[a] != w.stride[a] || w.pad_lo[a] != 0 || use.over[a + 1] != sample) return false;
    if (w.kernel[a] > 1 && w.dilation[a] != 1) return false;
  }
  return use.channels < 0 || use.channels == lifted_weights(use.weights)[3];
}

ConvUse product_of_samples(const ConvUse& use) {
  const Shape w = lifted_weights(use.weights);
  const std::int64_t values = w[0] * w[1] * w[2] * w[3];
  const Dims one = Dims::filled(3, 1), none = Dims::filled(3, 0);
  return {.pass = use.pass,
          .window = {.kernel = one, .stride = one, .dilation = one, .pad_lo = none, .pad_hi = none},
          .weights = {1, 1, 1, values, w[4]},
          .over = {1, 1, 1, use.over[0], use.pass == ConvPass::kInputGrad ? values : w[4]},
          .dtype = use.dtype};
}

std::unique_ptr<Kernel> make_dense(std::unique_ptr<Kernel> (*make)(const ConvUse& use), const ConvUse& use) {
  return std::make_unique<DenseConv>(make, use);
}

}  // namespace voxshard::fast
