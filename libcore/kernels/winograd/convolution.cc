#include "libcore/kernels/winograd/convolution.h"

#include <algorithm>
#include <cstring>

#include "libcore/kernels/winograd/bricks.h"
#include "libcore/tensor/rows.h"

namespace voxshard::winograd {

Convolution::Convolution(const ConvolutionSpec& spec)
    : window_(spec.window.lifted()),
      weights_(lifted_weights(spec.weights)),
      direction_(spec.direction),
      form_(form_of(spec.window, spec.tile)),
      in_(source_parts(spec.direction, spec.weights, spec.parts)),
      out_(result_channels(spec.direction, spec.weights, spec.channel, spec.channels)),
      channel_(spec.channel) {
  if (direction_ == ConvDirection::kInputGrad)  // d_x[i] reads d_y[i + pad_lo - k], that is from i
                                                // - (kernel - 1 - pad_lo) on
    for (int a = 0; a < 3; ++a) window_.pad_lo[a] = window_.kernel[a] - 1 - window_.pad_lo[a];
}

void Convolution::pack(const TensorView& weights, std::int64_t first, std::int64_t past, std::byte* packed) const {
  const TensorView w = [&] {
    TensorView v = weights;
    v.box = Box::whole(weights_);
    while (v.strides.axes() < 5) {
      Dims strides = {0};
      for (auto s : v.strides) strides.push_back(s);
      v.strides = strides;
    }
    return v;
  }();
  const bool forward = direction_ == ConvDirection::kForward;
  const std::int64_t taps = form_.taps(), channels = in_.channels();
  const std::int64_t k_stride = w.strides[forward ? 3 : 4], result_stride = w.strides[forward ? 4 : 3];
  ensure(w.strides[4] == 1, "the last axis of weights is contiguous");
  alignas(64) float tap_values[kLanesPerBlock][27][kLanesPerBlock];
  alignas(64) float scratch[kScratchFloats];
  const Tensor transformed(DType::kF32, {form_.positions(), kPositionFloats});
  auto* square = transformed.as<float>();
  const bool plain = w.dtype == DType::kF32;
  auto value = [&](std::int64_t i) { return plain ? w.as<float>()[i] : static_cast<float>(load(w, i)); };
  for (std::int64_t b = first; b < past; ++b) {
    float* to = reinterpret_cast<float*>(packed) + b * block_floats();
    const std::int64_t results = out_.sizes()[b];
    std::fill(&tap_values[0][0][0], &tap_values[0][0][0] + sizeof(tap_values) / sizeof(float), 0.0F);
    for (std::int64_t k0 = 0; k0 < channels; k0 += kLanesPerBlock) {
      const std::int64_t count = std::min(kLanesPerBlock, channels - k0);
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t t = forward ? tap : taps - 1 - tap, plane = weights_[1] * weights_[2];
        const std::int64_t at = t / plane * w.strides[0] + t % plane / weights_[2] * w.strides[1] +
                                t % weights_[2] * w.strides[2] + k0 * k_stride +
                                (channel_ + out_.begin(b)) * result_stride;
        if (forward)  // in the order of memory
          for (std::int64_t k = 0; k < count; ++k)
            for (std::int64_t o = 0; o < results; ++o) tap_values[k][tap][o] = value(at + k * k_stride + o);
        else
          for (std::int64_t o = 0; o < results; ++o)
            for (std::int64_t k = 0; k < count; ++k) tap_values[k][tap][o] = value(at + k + o * result_stride);
      }
      for (std::int64_t k = 0; k < count; ++k)
        transform_weights(form_, tap_values[k][0], square + k * kLanesPerBlock, kPositionFloats, scratch);
      for (std::int64_t p = 0; p < form_.positions(); ++p)  // in runs of 1 KB: single lines would each wait for memory
        std::memcpy(to + (p * channels + k0) * kLanesPerBlock, square + p * kPositionFloats,
                    sizeof(float) * static_cast<std::size_t>(count * kLanesPerBlock));
    }
  }
}

