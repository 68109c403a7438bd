// The convolutions of kernels/winograd and kernels/amx as kernels of the engine. Both compute blocks of 16 channels and
// have the same call interface.
#include <algorithm>
#include <vector>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_ranges.h"
#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/growth.h"
#include "libcore/kernels/winograd/weight_gradient.h"

namespace voxshard::fast {
namespace {

Dims tile_of(std::int64_t outputs) { return Dims::filled(3, outputs); }

std::string winograd_code(std::int64_t outputs) {
  return "winograd:f" + std::to_string(outputs) + ":" + winograd::instruction_set();
}

/// The forward convolution and the input gradient, whose weights are flipped.
template <class Convolution>
class BlockedConv : public Kernel {
 public:
  BlockedConv(const ConvUse& use, Convolution conv, std::string code)
      : sources_(use.parts), weights_(use.weights), conv_(std::move(conv)), code_(std::move(code)) {}

  std::string code() const override { return code_; }
  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }
  int packed_input() const override { return static_cast<int>(sources_); }
  std::int64_t pack_tasks() const override { return ceil_div(conv_.out_blocks(), kBlocksPerTask); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    ensure(weights.extent() == weights_, "packed weights have the shape of the convolution");
    conv_.pack(weights, task * kBlocksPerTask, std::min((task + 1) * kBlocksPerTask, conv_.out_blocks()), packed);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    return call.output.box.empty() ? 0 : conv_.workspace_bytes(conv_view(call.output).box);
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
  static constexpr std::int64_t kBlocksPerTask = 4;  // several blocks read the weights in the order of memory

  std::size_t sources_;
  Shape weights_;
  Convolution conv_;
  std::string code_;
};

template <class Gradient>
class BlockedWeightGrad : public Kernel {
 public:
  BlockedWeightGrad(const ConvUse& use, Gradient grad, std::string code)
      : weights_(lifted_weights(use.weights)), grad_(std::move(grad)), code_(std::move(code)) {}

  std::string code() const override { return code_; }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const Box box = conv_view(call.inputs[1]).box;
    return box.empty() ? 0 : scratch_of_all(grad_, box);
  }

  void run(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    const TensorView d_w = dense_gradient(call, weights_);
    d_y.box.empty() ? fill_zero(d_w) : run_all(grad_, x, d_y, d_w, call.workspace);
  }

 private:
  Shape weights_;
  Gradient grad_;
  std::string code_;
};

ConvDirection direction_of(const ConvUse& use) {
  return use.pass == ConvPass::kForward ? ConvDirection::kForward : ConvDirection::kInputGrad;
}

bool parts_are_known(const ConvUse& use) { return use.parts == 1 || use.part_channels.size() == use.parts; }

}  // namespace

bool winograd_applies(const ConvUse& use) {
  return (use.dtype == DType::kF32 || use.dtype == DType::kBF16) && winograd::applies(use.window) &&
         parts_are_known(use);
}

std::unique_ptr<Kernel> make_winograd(const ConvUse& use, std::int64_t outputs) {
  const Dims tile = tile_of(outputs);
  if (use.pass == ConvPass::kWeightGrad) {
    using Gradient = winograd::WeightGradient;
    return std::make_unique<BlockedWeightGrad<Gradient>>(
        use, Gradient({.window = use.window, .weights = use.weights, .tile = tile}), winograd_code(outputs));
  }
  winograd::Convolution conv({.window = use.window,
                              .weights = use.weights,
                              .tile = tile,
                              .direction = direction_of(use),
                              .parts = use.part_channels,
                              .channel = use.channel,
                              .channels = use.channels});
  return std::make_unique<BlockedConv<winograd::Convolution>>(use, std::move(conv), winograd_code(outputs));
}

Dims winograd_grain(const ConvUse& use, std::int64_t outputs) {
  Dims grain = winograd::grain_of(winograd::form_of(use.window, tile_of(outputs)));
  if (use.pass == ConvPass::kWeightGrad)
    grain = winograd::WeightGradient({.window = use.window, .weights = use.weights, .tile = tile_of(outputs)}).grain();
  Dims of_blocks{1};
  for (int a = 3 - use.window.axes(); a < 3; ++a) of_blocks.push_back(grain[a]);
  of_blocks.push_back(1);
  return of_blocks;
}

double winograd_growth(const ConvUse& use, std::int64_t outputs) {
  const winograd::TileForm form = winograd::form_of(use.window, tile_of(outputs));
  return use.pass == ConvPass::kWeightGrad ? winograd::weight_gradient_growth_of(form) : winograd::growth_of(form);
}

bool amx_computes(const ConvUse& use) {
  if (use.dtype != DType::kBF16 || !parts_are_known(use)) return false;
  return amx::applies(use.window) || patches_apply(use);
}

bool amx_applies(const ConvUse& use) { return amx::available() && amx_computes(use); }

std::unique_ptr<Kernel> make_amx_over(const amx::Routines& routines, const ConvUse& use) {
  if (!amx::applies(use.window)) return make_amx_patches(routines, use);
  if (use.pass == ConvPass::kWeightGrad) {
    using Gradient = amx::WeightGradient;
    return std::make_unique<BlockedWeightGrad<Gradient>>(
        use, Gradient({.window = use.window, .weights = use.weights, .routines = routines}), kAmxCode);
  }
  amx::Convolution conv({.window = use.window,
                         .weights = use.weights,
                         .direction = direction_of(use),
                         .parts = use.part_channels,
                         .channel = use.channel,
                         .channels = use.channels,
                         .routines = routines});
  return std::make_unique<BlockedConv<amx::Convolution>>(use, std::move(conv), kAmxCode);
}

}  // namespace voxshard::fast
