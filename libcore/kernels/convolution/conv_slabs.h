// A convolution computed slab by slab through the library: each slab reads a dense source with padding 0, either in
// place or packed into the workspace (zero outside the view), and writes in place or is copied out.
//
// The forward convolution, each phase of an input gradient and the matrix product of a patch convolution (kernel ==
// stride) are all one SlabConv; they differ in how a slab is filled and where its result goes.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "libcore/kernels/blocked_conv.h"
#include "libcore/kernels/fast/onednn.h"

namespace voxshard::fast {

/// The sources and destinations of one call. Boxes are (N, D, H, W, C) with one sample; data may be null in planning.
struct SlabIo {
  Box out;         // all samples
  DType out_type;  // of the result
  /// Sets the dense view of `read` for use in place when it is of type `compute`, else returns false.
  std::function<bool(const Box& read, DType compute, TensorView& view)> source;
  /// Fills the dense view `to`; to.box is the box to read.
  std::function<void(const TensorView& to)> fill;
  /// Sets the dense view of `slab` for writing in place when it is of type `type`, else returns false.
  std::function<bool(const Box& slab, DType type, TensorView& view)> target;
  /// Receives a finished slab.
  std::function<void(const TensorView& from)> emit;
};

class SlabConv {
 public:
  /// `weights` is (KD, KH, KW, Ci, Co); window.pad_lo may be any integer, pad_hi is not used.
  ///   usual  D H W of the slabs for which the order of the weights is chosen; others may reorder them at every call
  SlabConv(const Window& window, const Shape& weights, DType dtype, const Dims& usual = {4, 16, 32});

  const Dims& kernel() const { return window_.kernel; }
  /// The library's name for its code of the usual slab.
  const std::string& code() const { return code_; }
  /// See Kernel::programs().
  std::int64_t programs() const;
  std::int64_t packed_bytes() const;
  /// The number of tasks, each for some output channels; 1 where the library's order does not keep them apart.
  std::int64_t pack_tasks() const { return pack_tasks_; }
  /// The number of output channels of a task.
  std::int64_t pack_channels() const { return weights_[4] / pack_tasks_; }
  /// Packs the part of `task`; `plain` is at its first output channel, with `strides` in elements for (KD, KH, KW, Ci,
  /// Co).
  void pack(const std::byte* plain, DType type, const Dims& strides, std::byte* packed, std::int64_t task) const;
  std::int64_t workspace_bytes(const SlabIo& io) const;
  /// `bias` of any type, may be null; it is repeated until there are Co values.
  void run(const SlabIo& io, const std::byte* packed, const TensorView* bias, std::byte* workspace) const;
  /// Returns the box that outputs in `out` read.
  Box read_box(const Box& out) const;

 private:
  struct Plan {
    std::shared_ptr<const LibraryConv> conv;  // null: the reference
    DType compute = DType::kF32;
    bool repack = false;  // the library needs another order of weights for this geometry
  };
  struct Need {
    std::int64_t src = 0, dst = 0, weights = 0, scratch = 0;
    std::int64_t bytes() const { return src + dst + weights + scratch; }
  };

  Plan plan(const Box& slab, DType dst_type) const;
  Plan make_plan(ConvGeometry g) const;
  void for_each_slab(const SlabIo& io, const std::function<void(const Box&)>& body) const;
  Need need(const SlabIo& io, const Box& slab) const;
  DType dst_type(const SlabIo& io) const;

  Window window_;
  Shape weights_;
  DType compute_ = DType::kF32;
  WeightsLayout layout_;  // empty: packed weights are plain f32
  std::string code_ = "plain loops";
  std::int64_t pack_tasks_ = 1;
  mutable std::mutex mutex_;
  mutable std::map<Dims, Plan> plans_;
};

/// Rounds up to the alignment of workspace parts.
inline std::int64_t aligned_bytes(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The window of a kernel of 1 that reads every voxel.
inline Window unit_window() {
  return {.kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad_lo = {0, 0, 0}, .pad_hi = {0, 0, 0}};
}

/// True for a kernel of 1 with a stride. Its input is gathered, otherwise all voxels in between would be copied or
/// packed.
inline bool skips_voxels(const Window& window) { return window.volume() == 1 && element_count(window.stride) > 1; }

/// The usual slab of a 1x1 product over the pixels of images (N, H, W, C), of which it reads one in `stride`; else the
/// usual slab of volumes. The library orders such weights by their pixels.
Dims usual_slab(const Window& window, const Shape& over, const Dims& stride = {1, 1, 1});

/// Converts a view to the form of all convolution kernels: (N, D, H, W, C) with channels counted from 0.
inline TensorView conv_view(const TensorView& view) {
  TensorView v = view.lifted();
  v.box.begin[4] = 0;
  return v;
}

/// Returns the view of the positions i = step * j + offset along D, H, W, in coordinates j. Example: box 3:8, step 2,
/// offset 0 contains 4 and 6, that is j = 2:4.
TensorView every(const TensorView& view, const Dims& step, const Dims& offset);

/// Sets `part` to `box` of `view` and returns true if it can be used in place: dense and of type `type`.
bool use_in_place(const TensorView& view, const Box& box, DType type, TensorView& part);
/// to = from, zero outside the box of `from`.
void fill_from(const TensorView& from, const TensorView& to);
/// to = the `parts` side by side in the channels, zero outside the box of a part.
void fill_from_parts(std::span<const TensorView> parts, const TensorView& to);

/// True for kernel == stride: each input belongs to one window, so the convolution is a matrix product on rows of K * C
/// values.
bool is_patch_window(const Window& window);
/// rows (.., K * C) of patches <- x, zero outside the box of x; o in rows.box.
void gather_patches(const TensorView& x, const Window& window, const TensorView& rows);
/// x <- rows, for the positions in the box of x.
void scatter_patches(const TensorView& rows, const Window& window, const TensorView& x);

}  // namespace voxshard::fast
