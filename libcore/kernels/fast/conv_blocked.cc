// The convolutions of kernels/winograd and kernels/amx as kernels of the engine. Both compute blocks of 16 channels and
// are asked in the same words.
#include <algorithm>
#include <optional>
#include <vector>

#include "libcore/kernels/amx/convolution.h"
#include "libcore/kernels/amx/processor.h"
#include "libcore/kernels/amx/weight_gradient.h"
#include "libcore/kernels/fast/conv_kernels.h"
#include "libcore/kernels/fast/conv_slabs.h"
#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"

namespace voxshard::fast {
namespace {

Dims tile_of(std::int64_t outputs) { return Dims::filled(3, outputs); }

std::string winograd_code(std::int64_t outputs) {
  return "winograd:f" + std::to_string(outputs) + ":" + winograd::instruction_set();
}
constexpr const char* kAmxCode = "amx:bf16";

std::int64_t scratch(const winograd::Convolution& conv, const Box& dst) {
  return conv.workspace_bytes(ceil_div(dst.extent.back(), winograd::kLanesPerBlock));
}
std::int64_t scratch(const amx::Convolution& conv, const Box& dst) { return conv.workspace_bytes(dst); }

/// The forward convolution and the input gradient, whose weights are turned.
template <class Convolution>
class BlockedConv : public Kernel {
 public:
  BlockedConv(const ConvUse& use, Convolution conv, std::string code)
      : sources_(use.parts), weights_(use.weights), conv_(std::move(conv)), code_(std::move(code)) {}

  std::string code() const override { return code_; }
  std::int64_t packed_bytes() const override { return conv_.packed_bytes(); }
  int packed_input() const override { return static_cast<int>(sources_); }
  std::int64_t pack_tasks() const override { return conv_.out_blocks(); }
  void pack(const TensorView& weights, std::byte* packed, std::int64_t task) const override {
    ensure(weights.extent() == weights_, "packed weights have the shape of the convolution");
    conv_.pack(weights, task, task + 1, packed);
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    return call.output.box.empty() ? 0 : scratch(conv_, conv_view(call.output).box);
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
  std::size_t sources_;
  Shape weights_;
  Convolution conv_;
  std::string code_;
};

std::int64_t scratch(const winograd::WeightGradient& grad, const winograd::ChannelRange& range, const Box&) {
  return grad.workspace_bytes(range);
}
std::int64_t scratch(const amx::WeightGradient& grad, const amx::ChannelRange& range, const Box& d_y) {
  return grad.workspace_bytes(range, d_y);
}

/// Some channels after the other, so that the workspace stays within its bound.
template <class Gradient>
std::int64_t scratch_of_all(const Gradient& grad, const Box& d_y) {
  std::int64_t most = 0;
  for (const auto& range : grad.tasks()) most = std::max(most, scratch(grad, range, d_y));
  return most;
}
template <class Gradient>
void run_all(const Gradient& grad, const TensorView& x, const TensorView& d_y, const TensorView& d_w,
             std::byte* workspace) {
  for (const auto& range : grad.tasks())
    grad.run({.x = {&x, 1}, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace});
}

TensorView dense_gradient(const KernelCall& call, const Shape& weights) {
  ensure(call.output.is_dense() && call.output.dtype == DType::kF32, "a weight gradient is dense f32");
  return dense_view(call.output.data, DType::kF32, Box::whole(weights));
}

template <class Gradient>
class BlockedWeightGrad : public Kernel {
 public:
  BlockedWeightGrad(const ConvUse& use, Gradient grad, std::string code)
      : weights_(conv_weights(use.weights)), grad_(std::move(grad)), code_(std::move(code)) {}

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

constexpr std::int64_t kPatchBytes = 8 << 20;  // of gathered rows

/// Kernel == stride: the gradient of a matrix product on gathered patches, slab by slab of d_y, added in order.
class PatchWeightGrad : public Kernel {
 public:
  explicit PatchWeightGrad(const ConvUse& use) : window_(use.window.lifted()) {
    const Shape w = conv_weights(use.weights);
    rows_ = {1, 1, 1, window_.volume() * w[3], w[4]};
    const Dims one = Dims::filled(3, 1), none = Dims::filled(3, 0);
    grad_.emplace(amx::WeightGradientSpec{
        .window = {.kernel = one, .stride = one, .dilation = one, .pad_lo = none, .pad_hi = none}, .weights = rows_});
  }

