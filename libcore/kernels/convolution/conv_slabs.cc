// The cut of a convolution into slabs, and the memory of their operands; the interface and the idea are in
// conv_slabs.h.
//
// A slab is the whole sample when both sides are used in place, else planes of D (or rows of H) of about 16 MB of
// scratch. Workspace of a call: bias | packed source | result | reordered weights | scratch of the library, each on 64
// bytes.
#include "libcore/kernels/convolution/conv_slabs.h"

#include <algorithm>
#include <cstring>

#include "libcore/kernels/conv.h"
#include "libcore/kernels/pointwise.h"
#include "libcore/tensor/rows.h"

namespace voxshard::fast {
namespace {

constexpr std::int64_t kSlabBytes = 16 << 20;  // target for packed source + result of one slab, in f32
// with the library's scratch and reordered weights; smaller slabs if need be
constexpr std::int64_t kMostWorkspace = 32 << 20;

constexpr std::int64_t kChannelsPerPack[] = {64, 96};  // multiples of the library's usual blocks, such as 64 or 48

std::int64_t bytes_of(const Box& box, DType type) { return aligned_bytes(box.count() * dtype_bytes(type)); }

Dims voxels_and_channels(const Box& box) { return {box.extent[1], box.extent[2], box.extent[3], box.extent[4]}; }

}  // namespace

SlabConv::SlabConv(const Window& window, const Shape& weights, DType dtype, const Dims& usual)
    : window_(window), weights_(weights) {
  // One nominal geometry determines the order of the weights for all.
  ConvGeometry g{.src = {}, .dst = {usual[0], usual[1], usual[2], weights[4]}, .window = window_, .bias = true};
  for (int a = 0; a < 3; ++a) g.src.push_back((g.dst[a] - 1) * window.stride[a] + window.span(a));
  g.src.push_back(weights[3]);
  std::shared_ptr<const LibraryConv> conv;
  if (dtype == DType::kBF16 && cpu_has_native_bf16()) {
    g.compute = g.dst_type = DType::kBF16;
    conv = LibraryConv::forward(g, nullptr, false);
    if (conv != nullptr) compute_ = DType::kBF16;
    g.compute = g.dst_type = DType::kF32;
  }
  if (conv == nullptr) conv = LibraryConv::forward(g, nullptr, false);
  if (conv == nullptr) conv = LibraryConv::forward(g, nullptr, true);
  if (conv == nullptr) return;
  layout_ = conv->weights();
  code_ = conv->name();
  for (std::int64_t channels : kChannelsPerPack)
    if (weights[4] % channels == 0 && layout_.keeps_apart(weights, channels)) {
      pack_tasks_ = weights[4] / channels;
      return;
    }
}

std::int64_t SlabConv::programs() const {
  const std::scoped_lock lock(mutex_);
  return std::max<std::int64_t>(1, std::ssize(plans_));
}

std::int64_t SlabConv::packed_bytes() const { return layout_.empty() ? 4 * element_count(weights_) : layout_.bytes(); }

void SlabConv::pack(const std::byte* plain, DType type, const Dims& strides, std::byte* packed,
                    std::int64_t task) const {
  if (pack_tasks_ > 1)
    return layout_.pack_channels(plain, type, weights_, strides, packed, task * pack_channels(), pack_channels());
  if (!layout_.empty()) return layout_.pack(plain, type, weights_, strides, packed);
  const TensorView from{const_cast<std::byte*>(plain), type, Box::whole(weights_), strides};
  const TensorView to = dense_view(packed, DType::kF32, from.box);
  for_each_row(from.box, [&](const Dims& at) {
    for (std::int64_t o = 0; o < weights_[4]; ++o)
      store(to, offset_at(to, at) + o, load(from, offset_at(from, at) + o * strides[4]));
  });
}

Box SlabConv::read_box(const Box& out) const {
  Box read = out;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t first = out.begin[a + 1] * window_.stride[a] - window_.pad_lo[a];
    const std::int64_t last = (out.end(a + 1) - 1) * window_.stride[a] - window_.pad_lo[a];
    read.set(a + 1, first, last + window_.span(a));
  }
  read.set(4, 0, weights_[3]);
  return read;
}

SlabConv::Plan SlabConv::make_plan(ConvGeometry g) const {
  if (layout_.empty()) return {};
  for (const WeightsLayout* wanted : {&layout_, static_cast<const WeightsLayout*>(nullptr)}) {
    auto conv = LibraryConv::forward(g, wanted, false);
    if (conv != nullptr) return {conv, g.compute, !conv->weights().same_as(layout_)};
  }
  if (g.compute == DType::kBF16) {  // fall back to f32 on converted copies
    g.compute = DType::kF32;
    auto conv = LibraryConv::forward(g, nullptr, false);
    if (conv != nullptr) return {conv, g.compute, true};
  }
  auto conv = LibraryConv::forward(g, nullptr, true);
  if (conv != nullptr) return {conv, g.compute, !conv->weights().same_as(layout_)};
  return {};
}

