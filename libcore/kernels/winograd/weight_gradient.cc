#include "libcore/kernels/winograd/weight_gradient.h"

#include <algorithm>
#include <cstring>

#include "libcore/kernels/winograd/bricks.h"

namespace voxshard::winograd {

WeightGradient::WeightGradient(const WeightGradientSpec& spec)
    : window_(spec.window.lifted()),
      form_(form_of(spec.window, spec.tile)),
      in_(source_parts(spec.parts, spec.weights[spec.weights.axes() - 2])),
      out_(spec.weights.back()),
      brick_(brick_of(form_, kBrickTiles)) {}

Dims WeightGradient::grain() const {
  Dims grain = brick_;
  for (int a = 0; a < 3; ++a) grain[a] *= form_.outputs[a];
  return grain;
}

std::vector<ChannelRange> WeightGradient::tasks() const {
  const std::int64_t most = form_.inputs[0] == 1 ? 16 : 8;
  const std::int64_t ins = ceil_div(in_.count(), most), outs = ceil_div(out_.count(), most);
  std::vector<ChannelRange> tasks;
  for (std::int64_t i = 0; i < ins; ++i)
    for (std::int64_t o = 0; o < outs; ++o)
      tasks.push_back({.first_in = in_.count() * i / ins,
                       .past_in = in_.count() * (i + 1) / ins,
                       .first_out = out_.count() * o / outs,
                       .past_out = out_.count() * (o + 1) / outs});
  return tasks;
}

WeightGradient::Buffers WeightGradient::buffers(const ChannelRange& range, std::byte* workspace) const {
  const std::int64_t ins = range.past_in - range.first_in, outs = range.past_out - range.first_out;
  const int tiles[3] = {static_cast<int>(brick_[0]), static_cast<int>(brick_[1]), static_cast<int>(brick_[2])};
  const std::int64_t count = brick_[0] * brick_[1] * brick_[2];
  Carver carver(workspace);
  Buffers b{};
  b.patches = carve_planes(carver, form_, patch_planes(form_, tiles, ins));
  b.gradient_planes = carve_planes(carver, form_, output_planes(form_, tiles, outs));
  b.values = carve_slabs(carver, form_, ins, count);
  b.gradients = carve_slabs(carver, form_, outs, count);
  b.sums = carver.floats(form_.positions() * ins * outs * kLanesPerBlock * kLanesPerBlock);
  b.square = carver.floats(form_.positions() * kPositionFloats);
  b.scratch = carver.floats(kScratchFloats);
  b.bytes = carver.used();
  return b;
}

std::int64_t WeightGradient::workspace_bytes(const ChannelRange& range, const Box& /*d_y*/) const {
  return buffers(range, nullptr).bytes;
}

void WeightGradient::add_brick(const WeightGradientCall& call, const Brick& brick, bool first_brick,
                               const Buffers& b) const {
  const ChannelRange& range = call.range;
  const Brick::Counts tiles = brick.counts();
  const std::int64_t ins = range.past_in - range.first_in, outs = range.past_out - range.first_out;
  Planes patches = patch_planes(form_, tiles.of, ins), gradients = output_planes(form_, tiles.of, outs);
  patches.data = b.patches;
  gradients.data = b.gradient_planes;
  for (std::size_t part = 0; part < in_.parts(); ++part) {
    const std::int64_t first = std::max(range.first_in, in_.part_begin(part));
    const std::int64_t past = std::min(range.past_in, in_.part_begin(part + 1));
    if (first >= past) continue;
    const std::int64_t channel = (first - in_.part_begin(part)) * kLanesPerBlock;
    read_patches(form_,
                 patches_of(call.x[part].lifted(), form_, window_, brick, channel, in_.begin(past) - in_.begin(first)),
                 patches, first - range.first_in, b.scratch);
  }
  const std::int64_t channel = out_.begin(range.first_out), channels = out_.begin(range.past_out) - channel;
  read_gradients(form_, outputs_of(call.d_y.lifted(), form_, brick, channel, channels), gradients, 0, b.scratch);
  const std::int64_t square = kLanesPerBlock * kLanesPerBlock;
  OuterProducts p{.tiles = brick.tiles(),
                  .values = b.values,
                  .in_channels = in_.sizes() + range.first_in,
                  .gradients = b.gradients,
                  .sums = b.sums,
                  .first = first_brick,
                  .sums_position = ins * square,
                  .sums_block = form_.positions() * ins * square};
  for (int position = 0; position < form_.inputs[0]; ++position, p.sums += plane_positions(form_) * p.sums_position) {
    patches_to_slabs(form_, patches, position, tiles.of, b.values, b.scratch);
    gradients_to_slabs(form_, gradients, position, tiles.of, b.gradients, b.scratch);
    add_outer_products(p);
  }
}

void WeightGradient::run(const WeightGradientCall& call) const {
  const ChannelRange& range = call.range;
  const std::int64_t ins = range.past_in - range.first_in, outs = range.past_out - range.first_out;
  ensure(call.x.size() == in_.parts() && call.d_w.is_dense() && call.d_w.dtype == DType::kF32,
         "a Winograd weight gradient has the parts of its spec and a dense f32 "
         "result");
  if (ins <= 0 || outs <= 0) return;
  const Buffers b = buffers(range, call.workspace);
  const Box box = call.d_y.lifted().box;
  if (box.empty()) std::fill(b.sums, b.sums + form_.positions() * ins * outs * kLanesPerBlock * kLanesPerBlock, 0.0F);
  bool first = true;
  for_each_brick(box, form_, brick_, [&](const Brick& brick) {
    add_brick(call, brick, first, b);
    first = false;
  });
  write(range, b, call.d_w);
}

void WeightGradient::write(const ChannelRange& range, const Buffers& b, const TensorView& d_w) const {
  alignas(64) float taps[27 * kLanesPerBlock];
  const std::int64_t ins = range.past_in - range.first_in, ci = in_.channels(), co = out_.channels();
  const std::int64_t square = kLanesPerBlock * kLanesPerBlock;
  for (std::int64_t o = range.first_out; o < range.past_out; ++o)
    for (std::int64_t i = range.first_in; i < range.past_in; ++i) {
      const float* sums =
          b.sums + (o - range.first_out) * form_.positions() * ins * square + (i - range.first_in) * square;
      for (std::int64_t p = 0; p < form_.positions(); ++p)
        std::memcpy(b.square + p * kPositionFloats, sums + p * ins * square, sizeof(float) * kPositionFloats);
      for (std::int64_t c = 0; c < in_.sizes()[i]; ++c) {
        transform_sums(form_, b.square + c * kLanesPerBlock, kPositionFloats, taps, b.scratch);
        for (std::int64_t tap = 0; tap < form_.taps(); ++tap)
          std::memcpy(d_w.as<float>() + (tap * ci + in_.begin(i) + c) * co + out_.begin(o), taps + tap * kLanesPerBlock,
                      sizeof(float) * static_cast<std::size_t>(out_.sizes()[o]));
      }
    }
}

}  // namespace voxshard::winograd
