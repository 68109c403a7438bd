#include "libcore/kernels/amx/weight_gradient.h"

#include <algorithm>
#include <cstring>

namespace voxshard::amx {
namespace {

/// Voxels of a step. The sums of two by two blocks, 108 KiB for 27 taps, are read and written once per step; a small
/// sample is one step, so its sums never wait in memory.
constexpr std::int64_t kStepVoxels = 1024, kSmallSampleVoxels = 4096;
/// Groups of 32 voxels that the taps of a column use while these are in a level-1 cache.
constexpr std::int64_t kRoundGroups = 8;
/// Blocks of a task along Ci and Co: 256 by 256 channels of 27 taps are 7 MB of sums.
constexpr std::int64_t kTaskBlocks = 16;
/// Results larger than this bypass the caches when written: 1.5 x faster for 512 to 512 channels at 8^3.
constexpr std::int64_t kCachedBytes = 4 << 20;
/// Bytes of the sums of two by two blocks for one tap.
constexpr std::int64_t kSquareBytes = 4 * kTileBytes;
constexpr std::int64_t kMostBytes = 32 << 20;

}  // namespace

/// The layout of a plane of x in the ring: [block][copy][row][pair of voxels] lines of 16 channels; copy k is shifted
/// by k along W. Where groups do not cross the ends of rows, two copies serve all taps: tap 2 is copy 0 shifted by one
/// pair. Otherwise there is a copy per tap, and rows follow each other without a gap, so that groups run over their
/// ends: rows then have even length, and voxels after the last one are zero, as are voxels that d_y lacks.
struct WeightGradient::Planes {
  bool by_rows;
  std::int64_t row_pairs, groups;  // of a plane of d_y
  std::int64_t x_row_pairs, copies;
  std::int64_t copy_bytes, block_bytes;

  std::int64_t tap_offset(std::int64_t h, std::int64_t w) const {
    return h * x_row_pairs * kLineBytes + w % copies * copy_bytes + w / copies * kLineBytes;
  }
  /// The byte offset of group g of a plane, tap 0.
  std::int64_t group_offset(std::int64_t g) const {
    const std::int64_t pair = g * kTileRows;
    return (by_rows ? pair / row_pairs * x_row_pairs + pair % row_pairs : pair) * kLineBytes;
  }
};

struct WeightGradient::Buffers {
  StepSize step;
  PlaneRing ring;
  std::byte *d_y, *sums;
  const std::byte** x;
  std::int64_t bytes;
};

WeightGradient::WeightGradient(const WeightGradientSpec& spec)
    : window_(spec.window.lifted()), weights_(lifted_weights(spec.weights)), routines_(&spec.routines) {
  ensure(applies(spec.window), "an AMX weight gradient has stride and dilation 1");
  const std::vector<std::int64_t> parts = source_parts(spec.parts, weights_[3]);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::int64_t c = 0; c < parts[part]; c += kTileRows)
      blocks_.push_back(
          {.part = part, .channel = c, .channels = std::min(kTileRows, parts[part] - c), .first = first + c});
    first += parts[part];
  }
}

std::vector<ChannelRange> WeightGradient::tasks() const {
  const std::int64_t ins = ceil_div(in_blocks(), kTaskBlocks), outs = ceil_div(out_blocks(), kTaskBlocks);
  // Cuts lie between pairs of blocks, because pairs are multiplied together.
  auto cut = [](std::int64_t blocks, std::int64_t i, std::int64_t parts) {
    return std::min(blocks, ceil_div(blocks, 2) * i / parts * 2);
  };
  std::vector<ChannelRange> tasks;
  for (std::int64_t i = 0; i < ins; ++i)
    for (std::int64_t o = 0; o < outs; ++o)
      tasks.push_back({.first_in = cut(in_blocks(), i, ins),
                       .past_in = cut(in_blocks(), i + 1, ins),
                       .first_out = cut(out_blocks(), o, outs),
                       .past_out = cut(out_blocks(), o + 1, outs)});
  return tasks;
}

