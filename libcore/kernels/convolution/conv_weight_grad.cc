// Voxshard's own weight gradient: columns of d_y's planes in batches of about 256 voxels, for each batch all taps and
// channel tiles.
//
// Both operands are packed to f32 panels (weight_grad_tile.h) batch by batch, which also handles strides, bf16 and zero
// padding; the planes of x that the window spans stay packed while a column is traversed plane by plane. With few
// channels the taps along W lie beside each other in a row of x, (tap, channel), and form one panel: 7 taps of 3
// channels are 21 values. Each batch adds its f32 partial sums to sums in the workspace, columns in row-major order of
// d_y's box: the order of additions is fixed by the block.
#include "libcore/kernels/convolution/conv_kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "libcore/kernels/convolution/conv_slabs.h"
#include "libcore/kernels/convolution/weight_grad_tile.h"
#include "libcore/kernels/fast/runs.h"

namespace voxshard {
namespace fast {
namespace {

constexpr std::int64_t kBatchVoxels = 256;    // x and d_y panels of a tile stay in a 32 KB level-1 cache
constexpr std::int64_t kOutPanelsAtOnce = 2;  // d_y panels that stay there while all panels of x are read
constexpr std::int64_t kPanelGap = kTileOut;  // panels a power of two apart would share few cache sets
constexpr std::int64_t kNoPlane = std::numeric_limits<std::int64_t>::min();

struct Panels {
  std::int64_t tile, floats, count;  // channels of a panel, floats from one panel to the next, number of panels
};

template <std::int64_t kTile>
void scatter_tiles(const float* values, std::int64_t whole, std::int64_t step, float* to) {
  for (std::int64_t c = 0; c < whole; c += kTile, to += step) std::memcpy(to, values + c, sizeof(float) * kTile);
}

/// Returns the channels of the voxel at `from`, in place or converted in `row`.
const float* channels_at(const TensorView& view, std::int64_t from, std::int64_t channels, float* row) {
  if (view.dtype == DType::kF32) return view.as<float>() + from;
  if (view.dtype == DType::kBF16) {
    const BF16* narrow = view.as<BF16>() + from;
    for (std::int64_t c = 0; c < channels; ++c) row[c] = to_f32(narrow[c]);
  } else {
    for (std::int64_t c = 0; c < channels; ++c) row[c] = static_cast<float>(load(view, from + c));
  }
  return row;
}

/// Copies one voxel's channels to its place in each panel.
void scatter(const float* values, std::int64_t channels, const Panels& to, float* first) {
  const std::int64_t whole = channels / to.tile * to.tile;
  if (to.tile == kTileOut)
    scatter_tiles<kTileOut>(values, whole, to.floats, first);
  else if (to.tile == kTileIn)
    scatter_tiles<kTileIn>(values, whole, to.floats, first);
  else
    std::memcpy(first, values, sizeof(float) * static_cast<std::size_t>(whole));  // one panel
  if (whole < channels)
    std::memcpy(first + whole / to.tile * to.floats, values + whole,
                sizeof(float) * static_cast<std::size_t>(channels - whole));
}

/// Packs `box` of `view` (zero outside the view) as panels [panel][row of H][voxel of W][tile] of one plane.
///   row  scratch for the channels of a voxel
void pack_panels(const TensorView& view, const Box& box, const Panels& to, float* row, float* panels) {
  const std::int64_t channels = box.extent[4];
  const Box held = intersect(box, view.box);
  if (held.count() < box.count() || channels % to.tile != 0) std::fill(panels, panels + to.count * to.floats, 0.0F);
  if (held.empty()) return;
  const bool as_it_lies = to.tile == channels && view.dtype == DType::kF32 && view.strides[3] == channels;
  Box starts = held;  // first voxels of the rows along W
  starts.set(3, held.begin[3], held.begin[3] + 1);
  for_each_row(starts, [&](const Dims& at) {
    std::int64_t from = offset_at(view, at);
    float* first = panels + ((at[2] - box.begin[2]) * box.extent[3] + at[3] - box.begin[3]) * to.tile;
    if (as_it_lies) {
      std::memcpy(first, view.as<float>() + from, sizeof(float) * static_cast<std::size_t>(held.extent[3] * channels));
      return;
    }
    for (std::int64_t w = 0; w < held.extent[3]; ++w, from += view.strides[3], first += to.tile)
      scatter(channels_at(view, from, channels, row), channels, to, first);
  });
}

class TiledWeightGrad : public Kernel {
 public:
  TiledWeightGrad(const Window& window, const Shape& weights)
      : whole_(window.lifted()),
        window_(skips_voxels(whole_) ? unit_window() : whole_),
        weights_(lifted_weights(weights)),
        folds_(weights_[3] < kTileIn && window_.dilation[2] == 1),
        tile_in_(folds_ ? weights_[3] : kTileIn),
        panel_rows_(folds_ ? window_.kernel[2] * weights_[3] : kTileIn),
        taps_(folds_ ? window_.kernel[1] : window_.kernel[1] * window_.kernel[2]),
        in_panels_(ceil_div(weights_[3], tile_in_)),
        out_panels_(ceil_div(weights_[4], kTileOut)) {}

