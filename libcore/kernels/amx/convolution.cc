#include "libcore/kernels/amx/convolution.h"

#include <algorithm>

namespace voxshard::amx {
namespace {

/// Voxels of a step, and of one whose weights exceed a level-2 cache: they are read once per step.
constexpr std::int64_t kStepVoxels = 1024, kLargeWeightsVoxels = 4096;
/// Bytes of the weights of two result blocks that a level-2 cache keeps beside the sources. Larger ones are multiplied
/// a part at a time with all tiles of the step, whose sums wait in memory.
constexpr std::int64_t kRoundBytes = 512 << 10;
/// Bytes of the weights of all results that stay there: each voxel is then finished before the next, so its results lie
/// together.
constexpr std::int64_t kCachedBytes = 1 << 20;

Window turned(Window window) {
  for (int a = 0; a < 3; ++a) window.pad_lo[a] = window.kernel[a] - 1 - window.pad_lo[a];
  return window;
}

}  // namespace

/// The layout of a column's planes in the ring: [chunk][copy][row][pitch] lines of 32 channels. Rows of whole tiles are
/// copied once, with the voxels that the taps read beside them. Others are copied once per tap along W, shifted by the
/// tap, so that tiles run over the ends of rows: two rows of 8 voxels fill a tile.
struct Convolution::Column {
  bool by_rows;
  std::int64_t rows, pitch, copies, tiles;  // tiles of a plane of results
  std::int64_t copy_bytes, chunk_bytes, plane_bytes;
};

struct Convolution::Buffers {
  StepSize step;
  PlaneRing ring;
  const std::byte** voxels;
  std::byte* sums;
  float* bias;
  std::int64_t bytes;
};

Convolution::Convolution(const ConvolutionSpec& spec)
    : window_(spec.direction == ConvDirection::kForward ? spec.window.lifted() : turned(spec.window.lifted())),
      weights_(lifted_weights(spec.weights)),
      direction_(spec.direction),
      parts_(source_parts(spec.direction, spec.weights, spec.parts)),
      channel_(spec.channel),
      channels_(result_channels(spec.direction, spec.weights, spec.channel, spec.channels)),
      routines_(&spec.routines) {
  ensure(applies(spec.window), "an AMX convolution has stride and dilation 1");
  for (std::int64_t part : parts_) chunks_ += ceil_div(part, kDepth);
}

void Convolution::pack(const TensorView& weights, std::int64_t first, std::int64_t past, std::byte* packed) const {
  const Dims strides = [&] {
    Dims full;
    for (int a = weights.strides.axes(); a < 5; ++a) full.push_back(0);
    for (auto s : weights.strides) full.push_back(s);
    return full;
  }();
  ensure(weights.dtype == DType::kF32 || weights.dtype == DType::kBF16, "an AMX convolution packs f32 or bf16");
  const bool forward = direction_ == ConvDirection::kForward;
  const std::int64_t volume = window_.volume(), plane = taps();
  const std::int64_t source_stride = strides[forward ? 3 : 4], result_stride = strides[forward ? 4 : 3];
  struct Chunk {
    std::int64_t channel, channels;
  };
  std::vector<Chunk> chunks;
  std::int64_t channel = 0;
  for (std::int64_t part : parts_) {
    for (std::int64_t c = 0; c < part; c += kDepth) chunks.push_back({channel + c, std::min(kDepth, part - c)});
    channel += part;
  }
  for (std::int64_t tap = 0; tap < volume; ++tap) {
    const std::int64_t t = forward ? tap : volume - 1 - tap;
    const std::int64_t at =
        t / plane * strides[0] + t % plane / weights_[2] * strides[1] + t % weights_[2] * strides[2];
    auto square = [&](std::int64_t b, std::size_t c) {
      const std::int64_t from = at + chunks[c].channel * source_stride + (channel_ + b * kTileRows) * result_stride;
      routines_->pack_weights({.data = weights.data + from * dtype_bytes(weights.dtype),
                               .bf16 = weights.dtype == DType::kBF16,
                               .source_stride = source_stride,
                               .result_stride = result_stride,
                               .sources = chunks[c].channels,
                               .results = std::min(kTileRows, channels_ - b * kTileRows)},
                              packed + block_begin(b) + (static_cast<std::int64_t>(c) * volume + tap) * kWeightsStep);
    };
    if (forward)  // in the order of memory
      for (std::size_t c = 0; c < chunks.size(); ++c)
        for (std::int64_t b = first; b < past; ++b) square(b, c);
    else
      for (std::int64_t b = first; b < past; ++b)
        for (std::size_t c = 0; c < chunks.size(); ++c) square(b, c);
  }
}

Box Convolution::read_box(const Box& dst) const {
  Box read = dst;
  const int skipped = 5 - dst.axes();  // axes that the view does not have
  for (int a = skipped; a < 3; ++a) {
    const std::int64_t first = dst.begin[a + 1 - skipped] - window_.pad_lo[a];
    read.set(a + 1 - skipped, first, first + dst.extent[a + 1 - skipped] + window_.kernel[a] - 1);
  }
  std::int64_t channels = 0;
  for (std::int64_t part : parts_) channels += part;
  read.set(dst.axes() - 1, 0, channels);
  return dst.empty() ? Box::none(dst.axes()) : read;
}

Convolution::Column Convolution::column(const StepSize& size) const {
  const std::int64_t kh = window_.kernel[1], kw = window_.kernel[2], h = size.h, w = size.w;
  Column c{};
  c.by_rows = w % kTileRows == 0;
  c.rows = h + kh - 1;
  c.pitch = c.by_rows ? w + kw - 1 : w;
  c.copies = c.by_rows ? 1 : kw;
  c.tiles = ceil_div(h * w, kTileRows);
  c.copy_bytes = c.rows * c.pitch * kLineBytes;
  c.chunk_bytes = c.copies * c.copy_bytes;
  c.plane_bytes = chunks_ * c.chunk_bytes;
  return c;
}

Convolution::Buffers Convolution::buffers(const Box& dst, std::byte* workspace) const {
  constexpr std::int64_t kMostBytes = 32 << 20;
  for (std::int64_t voxels = pair_bytes() > kRoundBytes ? kLargeWeightsVoxels : kStepVoxels;; voxels /= 2) {
    Buffers b{};
    b.step = step_size({dst.extent[1], dst.extent[2], dst.extent[3]}, voxels);
    const Column whole = column(b.step), last = column({1, b.step.h, dst.extent[3] % b.step.w});
    const std::int64_t tiles = b.step.d * std::max(whole.tiles, last.tiles);
    b.ring.slots = b.step.d + window_.kernel[0] - 1;
    b.ring.plane_bytes = std::max(whole.plane_bytes, last.plane_bytes);
    std::int64_t used = 0;
    auto carve = [&](std::int64_t bytes) {
      std::byte* at = workspace + used;
      used += aligned(bytes);
      return at;
    };
    b.ring.data = carve(b.ring.slots * b.ring.plane_bytes + kTileBytes);  // a plane's last tile may read on
    b.sums = carve((tiles + 1) * 2 * kTileBytes);
    b.voxels = reinterpret_cast<const std::byte**>(carve(window_.kernel[0] * tiles * 8));
    b.bias = reinterpret_cast<float*>(carve(ceil_div(dst.extent[4], 2 * kTileRows) * 2 * kTileRows * 4));
    b.bytes = used;
    if (b.bytes <= kMostBytes || voxels == 1) return b;
  }
}

std::int64_t Convolution::workspace_bytes(const Box& dst) const {
  TensorView view{.data = nullptr, .dtype = DType::kBF16, .box = dst, .strides = dense_strides(dst.extent)};
  view = view.lifted();
  return view.box.empty() ? 0 : buffers(view.box, nullptr).bytes;
}

void Convolution::read_plane(const ConvolutionCall& call, const Step& step, std::int64_t d, const Column& column,
                             std::byte* to) const {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const TensorView src = call.src[part].lifted();
    for (std::int64_t r = 0; r < column.rows; ++r) {
      const VoxelRow row =
          row_of(src, step.n, d, step.h - window_.pad_lo[1] + r, step.w - window_.pad_lo[2], 0, parts_[part]);
      for (std::int64_t copy = 0; copy < column.copies; ++copy)
        routines_->copy_lines(row, copy, column.pitch, to + copy * column.copy_bytes + r * column.pitch * kLineBytes,
                              column.chunk_bytes);
    }
    to += ceil_div(parts_[part], kDepth) * column.chunk_bytes;
  }
}