Convolution::Buffers Convolution::buffers(const Dims& brick, std::int64_t blocks, std::byte* workspace) const {
  const int tiles[3] = {static_cast<int>(brick[0]), static_cast<int>(brick[1]), static_cast<int>(brick[2])};
  const std::int64_t count = brick[0] * brick[1] * brick[2];
  Buffers b{.brick = brick, .blocks = std::min(blocks, kRoundBlocks)};
  Carver carver(workspace);
  b.patches = carve_planes(carver, form_, patch_planes(form_, tiles, in_.count()));
  b.outputs = carve_planes(carver, form_, output_planes(form_, tiles, blocks));
  b.values = carve_slabs(carver, form_, in_.count(), count);
  b.products = carve_slabs(carver, form_, b.blocks, count);
  b.bias = carver.floats(blocks * kLanesPerBlock);
  b.scratch = carver.floats(kScratchFloats);
  b.bytes = carver.used();
  return b;
}

Convolution::Buffers Convolution::buffers(std::int64_t blocks, std::byte* workspace) const {
  constexpr std::int64_t kMostBytes = 32 << 20;
  for (std::int64_t tiles = packed_bytes() > kLargeWeightsBytes * form_.inputs[0] ? kLargeBrickTiles : kBrickTiles;;
       tiles /= 2) {
    const Buffers b = buffers(brick_of(form_, tiles), blocks, workspace);
    if (b.bytes <= kMostBytes || tiles == 1) return b;
  }
}

std::int64_t Convolution::workspace_bytes(const Box& dst) const {
  return buffers(ceil_div(dst.extent.back(), kLanesPerBlock), nullptr).bytes;
}

void Convolution::run(const ConvolutionCall& call) const {
  if (call.dst.box.empty()) return;
  const TensorView dst = call.dst.lifted();
  std::vector<TensorView> src;
  for (const TensorView& part : call.src) src.push_back(part.lifted());
  const std::int64_t channels = dst.extent()[4], blocks = ceil_div(channels, kLanesPerBlock);
  ensure(src.size() == in_.parts() && call.first_block + blocks <= out_.count(),
         "a Winograd call has the parts and blocks of its convolution");
  const Buffers b = buffers(blocks, call.workspace);
  for (std::int64_t c = 0; c < blocks * kLanesPerBlock; ++c) {
    const bool has = call.bias != nullptr && c < channels;
    b.bias[c] = has ? static_cast<float>(load(*call.bias, call.first_block * kLanesPerBlock + c)) : 0.0F;
  }
  for_each_brick(dst.box, form_, b.brick, [&](const Brick& brick) { run_brick(call, src, dst, brick, b); });
}

void Convolution::run_brick(const ConvolutionCall& call, std::span<const TensorView> src, const TensorView& dst,
                            const Brick& brick, const Buffers& b) const {
  const Brick::Counts tiles = brick.counts();
  const std::int64_t channels = dst.extent()[4], blocks = ceil_div(channels, kLanesPerBlock);
  Planes patches = patch_planes(form_, tiles.of, in_.count());
  patches.data = b.patches;
  Planes outputs = output_planes(form_, tiles.of, blocks);
  outputs.data = b.outputs;
  for (std::size_t part = 0; part < src.size(); ++part)
    read_patches(form_, patches_of(src[part], form_, window_, brick, 0, in_.part_channels(part)), patches,
                 in_.part_begin(part), b.scratch);
  Products p{.tiles = brick.tiles(),
             .values = b.values,
             .in_channels = in_.sizes(),
             .weights = nullptr,
             .weights_position = in_.channels() * kLanesPerBlock,
             .weights_block = block_floats(),
             .products = b.products,
             .out_blocks = 0};
  for (int position = 0; position < form_.inputs[0]; ++position) {
    patches_to_slabs(form_, patches, position, tiles.of, b.values, b.scratch);
    for (std::int64_t first = 0; first < blocks; first += b.blocks) {
      p.out_blocks = std::min(b.blocks, blocks - first);
      p.weights = reinterpret_cast<const float*>(call.packed) + (call.first_block + first) * block_floats() +
                  position * plane_positions(form_) * p.weights_position;
      multiply(p);
      slabs_to_outputs(form_, b.products, position, tiles.of, outputs, first, p.out_blocks, b.scratch);
    }
  }
  write_outputs(form_, outputs, b.bias, outputs_of(dst, form_, brick, 0, channels));
}

}  // namespace voxshard::winograd