  std::string code() const override { return std::string("tiles:") + outer_products_code(); }

  std::int64_t workspace_bytes(const KernelCall& call) const override {
    const TensorView d_y = conv_view(call.inputs[1]);
    if (d_y.box.empty()) return 0;
    const Batch b = batch_of(d_y.box);
    return aligned_bytes(4 * sum_floats()) + aligned_bytes(4 * b.y_floats()) + aligned_bytes(4 * b.x_floats()) +
           aligned_bytes(4 * row_floats());
  }

  void run(const KernelCall& call) const override {
    const TensorView held = conv_view(call.inputs[0]), d_y = conv_view(call.inputs[1]);
    const Dims& pad = whole_.pad_lo;
    const TensorView x = skips_voxels(whole_) ? every(held, whole_.stride, {-pad[0], -pad[1], -pad[2]}) : held;
    const TensorView d_w = dense_view(call.output.data, call.output.dtype, Box::whole(weights_));
    ensure(call.output.is_dense(), "a weight gradient is dense");
    if (d_y.box.empty()) return fill_zero(d_w);
    const Batch b = batch_of(d_y.box);
    const auto floats = [at = call.workspace](std::int64_t count) mutable {
      auto* begin = reinterpret_cast<float*>(at);
      at += aligned_bytes(4 * count);
      return begin;
    };
    Buffers to = carve(b, floats);
    std::fill(to.sums, to.sums + sum_floats(), 0.0F);
    const Box& box = d_y.box;
    for (std::int64_t n = box.begin[0]; n < box.end(0); ++n)
      for (std::int64_t h = box.begin[2]; h < box.end(2); h += b.rows)
        for (std::int64_t w = box.begin[3]; w < box.end(3); w += b.voxels) {
          Box part = sample_of(box, n);
          part.set(2, h, std::min(h + b.rows, box.end(2)));
          part.set(3, w, std::min(w + b.voxels, box.end(3)));
          add_column(x, d_y, part, b, to);
        }
    write(to.sums, d_w);
  }

 private:
  struct Batch {
    std::int64_t rows, voxels;               // of d_y; `voxels` cuts rows that are longer than a batch
    std::int64_t y_panel, x_panel, x_plane;  // floats of the packed panels, and of all of a plane of x
    std::int64_t y_panels, x_planes;         // numbers of panels and planes
    std::int64_t y_floats() const { return y_panels * y_panel; }
    std::int64_t x_floats() const { return x_planes * x_plane; }
  };
  struct Buffers {
    float *sums, *y_panels, *x_panels, *row;
  };

  template <class Floats>
  Buffers carve(const Batch& b, Floats floats) const {
    Buffers to{};
    to.sums = floats(sum_floats());
    to.y_panels = floats(b.y_floats());
    to.x_panels = floats(b.x_floats());
    to.row = floats(row_floats());
    return to;
  }

  Batch batch_of(const Box& box) const {
    Batch b{};
    b.voxels = std::min(box.extent[3], kBatchVoxels);
    b.rows = std::clamp<std::int64_t>(kBatchVoxels / b.voxels, 1, box.extent[2]);
    b.y_panels = out_panels_, b.x_planes = window_.span(0);
    b.y_panel = b.rows * b.voxels * kTileOut + kPanelGap;
    b.x_panel = read_extent(1, b.rows) * read_extent(2, b.voxels) * tile_in_ + kPanelGap;
    b.x_plane = in_panels_ * b.x_panel;
    return b;
  }

  std::int64_t read_extent(int axis, std::int64_t outputs) const {
    return (outputs - 1) * window_.stride[axis] + window_.span(axis);
  }

  std::int64_t row_floats() const { return std::max(weights_[3], weights_[4]); }
  std::int64_t tap_floats() const { return panel_rows_ * kTileOut; }
  std::int64_t sum_floats() const { return window_.kernel[0] * out_panels_ * in_panels_ * taps_ * tap_floats(); }

