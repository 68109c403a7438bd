// The positions of tiles: on multiples of their size in global coordinates, in bricks that one round of transforms and
// products works on.
//
//   form.outputs 4 x 4 x 4, box 3:9 of an axis: tiles 0, 1, 2 (voxels 0:12), of which the first and the last extend
//   beyond it.
#pragma once

#include <span>
#include <vector>

#include "libcore/kernels/window.h"
#include "libcore/kernels/winograd/routines.h"
#include "libcore/tensor/tensor.h"

namespace voxshard::winograd {

/// True for 3x3x3, 1x3x3 and 3x3 of stride and dilation 1, any padding.
bool applies(const Window& window);
/// `tile`: outputs per tile along D, H, W, 2 or 4 each; its entry for an axis without kernel is ignored. Requires
/// applies(window). Errors: internal, when an entry is neither 2 nor 4.
TileForm form_of(const Window& window, const Dims& tile);
/// The outputs of a tile along (D, H, W); blocks should begin on multiples of them.
inline Dims grain_of(const TileForm& form) { return {form.outputs[0], form.outputs[1], form.outputs[2]}; }

/// The box, of `channels` channels, that the tiles with the outputs `out` read: rounded out to whole patches, which all
/// pass through the transforms. Example: F(4, 3), pad 1: outputs 3:6 lie in tiles 0:8 and read -1:9.
Box patch_box(const Box& out, const TileForm& form, const Window& window, std::int64_t channels);

/// The blocks of 16 channels of tensors side by side: each tensor begins a block of its own. Example: 20 and 16
/// channels give blocks of 16, 4, 16.
class ChannelBlocks {
 public:
  explicit ChannelBlocks(std::vector<std::int64_t> parts);
  explicit ChannelBlocks(std::int64_t channels) : ChannelBlocks(std::vector<std::int64_t>{channels}) {}

  std::int64_t count() const { return static_cast<std::int64_t>(sizes_.size()); }
  std::int64_t channels() const { return begins_.back(); }
  const int* sizes() const { return sizes_.data(); }
  /// The first channel of a block among all channels; channels() for block count().
  std::int64_t begin(std::int64_t block) const { return begins_[block]; }
  std::size_t parts() const { return parts_.size(); }
  std::int64_t part_channels(std::size_t part) const { return parts_[part]; }
  /// The first block of a part; count() for part parts().
  std::int64_t part_begin(std::size_t part) const { return part_begins_[part]; }

 private:
  std::vector<std::int64_t> parts_, part_begins_, begins_;
  std::vector<int> sizes_;
};

/// Tiles first[a] .. past[a] - 1 along D, H, W of sample n.
struct Brick {
  std::int64_t n = 0;
  std::int64_t first[3], past[3];

  std::int64_t extent(int axis) const { return past[axis] - first[axis]; }
  std::int64_t tiles() const { return extent(0) * extent(1) * extent(2); }
  struct Counts {
    int of[3];
  };
  Counts counts() const {
    return {{static_cast<int>(extent(0)), static_cast<int>(extent(1)), static_cast<int>(extent(2))}};
  }
};

/// Calls body for the bricks that hold the voxels of `box` (N, D, H, W, C), in row-major order; they begin on global
/// multiples of `size`.
template <class Body>
void for_each_brick(const Box& box, const TileForm& form, const Dims& size, Body body) {
  if (box.empty()) return;
  std::int64_t first[3], past[3];
  for (int a = 0; a < 3; ++a) {
    first[a] = floor_div(box.begin[a + 1], form.outputs[a]);
    past[a] = ceil_div(box.end(a + 1), form.outputs[a]);
  }
  auto next = [&](std::int64_t tile, int a) { return std::min((floor_div(tile, size[a]) + 1) * size[a], past[a]); };
  for (std::int64_t n = box.begin[0]; n < box.end(0); ++n)
    for (std::int64_t d = first[0]; d < past[0]; d = next(d, 0))
      for (std::int64_t h = first[1]; h < past[1]; h = next(h, 1))
        for (std::int64_t w = first[2]; w < past[2]; w = next(w, 2))
          body(Brick{.n = n, .first = {d, h, w}, .past = {next(d, 0), next(h, 1), next(w, 2)}});
}

/// The voxels in `view` (N, D, H, W, C) of the patches of a brick (from window.pad_lo before its outputs), or of its
/// outputs; channels [channel, channel + channels) of the view.
TileVoxels patches_of(const TensorView& view, const TileForm& form, const Window& window, const Brick& brick,
                      std::int64_t channel, std::int64_t channels);
TileVoxels outputs_of(const TensorView& view, const TileForm& form, const Brick& brick, std::int64_t channel,
                      std::int64_t channels);

/// Hands out parts of a workspace one after another, each 64-byte aligned.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}
  float* floats(std::int64_t count) {
    std::byte* at = base_ + used_;
    used_ += (4 * count + 63) / 64 * 64;
    return reinterpret_cast<float*>(at);
  }
  std::int64_t used() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

}  // namespace voxshard::winograd
