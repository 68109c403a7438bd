// The fast input gradient (= transposed convolution) as forward convolutions with flipped weights.
//
// With stride s the positions i = s j + r of one phase r read d_y at o = (s j + r + lo - k dil) / s for the taps k for
// which o is an integer: a convolution over j with stride 1. Example: kernel 3, stride 2, lo 1: phase 0 has tap 1,
// phase 1 taps 0 and 2. With kernel == stride all phases are one matrix product (voxels x Co) (Co x K Ci), whose rows
// are scattered to their places.
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "libcore/kernels/convolution/conv_kernels.h"
#include "libcore/kernels/convolution/conv_slabs.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace fast {
namespace {

/// The phase of the positions i = s j + r of d_x.
struct Phase {
  Dims offset;                     // r
  std::vector<std::int64_t> taps;  // row-major index of the weights' tap for each tap of `conv`; empty: no tap
  std::unique_ptr<SlabConv> conv;  // null when there is no tap
};

Window empty_window() { return {.kernel = {}, .stride = {}, .dilation = {}, .pad_lo = {}, .pad_hi = {}}; }

class InputGradKernel : public Kernel {
 public:
  /// Computes `channels` of the weights' input channels, from use.channel on.
  InputGradKernel(const ConvUse& use, std::int64_t channels)
      : window_(use.window.lifted()),
        weights_(use.weights),
        channel_(use.channel),
        channels_(channels),
        patches_(channels == lifted_weights(weights_)[3] && is_patch_window(window_)) {
    Shape w = lifted_weights(weights_);
    w[3] = channels;
    if (patches_) {
      phases_.push_back(
          {{0, 0, 0},
           {0},
           std::make_unique<SlabConv>(unit_window(), Shape{1, 1, 1, w[4], window_.volume() * w[3]}, use.dtype)});
      return;
    }
    for (std::int64_t rd = 0; rd < window_.stride[0]; ++rd)
      for (std::int64_t rh = 0; rh < window_.stride[1]; ++rh)
        for (std::int64_t rw = 0; rw < window_.stride[2]; ++rw) add_phase({rd, rh, rw}, w, use);
  }

  std::int64_t programs() const override {
    std::int64_t count = 0;
    for (const Phase& phase : phases_)
      if (phase.conv) count += phase.conv->programs();
    return std::max<std::int64_t>(1, count);
  }
  std::string code() const override {
    for (const Phase& phase : phases_)
      if (phase.conv) return phase.conv->code();
    return Kernel::code();
  }

  std::int64_t packed_bytes() const override {
    std::int64_t bytes = 0;
    for (const Phase& phase : phases_)
      if (phase.conv) bytes += aligned_bytes(phase.conv->packed_bytes());
    return bytes;
  }

  int packed_input() const override { return 1; }

  /// The phases' tasks, one phase after another.
  std::int64_t pack_tasks() const override {
    std::int64_t tasks = 0;
    for (const Phase& phase : phases_)
      if (phase.conv) tasks += phase.conv->pack_tasks();
    return tasks;
  }

  void pack(const TensorView& w, std::byte* packed, std::int64_t task) const override {
    ensure(w.is_dense() && w.extent() == weights_, "weights are dense");
    for (const Phase& phase : phases_) {
      if (!phase.conv) continue;
      if (task < phase.conv->pack_tasks()) return pack_phase(phase, w, packed, task);
      task -= phase.conv->pack_tasks();
      packed += aligned_bytes(phase.conv->packed_bytes());
    }
  }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    std::int64_t most = 0;
    for (const Phase& phase : phases_)
      if (phase.conv) most = std::max(most, phase.conv->workspace_bytes(io(call, phase)));
    return most;
  }

  void run(const KernelCall& call) const override {
    const TensorView* bias = call.inputs.size() > 2 ? &call.inputs[2] : nullptr;
    const std::byte* packed = call.packed;
    for (const Phase& phase : phases_) {
      if (!phase.conv) {
        fill_rows(every(conv_view(call.output), window_.stride, phase.offset), bias);
        continue;
      }
      phase.conv->run(io(call, phase), packed, bias, call.workspace);
      packed += aligned_bytes(phase.conv->packed_bytes());
    }
  }

