// The Winograd convolutions (kernels/winograd) as kernels of the engine: tiles of 4 or 2 outputs an axis.
#include <algorithm>
#include <vector>

#include "libcore/kernels/fast/conv_kernels.h"
#include "libcore/kernels/fast/conv_slabs.h"
#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"

namespace voxshard::fast {
namespace {

Dims tile_of(std::int64_t outputs) { return Dims::filled(3, outputs); }

std::string code_of(std::int64_t outputs) {
  return "winograd:f" + std::to_string(outputs) + ":" + winograd::instruction_set();
}

/// The forward convolution and the input gradient, whose weights are turned.
class WinogradConv : public Kernel {
 public:
  WinogradConv(const ConvUse& use, std::int64_t outputs)
      : outputs_(outputs), sources_(use.parts), weights_(use.weights), conv_(spec_of(use, outputs)) {}

  std::string code() const override { return code_of(outputs_); }
  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }
  int packed_input() const override { return static_cast<int>(sources_); }
  std::int64_t pack_tasks() const override { return conv_.out_blocks(); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    ensure(weights.extent() == weights_, "packed weights have the shape of the convolution");
    conv_.pack(weights, task, task + 1, packed);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    if (call.output.box.empty()) return 0;
    return conv_.workspace_bytes(ceil_div(call.output.extent().back(), winograd::kLanesPerBlock));
  }

  void run(const KernelCall& call) const override {
    std::vector<TensorView> src;
    for (std::size_t i = 0; i < sources_; ++i) src.push_back(conv_view(call.inputs[i]));
    conv_.run({.src = src,
               .bias = call.inputs.size() > sources_ + 1 ? &call.inputs[sources_ + 1] : nullptr,
               .dst = conv_view(call.output),
               .packed = call.packed,
               .workspace = call.workspace});
  }

 private:
  static winograd::ConvolutionSpec spec_of(const ConvUse& use, std::int64_t outputs) {
    const bool forward = use.pass == ConvPass::kForward;
    return {.window = use.window,
            .weights = use.weights,
            .tile = tile_of(outputs),
            .direction = forward ? winograd::Direction::kForward : winograd::Direction::kInputGrad,
            .parts = use.part_channels,
            .channel = use.channel,
            .channels = use.channels};
  }

  std::int64_t outputs_;
  std::size_t sources_;
  Shape weights_;
  winograd::Convolution conv_;
};

class WinogradWeightGrad : public Kernel {
 public:
  WinogradWeightGrad(const ConvUse& use, std::int64_t outputs)
      : outputs_(outputs),
        weights_(conv_weights(use.weights)),
        grad_({.window = use.window, .weights = use.weights, .tile = tile_of(outputs)}),
        tasks_(grad_.tasks()) {}

  std::string code() const override { return code_of(outputs_); }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    std::int64_t most = 0;
    if (!call.inputs[1].box.empty())
      for (const auto& range : tasks_) most = std::max(most, grad_.workspace_bytes(range));
    return most;
  }

  void run(const KernelCall& call) const override {
    const TensorView d_y = conv_view(call.inputs[1]);
    const TensorView d_w = dense_view(call.output.data, call.output.dtype, Box::whole(weights_));
    ensure(call.output.is_dense() && d_w.dtype == DType::kF32, "a weight gradient is dense and f32");
    if (d_y.box.empty()) return fill_zero(d_w);
    const TensorView x = conv_view(call.inputs[0]);
    for (const auto& range : tasks_)
      grad_.run({.x = {&x, 1}, .d_y = d_y, .d_w = d_w, .range = range, .workspace = call.workspace});
  }

 private:
  std::int64_t outputs_;
  Shape weights_;
  winograd::WeightGradient grad_;
  std::vector<winograd::ChannelRange> tasks_;
};

}  // namespace

bool winograd_applies(const ConvUse& use) {
  return (use.dtype == DType::kF32 || use.dtype == DType::kBF16) && winograd::applies(use.window) &&
         (use.parts == 1 || use.part_channels.size() == use.parts);
}

std::unique_ptr<Kernel> make_winograd(const ConvUse& use, std::int64_t outputs) {
  if (use.pass == ConvPass::kWeightGrad) return std::make_unique<WinogradWeightGrad>(use, outputs);
  return std::make_unique<WinogradConv>(use, outputs);
}

Dims winograd_grain(const ConvUse& use, std::int64_t outputs) {
  Dims grain = winograd::grain_of(winograd::form_of(use.window, tile_of(outputs)));
  if (use.pass == ConvPass::kWeightGrad)
    grain = winograd::WeightGradient({.window = use.window, .weights = use.weights, .tile = tile_of(outputs)}).grain();
  Dims of_blocks{1};
  for (int a = 3 - use.window.rank(); a < 3; ++a) of_blocks.push_back(grain[a]);
  of_blocks.push_back(1);
  return of_blocks;
}

}  // namespace voxshard::fast
