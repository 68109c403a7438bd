// Our own weight gradient: rows of d_y in batches of about 256 voxels, for each batch all taps and channel tiles.
//
// Both operands are packed to f32 panels (weight_grad_tile.h) batch by batch, which also takes care of strides, bf16
// and zero padding. Each batch adds its f32 partial sums to sums in the workspace, batches in row-major order of d_y's
// box: the order of additions is fixed by the block.
#include "libcore/kernels/fast/conv_kernels.h"

#include <algorithm>
#include <cstring>

#include "libcore/kernels/fast/conv_slabs.h"
#include "libcore/kernels/fast/runs.h"
#include "libcore/kernels/fast/weight_grad_tile.h"

namespace voxshard {
namespace fast {
namespace {

constexpr std::int64_t kBatchVoxels = 256;  // x and d_y panels of a tile stay in a 32 KB level-1 cache

class TiledWeightGrad : public Kernel {
 public:
  TiledWeightGrad(const Window& window, const Shape& weights)
      : window_(window.lifted()), weights_(lifted_weights(weights)) {
    tile_in_ = weights_[3] == 1 ? 1 : kTileIn;
    in_panels_ = ceil_div(weights_[3], tile_in_);
    out_panels_ = ceil_div(weights_[4], kTileOut);
  }

  std::string code() const override { return "avx2"; }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const TensorView d_y = conv_view(call.inputs[1]);
    if (d_y.box.empty()) return 0;
    const Batch b = batch_of(d_y.box);
    return aligned_bytes(4 * sum_floats()) + aligned_bytes(4 * b.y_floats) + aligned_bytes(4 * b.x_floats) +
           aligned_bytes(4 * weights_[3]);
  }

  void run(const KernelCall& call) const override {
    const TensorView x = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    const TensorView d_w = dense_view(call.output.data, call.output.dtype, Box::whole(weights_));
    ensure(call.output.is_dense(), "a weight gradient is dense");
    if (d_y.box.empty()) return fill_zero(d_w);
    const Batch b = batch_of(d_y.box);
    auto* sums = reinterpret_cast<float*>(call.workspace);
    auto* y_panels = reinterpret_cast<float*>(call.workspace + aligned_bytes(4 * sum_floats()));
    auto* x_panels = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(y_panels) + aligned_bytes(4 * b.y_floats));
    auto* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(x_panels) + aligned_bytes(4 * b.x_floats));
    std::fill(sums, sums + sum_floats(), 0.0F);
    const Box& box = d_y.box;
    for (std::int64_t n = box.begin[0]; n < box.end(0); ++n)
      for (std::int64_t d = box.begin[1]; d < box.end(1); ++d)
        for (std::int64_t h = box.begin[2]; h < box.end(2); h += b.rows)
          for (std::int64_t w = box.begin[3]; w < box.end(3); w += b.voxels) {
            Box part = sample_of(box, n);
            part.set(1, d, d + 1);
            part.set(2, h, std::min(h + b.rows, box.end(2)));
            part.set(3, w, std::min(w + b.voxels, box.end(3)));
            add_batch(x, d_y, part, x_panels, y_panels, row, sums);
          }
    write(sums, d_w);
  }

 private:
  struct Batch {
    std::int64_t rows, voxels;        // of d_y; voxels cuts rows that are longer than a batch
    std::int64_t y_floats, x_floats;  // of the packed panels
  };

  Batch batch_of(const Box& box) const {
    Batch b{};
    b.voxels = std::min(box.extent[3], kBatchVoxels);
    b.rows = std::clamp<std::int64_t>(kBatchVoxels / b.voxels, 1, box.extent[2]);
    b.y_floats = b.rows * b.voxels * out_panels_ * kTileOut;
    b.x_floats = read_extent(1, b.rows) * read_extent(2, b.voxels) * in_panels_ * tile_in_;
    return b;
  }

  std::int64_t read_extent(int axis, std::int64_t outputs) const {
    return (outputs - 1) * window_.stride[axis] + window_.span(axis);
  }

  std::int64_t sum_floats() const { return window_.volume() * in_panels_ * tile_in_ * out_panels_ * kTileOut; }

  /// Packs `box` of `view` (zero outside of what it holds) as panels [panel][row of H][voxel of W][tile] of one plane.
  static void pack_panels(const TensorView& view, const Box& box, std::int64_t tile, float* row, float* panels) {
    const std::int64_t channels = box.extent[4], whole = channels / tile * tile;
    const std::int64_t panel_floats = box.extent[2] * box.extent[3] * tile;
    const std::int64_t count = ceil_div(channels, tile);
    const Box held = intersect(box, view.box);
    if (held.count() < box.count() || channels % tile != 0) std::fill(panels, panels + count * panel_floats, 0.0F);
    if (held.empty()) return;
    for_each_row(held, [&](const Dims& at) {
      const std::int64_t voxel = (at[2] - box.begin[2]) * box.extent[3] + at[3] - box.begin[3];
      const std::int64_t from = offset_at(view, at);
      const float* values = row;
      if (view.dtype == DType::kF32) {
        values = view.as<float>() + from;
      } else if (view.dtype == DType::kBF16) {
        const BF16* narrow = view.as<BF16>() + from;
        for (std::int64_t c = 0; c < channels; ++c) row[c] = to_f32(narrow[c]);
      } else {
        for (std::int64_t c = 0; c < channels; ++c) row[c] = static_cast<float>(load(view, from + c));
      }
      float* to = panels + voxel * tile;
      std::int64_t c = 0;
      if (tile == kTileOut) {
        for (; c < whole; c += kTileOut, to += panel_floats) std::memcpy(to, values + c, sizeof(float) * kTileOut);
      } else if (tile == kTileIn) {
        for (; c < whole; c += kTileIn, to += panel_floats) std::memcpy(to, values + c, sizeof(float) * kTileIn);
      } else {
        for (; c < whole; ++c, to += panel_floats) *to = values[c];
      }
      if (c < channels) std::memcpy(to, values + c, sizeof(float) * static_cast<std::size_t>(channels - c));
    });
  }

