// The convolutions over blocks of 16 channels (Winograd, AMX) in tests: run with exactly the workspace they ask for,
// compared with the reference in all passes, cut in pieces.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "libcore/kernels/blocked_conv.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard::test {

inline constexpr std::int64_t kBlock = 16;

/// Scratch memory of exactly `bytes`, filled with ones, with a guard behind it.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes) : bytes_(bytes), memory_(DType::kU8, {bytes + 64}) {
    std::memset(memory_.data(), 0xff, static_cast<std::size_t>(bytes + 64));
  }
  std::byte* data() const { return memory_.data(); }
  void check() const {
    for (std::int64_t i = 0; i < 64; ++i)
      ASSERT_EQ(memory_.as<std::uint8_t>()[bytes_ + i], 0xff) << "wrote behind its " << bytes_ << " bytes";
  }

 private:
  std::int64_t bytes_;
  Tensor memory_;
};

/// Packs the weights block by block and computes dst from result block `first_block` on.
template <class Convolution>
void run_blocks(const Convolution& conv, std::vector<TensorView> src, const TensorView& weights, const TensorView* bias,
                const TensorView& dst, std::int64_t first_block = 0) {
  const Guarded packed(conv.packed_bytes());
  for (std::int64_t b = conv.out_blocks() - 1; b >= 0; --b) conv.pack(weights, b, b + 1, packed.data());
  packed.check();
  const Guarded workspace(conv.workspace_bytes(dst.box));
  conv.run({.src = src,
            .bias = bias,
            .dst = dst,
            .first_block = first_block,
            .packed = packed.data(),
            .workspace = workspace.data()});
  workspace.check();
}

/// Computes the weight gradient of each range of channels in turn.
template <class Gradient>
void run_ranges(const Gradient& grad, const std::vector<ChannelRange>& ranges, std::vector<TensorView> x,
                const TensorView& d_y, const TensorView& d_w) {
  for (const ChannelRange& range : ranges) {
    const Guarded workspace(grad.workspace_bytes(range, d_y.box));
    grad.run({.x = x, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace.data()});
    workspace.check();
  }
}

/// Returns a copy of |view| in f64.
inline Place magnitudes(const TensorView& view) {
  Place p = place(DType::kF64, view.box);
  copy(view, p.view);
  for (std::int64_t i = 0; i < p.memory.count(); ++i) p.memory.as<double>()[i] = std::abs(p.memory.as<double>()[i]);
  return p;
}

/// Expects |got - wanted| <= units * 2^-24 * max of sums + rounding of the stored type; `sums` holds sum |a| |b|.
inline void expect_within(const TensorView& wanted, const TensorView& got, const TensorView& sums, double units,
                          const std::string& what) {
  const double rounding = got.dtype == DType::kBF16 ? 0x1p-8 : 0;
  double largest = 0, worst = 0;
  for_each_row(got.box, [&](const Dims& at) {
    for (std::int64_t c = 0; c < row_count(got.box); ++c) {
      const double want = load(wanted, offset_at(wanted, at) + c);
      const double off = std::abs(load(got, offset_at(got, at) + c) - want) - rounding * std::abs(want);
      worst = std::isnan(off) ? INFINITY : std::max(worst, off);
      largest = std::max(largest, load(sums, offset_at(sums, at) + c));
    }
  });
  EXPECT_LE(worst, units * 0x1p-24 * largest) << what;
}