void Convolution::store(const TensorView& dst, const Step& step, std::int64_t channel, const Column& column,
                        std::int64_t first_tile, std::int64_t past_tile, const Buffers& b) const {
  const std::int64_t channels = std::min(2 * kTileRows, dst.extent()[4] - channel), plane = step.size.plane();
  for (std::int64_t t = first_tile; t < past_tile; ++t) {
    const std::int64_t d = t / column.tiles, first = t % column.tiles * kTileRows;
    const std::int64_t past = std::min(first + kTileRows, plane);
    for (std::int64_t p = first; p < past;) {
      const std::int64_t h = p / step.size.w, w = p % step.size.w;
      const std::int64_t rows = std::min(past - p, step.size.w - w);
      const std::int64_t at =
          (step.n - dst.box.begin[0]) * dst.strides[0] + (step.d + d - dst.box.begin[1]) * dst.strides[1] +
          (step.h + h - dst.box.begin[2]) * dst.strides[2] + (step.w + w - dst.box.begin[3]) * dst.strides[3] + channel;
      const std::byte* sums = b.sums + t * 2 * kTileBytes + (p - first) * kLineBytes;
      if (dst.dtype == DType::kBF16)
        routines_->store_bf16(sums, rows, b.bias + channel, channels, dst.as<std::uint16_t>() + at, dst.strides[3]);
      else
        routines_->store_f32(sums, rows, b.bias + channel, channels, dst.as<float>() + at, dst.strides[3]);
      p += rows;
    }
  }
}