 private:
  void pack_phase(const Phase& phase, const TensorView& w, std::byte* packed, std::int64_t task) const {
    const Shape full = lifted_weights(weights_);
    const std::int64_t rows = phase.conv->pack_channels(), first = task * rows, co = full[4],
                       row_bytes = co * dtype_bytes(w.dtype);
    if (patches_) return phase.conv->pack(w.data + first * row_bytes, w.dtype, {0, 0, 0, 1, co}, packed, task);
    std::vector<std::byte> taps(phase.taps.size() * static_cast<std::size_t>(rows * row_bytes));
    std::byte* to = taps.data();
    for (std::int64_t tap : phase.taps) {
      std::memcpy(to, w.data + (tap * full[3] + channel_ + first) * row_bytes,
                  static_cast<std::size_t>(rows * row_bytes));
      to += rows * row_bytes;
    }
    const Dims& kernel = phase.conv->kernel();
    const std::int64_t tap = rows * co;
    phase.conv->pack(taps.data(), w.dtype, {kernel[1] * kernel[2] * tap, kernel[2] * tap, tap, 1, co}, packed, task);
  }

  void add_phase(const Dims& offset, const Shape& w, const ConvUse& use) {
    Window sub = empty_window();
    std::vector<std::int64_t> taps_of[3];
    for (int a = 0; a < 3; ++a) {
      const std::int64_t s = window_.stride[a], dil = window_.dilation[a];
      for (std::int64_t k = window_.kernel[a] - 1; k >= 0; --k)  // descending k is ascending o
        if ((offset[a] + window_.pad_lo[a] - k * dil) % s == 0) taps_of[a].push_back(k);
      const auto count = static_cast<std::int64_t>(taps_of[a].size());
      sub.kernel.push_back(count);
      sub.stride.push_back(1);
      sub.dilation.push_back(count > 1 ? dil / std::gcd(s, dil) : 1);
      sub.pad_lo.push_back(count > 0 ? -(offset[a] + window_.pad_lo[a] - taps_of[a].front() * dil) / s : 0);
      sub.pad_hi.push_back(0);
    }
    Phase phase{offset, {}, nullptr};
    for (auto kd : taps_of[0])
      for (auto kh : taps_of[1])
        for (auto kw : taps_of[2]) phase.taps.push_back((kd * window_.kernel[1] + kh) * window_.kernel[2] + kw);
    if (!phase.taps.empty())
      phase.conv = std::make_unique<SlabConv>(sub, Shape{sub.kernel[0], sub.kernel[1], sub.kernel[2], w[4], w[3]},
                                              use.dtype, usual_slab(sub, use.over, window_.stride));
    phases_.push_back(std::move(phase));
  }

  /// No tap reaches these positions: they hold the bias, or zero.
  static void fill_rows(const TensorView& d_x, const TensorView* bias) {
    if (d_x.box.empty()) return;
    const std::int64_t channels = row_count(d_x.box);
    Tensor row(d_x.dtype, {channels});
    if (bias != nullptr)
      for (std::int64_t c = 0; c < channels; ++c) store(row.view(), c, load(*bias, c));
    const std::int64_t size = dtype_bytes(d_x.dtype);
    for_each_row(d_x.box, [&](const Dims& at) {
      std::memcpy(d_x.data + offset_at(d_x, at) * size, row.data(), static_cast<std::size_t>(row.bytes()));
    });
  }

  SlabIo io(const KernelCall& call, const Phase& phase) const {
    const TensorView d_y = conv_view(call.inputs[0]), d_x = conv_view(call.output);
    const TensorView grid = every(d_x, window_.stride, phase.offset);
    Box out = grid.box;
    if (patches_) {  // the windows that overlap d_x
      for (int a = 0; a < 3; ++a) {
        const std::int64_t s = window_.stride[a], lo = window_.pad_lo[a];
        out.set(a + 1, floor_div(d_x.box.begin[a + 1] + lo, s), floor_div(d_x.box.end(a + 1) - 1 + lo, s) + 1);
      }
      out.set(4, 0, window_.volume() * d_x.extent()[4]);
      if (d_x.box.empty()) out = Box::none(5);
    }
    return {.out = out,
            .out_type = d_x.dtype,
            .source = [=](const Box& read, DType compute,
                          TensorView& part) { return use_in_place(d_y, read, compute, part); },
            .fill = [=](const TensorView& to) { fill_from(d_y, to); },
            .target = [=, this](const Box& slab, DType type,
                                TensorView& part) { return !patches_ && use_in_place(grid, slab, type, part); },
            .emit =
                [=, this](const TensorView& from) {
                  patches_ ? scatter_patches(from, window_, d_x) : fill_from(from, grid.sub(from.box));
                }};
  }

  Window window_;
  Shape weights_;
  std::int64_t channel_, channels_;
  bool patches_;
  std::vector<Phase> phases_;
};

}  // namespace

std::unique_ptr<Kernel> make_library_input_grad(const ConvUse& use) {
  const std::int64_t all = lifted_weights(use.weights)[3];
  return std::make_unique<InputGradKernel>(use, use.channels < 0 ? all : use.channels);
}

}  // namespace fast
}  // namespace voxshard