/// Runs every pass by run(pass, result) and the reference; check(wanted, got, sums of magnitudes) compares both in f64.
template <class Run, class Check>
void compare_passes(const Case& c, const Operands& o, DType result, std::int64_t margin, Run run, Check check) {
  const Window window = c.window.lifted();
  const Shape weights = lifted_weights(c.weights());
  const TensorView wide_w{o.w.view.data, o.w.view.dtype, Box::whole(weights), dense_strides(weights)};
  const Place x = magnitudes(o.x.view.lifted()), d_y = magnitudes(o.d_y.view.lifted()), abs_w = magnitudes(wide_w),
              abs_bias = magnitudes(o.bias.view);
  auto compare = [&](ConvPass pass, const Box& box, DType type, std::int64_t around, auto reference) {
    const Place found = place(type, box, around);
    run(pass, found.view);
    const TensorView got = pass == ConvPass::kWeightGrad
                               ? TensorView{found.view.data, type, Box::whole(weights), dense_strides(weights)}
                               : found.view.lifted();
    const Place wanted = place(DType::kF64, got.box), sums = place(DType::kF64, got.box);
    reference(wanted.view, false);
    reference(sums.view, true);
    check(wanted.view, got, sums.view);
  };
  compare(ConvPass::kForward, c.y_box(), result, margin, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_forward(x.view, abs_w.view, &abs_bias.view, to, window)
         : reference::conv_forward(o.x.view.lifted(), wide_w, &o.bias.view, to, window);
  });
  compare(ConvPass::kInputGrad, c.x_box(), result, margin, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_input_grad(d_y.view, abs_w.view, nullptr, to, window)
         : reference::conv_input_grad(o.d_y.view.lifted(), wide_w, nullptr, to, window);
  });
  compare(ConvPass::kWeightGrad, Box::whole(c.weights()), DType::kF32, 0, [&](const TensorView& to, bool sums) {
    sums ? reference::conv_weight_grad(x.view, d_y.view, to, window)
         : reference::conv_weight_grad(o.x.view.lifted(), o.d_y.view.lifted(), to, window);
  });
}

/// Returns boxes that cut `whole` into pieces of `step`, and its channels between blocks.
inline std::vector<Box> pieces(const Box& whole, std::int64_t step) {
  std::vector<Box> parts = {whole};
  for (int a = 0; a < whole.axes(); ++a) {
    const std::int64_t size = a == 0 ? 1 : a == whole.axes() - 1 ? kBlock : step;
    std::vector<Box> finer;
    for (const Box& part : parts)
      for (std::int64_t from = part.begin[a]; from < part.end(a); from += size) {
        Box b = part;
        b.set(a, from, std::min(from + size, part.end(a)));
        finer.push_back(b);
      }
    parts = finer;
  }
  return parts;
}