WeightGradient::Planes WeightGradient::planes(const StepSize& size) const {
  const std::int64_t rows = size.h + window_.kernel[1] - 1, kw = window_.kernel[2];
  Planes p{};
  p.by_rows = size.w % kDepth == 0;
  p.row_pairs = ceil_div(size.w, 2);
  p.groups = ceil_div(size.h * p.row_pairs, kTileRows);
  p.copies = p.by_rows ? std::min<std::int64_t>(kw, 2) : kw;
  p.x_row_pairs = p.row_pairs + (p.by_rows ? (kw - 1) / 2 : 0);
  // lines that the last group reads past the end
  const std::int64_t behind = p.groups * kTileRows - size.h * p.row_pairs;
  p.copy_bytes = (rows * p.x_row_pairs + behind) * kLineBytes;
  p.block_bytes = p.copies * p.copy_bytes;
  return p;
}

WeightGradient::Buffers WeightGradient::buffers(const ChannelRange& range, const Box& d_y, std::int64_t step_voxels,
                                                std::byte* workspace) const {
  Buffers b{};
  b.step = step_size({d_y.extent[1], d_y.extent[2], d_y.extent[3]}, step_voxels);
  // Columns are as wide as a step; the last one may be narrower.
  const Planes p = planes(b.step), last = planes({1, b.step.h, d_y.extent[3] % b.step.w});
  const std::int64_t ins = range.past_in - range.first_in, outs = range.past_out - range.first_out;
  const std::int64_t groups = b.step.d * std::max(p.groups, last.groups);
  std::int64_t used = 0;
  auto carve = [&](std::int64_t bytes) {
    std::byte* at = workspace + used;
    used += aligned(bytes);
    return at;
  };
  b.ring.slots = b.step.d + window_.kernel[0] - 1;
  b.ring.plane_bytes = ins * std::max(p.block_bytes, last.block_bytes);
  b.ring.data = carve(b.ring.slots * b.ring.plane_bytes);
  b.d_y = carve(outs * groups * kTileBytes);
  b.sums = carve(ceil_div(ins, 2) * ceil_div(outs, 2) * window_.volume() * kSquareBytes);
  b.x = reinterpret_cast<const std::byte**>(carve(window_.kernel[0] * groups * 8));
  b.bytes = used;
  return b;
}

WeightGradient::Buffers WeightGradient::buffers(const ChannelRange& range, const Box& d_y, std::byte* workspace) const {
  // The step is chosen for the largest task, so that the order of sums does not depend on the task.
  const ChannelRange largest{0, kTaskBlocks, 0, kTaskBlocks};
  const bool small = d_y.extent[1] * d_y.extent[2] * d_y.extent[3] <= kSmallSampleVoxels;
  std::int64_t voxels = small ? kSmallSampleVoxels : kStepVoxels;
  while (voxels > 1 && buffers(largest, d_y, voxels, nullptr).bytes > kMostBytes) voxels /= 2;
  return buffers(range, d_y, voxels, workspace);
}

std::int64_t WeightGradient::workspace_bytes(const ChannelRange& range, const Box& d_y) const {
  const TensorView view{.data = nullptr, .dtype = DType::kBF16, .box = d_y, .strides = dense_strides(d_y.extent)};
  return buffers(range, view.lifted().box, nullptr).bytes;
}