  /// Adds the planes of d_y in a column of rows and voxels, one after the other.
  void add_column(const TensorView& x, const TensorView& d_y, const Box& column, const Batch& b,
                  const Buffers& to) const {
    std::vector<std::int64_t> held(static_cast<std::size_t>(b.x_planes), kNoPlane);  // the plane of x in each place
    Box read = column;
    read.set(4, 0, weights_[3]);
    for (int a = 1; a < 3; ++a) {
      const std::int64_t first = column.begin[a + 1] * window_.stride[a] - window_.pad_lo[a];
      read.set(a + 1, first, first + read_extent(a, column.extent[a + 1]));
    }
    for (std::int64_t d = column.begin[1]; d < column.end(1); ++d) {
      Box part = column;
      part.set(1, d, d + 1);
      part.set(4, 0, weights_[4]);
      pack_panels(d_y, part, {kTileOut, b.y_panel, out_panels_}, to.row, to.y_panels);
      for (std::int64_t kd = 0; kd < window_.kernel[0]; ++kd) {
        const std::int64_t plane = d * window_.stride[0] - window_.pad_lo[0] + kd * window_.dilation[0];
        if (plane < x.box.begin[1] || plane >= x.box.end(1)) continue;  // all zero
        const std::int64_t place = plane - floor_div(plane, b.x_planes) * b.x_planes;
        float* panels = to.x_panels + place * b.x_plane;
        if (std::int64_t& known = held[place]; known != plane) {
          known = plane;
          read.set(1, plane, plane + 1);
          pack_panels(x, read, {tile_in_, b.x_panel, in_panels_}, to.row, panels);
        }
        add_plane(panels, part, kd, b, to);
      }
    }
  }

  /// Adds the products of one plane of x with the outputs in `part` to the sums [kd][out panel][in
  /// panel][tap][row][16].
  void add_plane(const float* x_panels, const Box& part, std::int64_t kd, const Batch& b, const Buffers& to) const {
    const std::int64_t x_row = read_extent(2, part.extent[3]) * tile_in_, panel = in_panels_ * taps_ * tap_floats();
    const std::int64_t taps_w = taps_ / window_.kernel[1];
    OuterProductsOfPanels p{.out_panel = b.y_panel,
                            .rows = part.extent[2],
                            .voxels = part.extent[3],
                            .x_row = window_.stride[1] * x_row,
                            .x_voxel = window_.stride[2] * tile_in_,
                            .y_row = part.extent[3] * kTileOut,
                            .sums_panel = panel};
    for (std::int64_t o = 0; o < out_panels_; o += kOutPanelsAtOnce) {
      p.out_panels = std::min(kOutPanelsAtOnce, out_panels_ - o);
      p.d_y = to.y_panels + o * b.y_panel;
      p.sums = to.sums + (kd * out_panels_ + o) * panel;
      for (std::int64_t i = 0; i < in_panels_; ++i) {
        p.channels = folds_ ? panel_rows_ : std::min(kTileIn, weights_[3] - i * kTileIn);
        for (std::int64_t kh = 0; kh < window_.kernel[1]; ++kh)
          for (std::int64_t kw = 0; kw < taps_w; ++kw, p.sums += tap_floats()) {
            p.x = x_panels + i * b.x_panel + kh * window_.dilation[1] * x_row + kw * window_.dilation[2] * tile_in_;
            add_outer_products(p);
          }
      }
    }
  }

  void write(const float* sums, const TensorView& d_w) const {
    const std::int64_t ci = weights_[3], co = weights_[4], taps = window_.kernel[1] * window_.kernel[2];
    const std::int64_t taps_of_row = taps / taps_;  // taps folded into a row
    for (std::int64_t kd = 0; kd < window_.kernel[0]; ++kd)
      for (std::int64_t o = 0; o < out_panels_; ++o)
        for (std::int64_t i = 0; i < in_panels_; ++i)
          for (std::int64_t tap = 0; tap < taps_; ++tap, sums += tap_floats())
            for (std::int64_t row = 0; row < std::min(panel_rows_, taps_of_row * (ci - i * tile_in_)); ++row) {
              const std::int64_t weights_row = (kd * taps + tap * taps_of_row) * ci + i * tile_in_ + row;
              const std::int64_t at = weights_row * co + o * kTileOut, count = std::min(kTileOut, co - o * kTileOut);
              if (d_w.dtype == DType::kF32) {
                std::memcpy(d_w.as<float>() + at, sums + row * kTileOut,
                            sizeof(float) * static_cast<std::size_t>(count));
              } else {
                for (std::int64_t j = 0; j < count; ++j)
                  store(d_w, at + j, static_cast<double>(sums[row * kTileOut + j]));
              }
            }
  }

  Window whole_, window_;  // as given; relative to the packed planes
  Shape weights_;
  bool folds_;                         // the taps along W are rows of one panel
  std::int64_t tile_in_, panel_rows_;  // channels per voxel in a panel, and rows of its sums
  std::int64_t taps_;                  // taps of a plane; folded ones count once
  std::int64_t in_panels_, out_panels_;
};

}  // namespace

std::unique_ptr<Kernel> make_tiled_weight_grad(const Window& window, const Shape& weights) {
  return std::make_unique<TiledWeightGrad>(window, weights);
}

}  // namespace fast
}  // namespace voxshard