/// Expects the same bits in any box and any channels as in the whole; every other piece reads a margin buffer that
/// holds exactly what it needs.
template <class Convolution>
void expect_pieces_of_the_whole(const Case& c, const Convolution& conv, const TensorView& src, const Place& weights,
                                const Box& result, DType type, const std::vector<std::int64_t>& steps) {
  const Place bias = random(DType::kF32, Box::whole({result.extent.back()}), kSeed), whole = place(type, result);
  run_blocks(conv, {src}, weights.view, &bias.view, whole.view);
  for (std::int64_t step : steps) {
    const auto boxes = pieces(result, step);
    for (std::size_t i = 0; i < boxes.size(); i += 1 + boxes.size() / 24) {
      const Place part = place(type, boxes[i], static_cast<std::int64_t>(i % 3));
      const Place margin = place(src.dtype, conv.read_box(boxes[i]));
      const Box held = intersect(margin.view.box, src.box);
      copy(src.sub(held), margin.view.sub(held));
      run_blocks(conv, {i % 2 == 0 ? margin.view : src}, weights.view, &bias.view, part.view,
                 boxes[i].begin.back() / kBlock);
      expect_same_bits(whole.view.sub(boxes[i]), part.view, c.name + " " + to_string(boxes[i]));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Expects an input gradient of channels [first, past) to be that part of the whole; slice(first, count) makes it.
template <class Slice>
void expect_slice_of_the_whole(const Case& c, DType type, std::int64_t first, std::int64_t past, Slice slice) {
  const Operands o(c, type, 0, false);
  const Place whole = place(type, c.x_box());
  run_blocks(slice(0, c.ci), {o.d_y.view}, o.w.view, nullptr, whole.view);
  Box box = c.x_box();
  box.set(box.axes() - 1, first, past);
  const Place part = place(type, box);
  run_blocks(slice(first, past - first), {o.d_y.view}, o.w.view, nullptr, part.view);
  expect_same_bits(whole.view.sub(box), part.view, "channels of a slice");
}

/// Expects the same weight gradient by its own tasks on dense views and block by block on strided ones.
template <class Gradient>
void expect_same_in_any_tasks(const Case& c, const Gradient& grad, DType type) {
  const Operands dense(c, type, 0, false), strided(c, type, 3, false);
  const Place whole = place(DType::kF32, Box::whole(c.weights())), cut = place(DType::kF32, Box::whole(c.weights()));
  run_ranges(grad, grad.tasks(), {dense.x.view}, dense.d_y.view, whole.view);
  std::vector<ChannelRange> blocks;
  for (std::int64_t i = 0; i < ceil_div(c.ci, kBlock); ++i)
    for (std::int64_t o = ceil_div(c.co, kBlock) - 1; o >= 0; --o) blocks.push_back({i, i + 1, o, o + 1});
  run_ranges(grad, blocks, {strided.x.view}, strided.d_y.view, cut.view);
  expect_same_bits(whole.view, cut.view, c.name);
}

/// Expects the same weight gradient when both operands lie `shift` further along the spatial axes.
template <class Gradient>
void expect_same_when_moved(const Case& c, const Gradient& grad, DType type, const Dims& shift) {
  const Operands o(c, type, 0, false);
  const Place here = place(DType::kF32, Box::whole(c.weights())), there = place(DType::kF32, Box::whole(c.weights()));
  run_ranges(grad, grad.tasks(), {o.x.view}, o.d_y.view, here.view);
  TensorView x = o.x.view, d_y = o.d_y.view;
  for (int a = 1; a + 1 < x.axes(); ++a) {
    x.box.begin[a] += shift[a - 1];
    d_y.box.begin[a] += shift[a - 1];
  }
  run_ranges(grad, grad.tasks(), {x}, d_y, there.view);
  expect_same_bits(here.view, there.view, c.name);
}

/// Expects sources of `channels` side by side to give the result of one source with all; conv_of and gradient_of make
/// kernels.
template <class Conv, class Gradient>
void expect_parts_are_one_source(const std::vector<std::int64_t>& channels, DType type, bool integers, Conv conv_of,
                                 Gradient gradient_of) {
  std::int64_t all = 0;
  for (std::int64_t part : channels) all += part;
  const Case c{"parts", window_of(3, 3, 1, 1, 1, 1), {6, 7, 9}, all, 32, 1};
  const Operands o(c, type, 0, integers);
  std::vector<Place> parts;
  std::vector<TensorView> views;
  std::int64_t channel = 0;
  for (std::int64_t part : channels) {
    Box box = c.x_box();
    box.set(4, channel, channel + part);
    parts.push_back(place(type, box, channel == 0 ? 1 : 0));
    copy(o.x.view.sub(box), parts.back().view);
    views.push_back(parts.back().view);
    channel += part;
  }
  const std::vector<std::int64_t> one;
  const Place whole = place(type, c.y_box()), split = place(type, c.y_box());
  run_blocks(conv_of(c, one), {o.x.view}, o.w.view, nullptr, whole.view);
  run_blocks(conv_of(c, channels), views, o.w.view, nullptr, split.view);
  expect_same_bits(whole.view, split.view, "forward");
  const Place d_w = place(DType::kF32, Box::whole(c.weights())), d_split = place(DType::kF32, Box::whole(c.weights()));
  const auto grad = gradient_of(c, one), of_parts = gradient_of(c, channels);
  run_ranges(grad, grad.tasks(), {o.x.view}, o.d_y.view, d_w.view);
  run_ranges(of_parts, of_parts.tasks(), views, o.d_y.view, d_split.view);
  expect_same_bits(d_w.view, d_split.view, "weight gradient");
}

/// Expects the tasks of a weight gradient to cover all blocks once, each within 32 MiB.
template <class Gradient>
void expect_tasks_within_32_mib(const Gradient& grad, const Shape& weights, const Box& d_y, const std::string& what) {
  std::int64_t covered = 0;
  for (const ChannelRange& range : grad.tasks()) {
    EXPECT_LE(grad.workspace_bytes(range, d_y), 32 << 20) << what;
    covered += (range.past_in - range.first_in) * (range.past_out - range.first_out);
  }
  const int last = weights.axes() - 1;
  EXPECT_EQ(covered, ceil_div(weights[last - 1], kBlock) * ceil_div(weights[last], kBlock)) << what;
}

}  // namespace voxshard::test