  /// Adds the outputs in `part` (one plane) to the sums [kd][in panel][out panel][kh][kw][tile_in][16].
  void add_batch(const TensorView& x, const TensorView& d_y, const Box& part, float* x_panels, float* y_panels,
                 float* row, float* sums) const {
    Box y_box = part;
    y_box.set(4, 0, weights_[4]);
    pack_outputs(d_y, y_box, y_panels);
    Box read = part;
    read.set(4, 0, weights_[3]);
    for (int a = 1; a < 3; ++a) {
      const std::int64_t first = part.begin[a + 1] * window_.stride[a] - window_.pad_lo[a];
      read.set(a + 1, first, first + read_extent(a, part.extent[a + 1]));
    }
    const std::int64_t taps = window_.kernel[1] * window_.kernel[2], x_row = read.extent[3] * tile_in_;
    const std::int64_t x_panel = read.extent[2] * x_row, y_panel = part.extent[2] * part.extent[3] * kTileOut;
    const TileShape shape{.rows = part.extent[2],
                          .voxels = part.extent[3],
                          .x_row = window_.stride[1] * x_row,
                          .x_voxel = window_.stride[2] * tile_in_,
                          .y_row = part.extent[3] * kTileOut};
    for (std::int64_t kd = 0; kd < window_.kernel[0]; ++kd) {
      const std::int64_t plane = part.begin[1] * window_.stride[0] - window_.pad_lo[0] + kd * window_.dilation[0];
      float* sum = sums + kd * in_panels_ * out_panels_ * taps * tile_in_ * kTileOut;
      if (plane < x.box.begin[1] || plane >= x.box.end(1)) continue;  // all zero
      read.set(1, plane, plane + 1);
      pack_panels(x, read, tile_in_, row, x_panels);
      for (std::int64_t i = 0; i < in_panels_; ++i)
        for (std::int64_t o = 0; o < out_panels_; ++o)
          for (std::int64_t kh = 0; kh < window_.kernel[1]; ++kh)
            for (std::int64_t kw = 0; kw < window_.kernel[2]; ++kw, sum += tile_in_ * kTileOut) {
              const float* from =
                  x_panels + i * x_panel + kh * window_.dilation[1] * x_row + kw * window_.dilation[2] * tile_in_;
              const float* grad = y_panels + o * y_panel;
              tile_in_ == 1 ? add_scaled_rows(from, grad, shape, sum) : add_outer_products(from, grad, shape, sum);
            }
    }
  }

  /// d_y in panels of 16 channels.
  void pack_outputs(const TensorView& d_y, const Box& box, float* panels) const {
    const std::int64_t voxels = box.extent[2] * box.extent[3];
    for (std::int64_t o = 0; o < out_panels_; ++o) {
      float row[kTileOut];
      Box slice = box;
      slice.set(4, o * kTileOut, std::min((o + 1) * kTileOut, weights_[4]));
      pack_panels(d_y, slice, kTileOut, row, panels + o * voxels * kTileOut);
    }
  }

  void write(const float* sums, const TensorView& d_w) const {
    const std::int64_t ci = weights_[3], co = weights_[4], taps = window_.kernel[1] * window_.kernel[2];
    for (std::int64_t kd = 0; kd < window_.kernel[0]; ++kd)
      for (std::int64_t i = 0; i < in_panels_; ++i)
        for (std::int64_t o = 0; o < out_panels_; ++o)
          for (std::int64_t tap = 0; tap < taps; ++tap, sums += tile_in_ * kTileOut)
            for (std::int64_t c = 0; c < std::min(tile_in_, ci - i * tile_in_); ++c) {
              const std::int64_t at = ((kd * taps + tap) * ci + i * tile_in_ + c) * co + o * kTileOut;
              const std::int64_t count = std::min(kTileOut, co - o * kTileOut);
              if (d_w.dtype == DType::kF32) {
                std::memcpy(d_w.as<float>() + at, sums + c * kTileOut, sizeof(float) * static_cast<std::size_t>(count));
              } else {
                for (std::int64_t j = 0; j < count; ++j)
                  store(d_w, at + j, static_cast<double>(sums[c * kTileOut + j]));
              }
            }
  }

  Window window_;
  Shape weights_;
  std::int64_t tile_in_ = kTileIn, in_panels_ = 0, out_panels_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_tiled_weight_grad(const Window& window, const Shape& weights) {
  return std::make_unique<TiledWeightGrad>(window, weights);
}

}  // namespace fast
}  // namespace voxshard