SlabConv::Plan SlabConv::plan(const Box& slab, DType dst_type) const {
  const ConvGeometry g{.src = voxels_and_channels(read_box(slab)),
                       .dst = voxels_and_channels(slab),
                       .window = window_,
                       .compute = compute_,
                       .dst_type = dst_type,
                       .bias = true};
  const std::scoped_lock lock(mutex_);
  const auto found = plans_.find(g.key());
  if (found != plans_.end()) return found->second;
  return plans_.emplace(g.key(), make_plan(g)).first->second;
}

DType SlabConv::dst_type(const SlabIo& io) const {
  return compute_ == DType::kBF16 && io.out_type == DType::kBF16 ? DType::kBF16 : DType::kF32;
}

void SlabConv::for_each_slab(const SlabIo& io, const std::function<void(const Box&)>& body) const {
  if (io.out.empty()) return;
  for (std::int64_t n = io.out.begin[0]; n < io.out.end(0); ++n) {
    const Box sample = sample_of(io.out, n);
    TensorView unused;
    const bool in_place = io.source(read_box(sample), compute_, unused) && io.target(sample, dst_type(io), unused);
    if (in_place && need(io, sample).bytes() <= kMostWorkspace) {
      body(sample);
      continue;
    }
    // Slabs are planes of D while one fits, else rows of H of single planes. Fixed by shape.
    Box part = sample;
    part.set(1, sample.begin[1], sample.begin[1] + 1);
    const std::int64_t plane = 4 * (read_box(part).count() / (window_.span(0)) * window_.stride[0] + part.count());
    std::int64_t planes = std::max<std::int64_t>(1, kSlabBytes / std::max<std::int64_t>(1, plane));
    std::int64_t rows = part.extent[2];
    if (plane > kSlabBytes) {
      part.set(2, sample.begin[2], sample.begin[2] + 1);
      rows = std::max<std::int64_t>(
          1, kSlabBytes / (4 * (read_box(part).count() / window_.span(1) * window_.stride[1] + part.count())));
    }
    planes = std::min(planes, sample.extent[1]);
    rows = std::min(rows, sample.extent[2]);
    auto first_slab = [&] {
      Box slab = sample;
      slab.set(1, sample.begin[1], sample.begin[1] + planes);
      slab.set(2, sample.begin[2], sample.begin[2] + rows);
      return slab;
    };
    while (planes * rows > 1 && need(io, first_slab()).bytes() > kMostWorkspace) {
      std::int64_t& largest = planes > 1 ? planes : rows;
      largest = (largest + 1) / 2;
    }
    for (std::int64_t d = sample.begin[1]; d < sample.end(1); d += planes)
      for (std::int64_t h = sample.begin[2]; h < sample.end(2); h += rows) {
        Box slab = sample;
        slab.set(1, d, std::min(d + planes, sample.end(1)));
        slab.set(2, h, std::min(h + rows, sample.end(2)));
        body(slab);
      }
  }
}

SlabConv::Need SlabConv::need(const SlabIo& io, const Box& slab) const {
  const Plan p = plan(slab, dst_type(io));
  const Box read = read_box(slab);
  TensorView unused;
  Need n;
  if (!io.source(read, p.compute, unused)) n.src = bytes_of(read, p.compute);
  if (!io.target(slab, dst_type(io), unused)) n.dst = bytes_of(slab, dst_type(io));
  if (p.conv == nullptr) {
    n.weights = aligned_bytes(4 * element_count(weights_));
  } else {
    if (p.repack) n.weights = aligned_bytes(p.conv->weights().bytes());
    n.scratch = aligned_bytes(p.conv->scratch_bytes());
  }
  return n;
}

std::int64_t SlabConv::workspace_bytes(const SlabIo& io) const {
  std::int64_t most = 0;
  for_each_slab(io, [&](const Box& slab) {
    const Need n = need(io, slab);
    most = std::max(most, n.bytes());
  });
  return most + aligned_bytes(4 * weights_[4]);
}

void SlabConv::run(const SlabIo& io, const std::byte* packed, const TensorView* bias, std::byte* workspace) const {
  if (io.out.empty()) return;
  ensure(packed != nullptr, "a convolution kernel runs after its weights were packed");
  auto* bias_f32 = reinterpret_cast<float*>(workspace);
  for (std::int64_t o = 0; o < weights_[4]; ++o)
    bias_f32[o] = bias == nullptr ? 0.0F : static_cast<float>(load(*bias, o % bias->count()));
  workspace += aligned_bytes(4 * weights_[4]);

  for_each_slab(io, [&](const Box& slab) {
    const Plan p = plan(slab, dst_type(io));
    const Need n = need(io, slab);
    const Box read = read_box(slab);
    std::byte *src_part = workspace, *dst_part = src_part + n.src, *weights_part = dst_part + n.dst,
              *scratch = weights_part + n.weights;
    TensorView src, dst;
    if (!io.source(read, p.compute, src)) {
      src = dense_view(src_part, p.compute, read);
      io.fill(src);
    }
    const bool in_place = io.target(slab, dst_type(io), dst);
    if (!in_place) dst = dense_view(dst_part, dst_type(io), slab);
    const std::byte* weights = packed;
    if (p.conv == nullptr) {
      if (!layout_.empty()) {
        layout_.unpack(packed, weights_, reinterpret_cast<float*>(weights_part));
        weights = weights_part;
      }
      const TensorView w = dense_view(const_cast<std::byte*>(weights), DType::kF32, Box::whole(weights_));
      const TensorView b = dense_view(bias_f32, DType::kF32, Box::whole({weights_[4]}));
      reference::conv_forward(src, w, &b, dst, window_);
    } else {
      if (p.repack) {
        p.conv->weights().repack(layout_, packed, weights_part);
        weights = weights_part;
      }
      p.conv->run_forward(src.data, weights, bias_f32, dst.data, scratch);
    }
    if (!in_place) io.emit(dst);
  });
}