void WeightGradient::read_x(const WeightGradientCall& call, const Step& step, std::int64_t d, const Planes& p,
                            std::byte* to) const {
  const std::int64_t rows = step.size.h + window_.kernel[1] - 1, row_bytes = p.x_row_pairs * kLineBytes;
  for (std::int64_t i = call.range.first_in; i < call.range.past_in;) {
    const Block& block = blocks_[i];
    std::int64_t count = 0, channels = 0;  // blocks of the same part
    for (; i < call.range.past_in && blocks_[i].part == block.part; ++i, ++count) channels += blocks_[i].channels;
    const TensorView x = call.x[block.part].lifted();
    for (std::int64_t r = 0; r < rows; ++r) {
      const VoxelRow row =
          row_of(x, step.n, d, step.h - window_.pad_lo[1] + r, step.w - window_.pad_lo[2], block.channel, channels);
      routines_->copy_pairs(row, {.data = to + r * row_bytes,
                                  .pairs = p.x_row_pairs,
                                  .copies = p.copies,
                                  .copy_bytes = p.copy_bytes,
                                  .block_bytes = p.block_bytes});
    }
    for (std::int64_t part = 0; part < count * p.copies; ++part)
      std::memset(to + part * p.copy_bytes + rows * row_bytes, 0,
                  static_cast<std::size_t>(p.copy_bytes - rows * row_bytes));
    to += count * p.block_bytes;
  }
}

void WeightGradient::read_d_y(const WeightGradientCall& call, const Step& step, const Planes& p, std::byte* to) const {
  const std::int64_t first = call.range.first_out * kTileRows;
  const std::int64_t channels = std::min(call.range.past_out * kTileRows, weights_[4]) - first;
  const std::int64_t block_bytes = step.size.d * p.groups * kTileBytes, row_bytes = p.row_pairs * kLineBytes;
  for (std::int64_t d = 0; d < step.size.d; ++d) {
    std::byte* plane = to + d * p.groups * kTileBytes;
    for (std::int64_t h = 0; h < step.size.h; ++h) {
      VoxelRow row = row_of(call.d_y, step.n, step.d + d, step.h + h, step.w, first, channels);
      row.past = step.size.w;
      routines_->copy_pairs(row, {.data = plane + h * row_bytes,
                                  .pairs = p.row_pairs,
                                  .copies = 1,
                                  .copy_bytes = 0,
                                  .block_bytes = block_bytes});
    }
    for (std::int64_t o = call.range.first_out; o < call.range.past_out; ++o, plane += block_bytes) {
      std::memset(plane + step.size.h * row_bytes, 0,
                  static_cast<std::size_t>(p.groups * kTileBytes - step.size.h * row_bytes));
      for (std::int64_t g = 0; g < p.groups; ++g)
        routines_->transpose(plane + g * kTileBytes, plane + g * kTileBytes, kLineBytes, false);
    }
  }
}

void WeightGradient::add_step(const WeightGradientCall& call, const Step& step, bool first_step, bool last_step,
                              const Buffers& b) const {
  const Planes p = planes(step.size);
  const std::int64_t kd = window_.kernel[0], kh = window_.kernel[1], kw = window_.kernel[2];
  const std::int64_t first_plane = step.d - window_.pad_lo[0], groups = step.size.d * p.groups;
  for (std::int64_t i = step.begins_column ? 0 : kd - 1; i < step.size.d + kd - 1; ++i)
    read_x(call, step, first_plane + i, p, b.ring.plane(first_plane + i));
  read_d_y(call, step, p, b.d_y);
  for (std::int64_t k = 0; k < kd; ++k)
    for (std::int64_t g = 0; g < groups; ++g)
      b.x[k * groups + g] = b.ring.plane(first_plane + g / p.groups + k) + p.group_offset(g % p.groups);
  const std::int64_t ins = call.range.past_in - call.range.first_in, outs = call.range.past_out - call.range.first_out;
  const bool once = first_step && last_step;  // no sums to keep
  GroupProducts m{};
  std::byte* sums = b.sums;
  for (std::int64_t i = 0; i < ins; i += 2)
    for (std::int64_t o = 0; o < outs; o += 2, sums += once ? 0 : window_.volume() * kSquareBytes) {
      m.d_y[0] = b.d_y + o * groups * kTileBytes;
      m.d_y[1] = o + 1 < outs ? m.d_y[0] + groups * kTileBytes : nullptr;
      m.x_blocks = i + 1 < ins ? 2 : 1;
      for (std::int64_t d = 0; d < kd; ++d)
        for (std::int64_t w = 0; w < kw; ++w) {
          std::byte* column = sums + (d * kw + w) * kh * kSquareBytes;  // its taps stay in a level-1 cache
          m.x = b.x + d * groups;
          for (std::int64_t g = 0; g < groups; g += kRoundGroups)
            for (std::int64_t h = 0; h < kh; ++h) {
              m.offsets[0] = i * p.block_bytes + p.tap_offset(h, w);
              m.offsets[1] = m.offsets[0] + p.block_bytes;
              m.sums = column + h * kSquareBytes;
              routines_->multiply_groups(m, g, std::min(g + kRoundGroups, groups), first_step && g == 0);
            }
          for (std::int64_t h = 0; last_step && h < kh; ++h)
            write(call, (d * kh + h) * kw + w, call.range.first_in + i, call.range.first_out + o,
                  column + h * kSquareBytes);
        }
    }
}