void Convolution::run_step(const ConvolutionCall& call, const Step& step, const Buffers& b) const {
  const Column c = column(step.size);
  const std::int64_t kd = window_.kernel[0], first_plane = step.d - window_.pad_lo[0];
  for (std::int64_t i = step.begins_column ? 0 : kd - 1; i < step.size.d + kd - 1; ++i)
    read_plane(call, step, first_plane + i, c, b.ring.plane(first_plane + i));
  std::vector<std::int64_t> offsets, ahead;
  for (std::int64_t h = 0; h < window_.kernel[1]; ++h)
    for (std::int64_t w = 0; w < window_.kernel[2]; ++w) {
      const std::int64_t row = h * c.pitch * kLineBytes;
      offsets.push_back(row + w * (c.by_rows ? kLineBytes : c.copy_bytes));
      ahead.push_back(c.by_rows ? row + w * kAheadLines * kLineBytes : offsets.back());
    }
  const std::int64_t tiles = step.size.d * c.tiles, units = chunks_ * kd;
  const std::int64_t round_units = std::max<std::int64_t>(1, kRoundBytes / (taps() * kWeightsStep));
  const std::int64_t round_tiles = units > round_units ? tiles : 2;
  for (std::int64_t k = 0; k < kd; ++k)
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t position = t % c.tiles * kTileRows;
      const std::int64_t line = c.by_rows ? position / step.size.w * c.pitch + position % step.size.w : position;
      b.voxels[k * tiles + t] = b.ring.plane(first_plane + t / c.tiles + k) + line * kLineBytes;
    }
  TapProducts p{.voxels = b.voxels,
                .tiles = tiles,
                .planes = kd,
                .chunk_bytes = c.chunk_bytes,
                .taps = offsets.data(),
                .ahead = ahead.data(),
                .tap_count = taps(),
                .weights = {nullptr, nullptr},
                .sums = b.sums};
  auto multiply = [&](std::int64_t channel, std::int64_t first_tile, std::int64_t past_tile) {
    const std::int64_t block = call.first_block + channel / kTileRows;
    p.weights[0] = call.packed + block_begin(block);
    p.weights[1] = channel + kTileRows < call.dst.extent()[4] ? call.packed + block_begin(block + 1) : nullptr;
    for (std::int64_t u = 0; u < units; u += round_units)
      routines_->multiply_taps(p, first_tile, past_tile, u, std::min(u + round_units, units));
    store(call.dst, step, channel, c, first_tile, past_tile, b);
  };
  const std::int64_t channels = call.dst.extent()[4];
  const bool all_stay = ceil_div(channels, 2 * kTileRows) * pair_bytes() <= kCachedBytes;
  const std::int64_t channels_at_once = all_stay ? channels : 2 * kTileRows;
  for (std::int64_t first = 0; first < channels; first += channels_at_once)
    for (std::int64_t t = 0; t < tiles; t += round_tiles)
      for (std::int64_t channel = first; channel < std::min(first + channels_at_once, channels);
           channel += 2 * kTileRows)
        multiply(channel, t, std::min(t + round_tiles, tiles));
}

void Convolution::run(const ConvolutionCall& call) const {
  ConvolutionCall c = call;
  c.dst = call.dst.lifted();
  ensure(c.src.size() == parts_.size() && (c.dst.dtype == DType::kBF16 || c.dst.dtype == DType::kF32),
         "an AMX convolution has the sources of its spec and a bf16 or f32 result");
  for (const TensorView& src : c.src) ensure(src.dtype == DType::kBF16, "an AMX convolution reads bf16");
  if (c.dst.box.empty()) return;
  const Buffers b = buffers(c.dst.box, call.workspace);
  const std::int64_t channels = c.dst.extent()[4];
  std::fill(b.bias, b.bias + ceil_div(channels, 2 * kTileRows) * 2 * kTileRows, 0.0F);
  for (std::int64_t i = 0; call.bias != nullptr && i < channels; ++i)
    b.bias[i] = static_cast<float>(load(*call.bias, 16 * call.first_block + i));
  const TileScope tiles(*routines_);
  for_each_step(c.dst.box, b.step, [&](const Step& step) { run_step(c, step, b); });
}

}  // namespace voxshard::amx