Dims usual_slab(const Window& window, const Shape& over, const Dims& stride) {
  constexpr int kImages = 4;                 // number of axes of (N, H, W, C)
  constexpr std::int64_t kUsualBlocks = 16;  // blocks that a layer is usually cut into
  if (over.axes() != kImages || window.volume() > 1) return {4, 16, 32};
  return {1, ceil_div(ceil_div(over[1], stride[1]), kUsualBlocks), ceil_div(over[2], stride[2])};
}

TensorView every(const TensorView& view, const Dims& step, const Dims& offset) {
  TensorView part = view;
  std::int64_t skipped = 0;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t first = ceil_div(view.box.begin[a + 1] - offset[a], step[a]);
    part.box.set(a + 1, first, ceil_div(view.box.end(a + 1) - offset[a], step[a]));
    part.strides[a + 1] = view.strides[a + 1] * step[a];
    skipped += (first * step[a] + offset[a] - view.box.begin[a + 1]) * view.strides[a + 1];
  }
  if (part.data != nullptr && !part.box.empty()) part.data += skipped * dtype_bytes(view.dtype);
  return part;
}

bool use_in_place(const TensorView& view, const Box& box, DType type, TensorView& part) {
  if (view.dtype != type || !view.box.contains(box) || box.empty()) return false;
  part = view.sub(box);
  return part.is_dense();
}

void fill_from(const TensorView& from, const TensorView& to) {
  if (!from.box.contains(to.box)) std::memset(to.data, 0, static_cast<std::size_t>(to.bytes()));
  const Box held = intersect(from.box, to.box);
  if (!held.empty()) pointwise.convert(from.sub(held), to.sub(held));
}

void fill_from_parts(std::span<const TensorView> parts, const TensorView& to) {
  std::int64_t channel = 0;
  for (const TensorView& part : parts) {
    Box slice = to.box;
    slice.set(4, channel, channel + part.extent()[4]);
    TensorView target = to.sub(slice);
    target.box.begin[4] = 0;
    channel += part.extent()[4];
    if (!part.box.contains(target.box)) fill_zero(target);
    const Box held = intersect(part.box, target.box);
    if (!held.empty()) pointwise.convert(part.sub(held), target.sub(held));
  }
}

bool is_patch_window(const Window& window) {
  for (int a = 0; a < 3; ++a)
    if (window.kernel[a] != window.stride[a] || (window.kernel[a] > 1 && window.dilation[a] != 1)) return false;
  return window.volume() > 1;
}

namespace {

/// Calls body(part of rows, part of x) for each tap, in equal boxes counted in outputs o with channels from 0.
template <class Body>
void for_each_tap(const TensorView& rows, const Window& window, const TensorView& x, Body body) {
  const std::int64_t channels = x.extent()[4];
  std::int64_t tap = 0;
  for (std::int64_t kd = 0; kd < window.kernel[0]; ++kd)
    for (std::int64_t kh = 0; kh < window.kernel[1]; ++kh)
      for (std::int64_t kw = 0; kw < window.kernel[2]; ++kw, ++tap) {
        const TensorView grid =
            every(x, window.stride, {kd - window.pad_lo[0], kh - window.pad_lo[1], kw - window.pad_lo[2]});
        Box wanted = rows.box;
        wanted.set(4, 0, channels);
        const Box common = intersect(wanted, grid.box);
        if (common.empty()) continue;
        Box slice = common;
        slice.set(4, tap * channels, (tap + 1) * channels);
        TensorView part = rows.sub(slice);
        part.box = common;
        body(part, grid.sub(common));
      }
}

}  // namespace

void gather_patches(const TensorView& x, const Window& window, const TensorView& rows) {
  std::memset(rows.data, 0, static_cast<std::size_t>(rows.bytes()));
  for_each_tap(rows, window, x, [](const TensorView& part, const TensorView& grid) { pointwise.convert(grid, part); });
}

void scatter_patches(const TensorView& rows, const Window& window, const TensorView& x) {
  for_each_tap(rows, window, x, [](const TensorView& part, const TensorView& grid) { pointwise.convert(part, grid); });
}

}  // namespace voxshard::fast