void WeightGradient::write(const WeightGradientCall& call, std::int64_t tap, std::int64_t in, std::int64_t out,
                           const std::byte* sums) const {
  alignas(64) std::byte turned[kTileBytes];
  const std::int64_t ci = weights_[3], co = weights_[4];
  const bool aligned_rows = reinterpret_cast<std::uintptr_t>(call.d_w.data) % kLineBytes == 0 && co % kTileRows == 0;
  for (std::int64_t i = in; i < std::min(in + 2, call.range.past_in); ++i)
    for (std::int64_t o = out; o < std::min(out + 2, call.range.past_out); ++o) {
      const Block& block = blocks_[i];
      const std::byte* tile = sums + ((o - out) * 2 + i - in) * kTileBytes;
      float* to = call.d_w.as<float>() + (tap * ci + block.first) * co + o * kTileRows;
      const std::int64_t channels = std::min(kTileRows, co - o * kTileRows);
      const bool whole = channels == kTileRows && block.channels == kTileRows;
      const bool past_cache = whole && aligned_rows && 4 * element_count(weights_) > kCachedBytes;
      routines_->transpose(tile, whole ? reinterpret_cast<std::byte*>(to) : turned, whole ? 4 * co : kLineBytes,
                           past_cache);
      for (std::int64_t c = 0; !whole && c < block.channels; ++c)
        std::memcpy(to + c * co, turned + c * kLineBytes, static_cast<std::size_t>(4 * channels));
    }
}

void WeightGradient::run(const WeightGradientCall& call) const {
  WeightGradientCall c = call;
  c.d_y = call.d_y.lifted();
  ensure(c.d_w.is_dense() && c.d_w.dtype == DType::kF32 && c.d_y.dtype == DType::kBF16,
         "an AMX weight gradient reads bf16 and has a dense f32 result");
  ensure(blocks_.empty() || c.x.size() > blocks_.back().part, "an AMX weight gradient has the parts of its spec");
  for (const TensorView& x : c.x) ensure(x.dtype == DType::kBF16, "an AMX weight gradient reads bf16");
  if (c.range.past_in <= c.range.first_in || c.range.past_out <= c.range.first_out) return;
  const Buffers b = buffers(c.range, c.d_y.box, call.workspace);
  if (c.d_y.box.empty()) {
    alignas(64) const std::byte nothing[kSquareBytes] = {};
    for (std::int64_t tap = 0; tap < window_.volume(); ++tap)
      for (std::int64_t i = c.range.first_in; i < c.range.past_in; i += 2)
        for (std::int64_t o = c.range.first_out; o < c.range.past_out; o += 2) write(c, tap, i, o, nothing);
    return;
  }
  const Dims last = {c.d_y.box.end(1), c.d_y.box.end(2), c.d_y.box.end(3)};
  bool first = true;
  const TileScope tiles(*routines_);
  for_each_step(c.d_y.box, b.step, [&](const Step& step) {
    const Dims end = {step.d + step.size.d, step.h + step.size.h, step.w + step.size.w};
    add_step(c, step, first, end == last && step.n + 1 == c.d_y.box.end(0), b);
    first = false;
  });
  routines_->end_past_cache();
}

}  // namespace voxshard::amx