  std::string code() const override { return std::string(kAmxCode) + ":patches"; }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    std::int64_t rows = 0, inner = 0, slabs = 0;
    for_each_slab(conv_view(call.inputs[1]).box, [&](const Box& slab) {
      rows = std::max(rows, row_bytes(slab));
      inner = std::max(inner, scratch_of_all(*grad_, slab));
      ++slabs;
    });
    return aligned_bytes(rows) + inner + (slabs > 1 ? sum_bytes() : 0);
  }

  void run(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    const TensorView d_w = dense_gradient(call, rows_);
    if (d_y.box.empty()) return fill_zero(d_w);
    std::int64_t rows_bytes = 0, slabs = 0;
    for_each_slab(d_y.box, [&](const Box& slab) { rows_bytes = std::max(rows_bytes, row_bytes(slab)), ++slabs; });
    std::byte* addend_at = call.workspace + aligned_bytes(rows_bytes);
    std::byte* rest = addend_at + (slabs > 1 ? sum_bytes() : 0);
    bool first = true;
    for_each_slab(d_y.box, [&](const Box& slab) {
      Box box = slab;
      box.set(4, 0, rows_[3]);
      const TensorView rows = dense_view(call.workspace, DType::kBF16, box);
      gather_patches(x, window_, rows);
      const TensorView addend = first ? d_w : dense_view(addend_at, DType::kF32, Box::whole(rows_));
      run_all(*grad_, rows, d_y.sub(slab), addend, rest);
      if (!first)
        for (std::int64_t i = 0; i < d_w.count(); ++i) d_w.as<float>()[i] += addend.as<float>()[i];
      first = false;
    });
  }

 private:
  std::int64_t sum_bytes() const { return aligned_bytes(4 * element_count(rows_)); }
  std::int64_t row_bytes(const Box& slab) const { return slab.count() / slab.extent[4] * rows_[3] * 2; }

  /// Planes, or rows of a plane, of one sample, whose patches take about kPatchBytes.
  template <class Body>
  void for_each_slab(const Box& d_y, Body body) const {
    if (d_y.empty()) return;
    const std::int64_t row = d_y.extent[3] * rows_[3] * 2;
    const std::int64_t height = std::clamp<std::int64_t>(kPatchBytes / row, 1, d_y.extent[2]);
    const std::int64_t planes = std::clamp<std::int64_t>(kPatchBytes / (row * d_y.extent[2]), 1, d_y.extent[1]);
    for (std::int64_t n = d_y.begin[0]; n < d_y.end(0); ++n)
      for (std::int64_t d = d_y.begin[1]; d < d_y.end(1); d += planes)
        for (std::int64_t h = d_y.begin[2]; h < d_y.end(2); h += height) {
          Box slab = d_y;
          slab.set(0, n, n + 1);
          slab.set(1, d, std::min(d + planes, d_y.end(1)));
          slab.set(2, h, std::min(h + height, d_y.end(2)));
          body(slab);
        }
  }

  Window window_;
  Shape rows_;  // (1, 1, 1, K * Ci, Co)
  std::optional<amx::WeightGradient> grad_;
};

template <class Room>
auto direction_of(const ConvUse& use) {
  return use.pass == ConvPass::kForward ? Room::kForward : Room::kInputGrad;
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
                              .direction = direction_of<winograd::Direction>(use),
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
  for (int a = 3 - use.window.rank(); a < 3; ++a) of_blocks.push_back(grain[a]);
  of_blocks.push_back(1);
  return of_blocks;
}

bool amx_applies(const ConvUse& use) {
  if (use.dtype != DType::kBF16 || !amx::available() || !parts_are_known(use)) return false;
  return amx::applies(use.window) || (use.pass == ConvPass::kWeightGrad && is_patch_window(use.window.lifted()));
}

std::unique_ptr<Kernel> make_amx(const ConvUse& use) {
  if (use.pass == ConvPass::kWeightGrad) {
    if (!amx::applies(use.window)) return std::make_unique<PatchWeightGrad>(use);
    using Gradient = amx::WeightGradient;
    return std::make_unique<BlockedWeightGrad<Gradient>>(
        use, Gradient({.window = use.window, .weights = use.weights}), kAmxCode);
  }
  amx::Convolution conv({.window = use.window,
                         .weights = use.weights,
                         .direction = direction_of<amx::Direction>(use),
                         .parts = use.part_channels,
                         .channel = use.channel,
                         .channels = use.channels});
  return std::make_unique<BlockedConv<amx::Convolution>>(use, std::move(conv), kAmxCode);
}

}  // namespace voxshard::fast
