// All uses of oneDNN 2.6 in voxshard: a convolution of one dense sample with padding 0, its weight gradient, and the
// library's own order of weights. None of the library's types appear here.
//
//   auto conv = LibraryConv::forward(geometry, nullptr);               // null: the library has no fast code for this
//   conv->weights().pack(w, DType::kF32, extents, strides, packed);    // once per step
//   conv->run_forward(x, packed, bias, y, scratch);
#pragma once

#include <memory>

#include "libcore/kernels/window.h"
#include "libcore/tensor/tensor.h"

namespace voxshard::fast {

/// One sample, dense, channels last, padding 0: dst = (src - span) / stride + 1 per axis.
struct ConvGeometry {
  Dims src;                      // D, H, W, Ci
  Dims dst;                      // D, H, W, Co
  Window window;                 // 3 axes; its padding is ignored
  DType compute = DType::kF32;   // of the source and the weights
  DType dst_type = DType::kF32;  // of the destination (forward); the weight gradient takes d_dst in `compute`
  bool bias = false;             // f32

  Dims key() const;
};

/// An order of weights chosen by the library.
class WeightsLayout {
 public:
  struct Impl;
  WeightsLayout() = default;
  explicit WeightsLayout(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  bool empty() const { return impl_ == nullptr; }
  std::int64_t bytes() const;
  bool same_as(const WeightsLayout& other) const;
  /// Writes plain weights; `extents` (KD, KH, KW, Ci, Co) and `strides` in elements describe `plain`.
  void pack(const void* plain, DType type, const Dims& extents, const Dims& strides, void* packed) const;
  /// True when `channels` outputs beginning at a multiple of `channels` can be packed alone.
  bool keeps_apart(const Dims& extents, std::int64_t channels) const;
  /// Packs outputs [first, first + channels) beside those that others write. `plain` is at the first, `extents` are of
  /// all.
  void pack_channels(const void* plain, DType type, const Dims& extents, const Dims& strides, void* packed,
                     std::int64_t first, std::int64_t channels) const;
  /// Writes packed weights as dense f32 (KD, KH, KW, Ci, Co).
  void unpack(const void* packed, const Dims& extents, float* plain) const;
  /// Writes weights that are packed like `from` in this layout; types may differ.
  void repack(const WeightsLayout& from, const void* packed, void* to) const;
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

class LibraryConv {
 public:
  struct Impl;
  explicit LibraryConv(std::unique_ptr<Impl> impl);
  ~LibraryConv();

  /// The forward convolution, with weights in `wanted` or in the library's choice when null. Returns null when the
  /// library refuses, or, unless `accept_slow`, when it has only its own reference or matrix-multiply code.
  static std::shared_ptr<const LibraryConv> forward(const ConvGeometry& g, const WeightsLayout* wanted,
                                                    bool accept_slow);
  /// The weight gradient: src and d_dst in g.compute, result f32.
  static std::shared_ptr<const LibraryConv> weight_grad(const ConvGeometry& g, const WeightsLayout* wanted,
                                                        bool accept_slow);

  const WeightsLayout& weights() const;
  std::int64_t scratch_bytes() const;
  /// The library's name for its code, for example "jit:avx2".
  const char* name() const;
  /// May run on several threads at once, each with its own scratch (64-byte aligned).
  void run_forward(const void* src, const void* weights, const float* bias, void* dst, void* scratch) const;
  void run_weight_grad(const void* src, const void* d_dst, void* d_weights, void* scratch) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard::fast
