// Pooling and nearest up-sampling, 5-D channels last; overlapping windows included. Windows are clipped at the border
// of the global tensor: padding never wins a maximum and never counts in an average. `global` is the shape of x.
#pragma once

#include <algorithm>

#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"

namespace voxshard {

/// The voxel along one axis that stands for block `o` of `factor` voxels: the first of the upper half, as nearest-exact
/// interpolation takes it (torch.nn.functional.interpolate, by which nnU-Net scales label maps); of a block that ends
/// before it the last one.   example: factor 4, block 2 -> 10
inline std::int64_t subsampled_from(std::int64_t o, std::int64_t factor, std::int64_t extent) {
  return std::min(o * factor + factor / 2, extent - 1);
}

struct PoolKernels {
  /// y[n,o,c] = max over k of x[n, o*stride - pad_lo + k*dilation, c], clipped.
  void (*max_pool)(const TensorView& x, const TensorView& y, const Window& window, const Shape& global);
  /// arg (u8): the row-major index k of the first maximum in each window; window volume <= 256.
  void (*max_pool_argmax)(const TensorView& x, const TensorView& arg, const Window& window, const Shape& global);
  /// d_x[i] = sum of d_y[o] over the windows o that cover i and whose arg points at i.
  void (*max_pool_grad)(const TensorView& arg, const TensorView& d_y, const TensorView& d_x, const Window& window);
  /// y = sum over the clipped window / number of voxels in the clipped window.
  void (*avg_pool)(const TensorView& x, const TensorView& y, const Window& window, const Shape& global);
  /// d_x[i] = sum over the windows o that cover i of d_y[o] / voxels in the clipped window o.
  void (*avg_pool_grad)(const TensorView& d_y, const TensorView& d_x, const Window& window, const Shape& global);
  /// y[o] = x[o / factor], factor per spatial axis (3 entries).
  void (*upsample_nearest)(const TensorView& x, const TensorView& y, const Dims& factor);
  /// y[o] = x[subsampled_from(o)] per spatial axis (3 entries of `factor`). `global` is the shape of x.
  void (*subsample)(const TensorView& x, const TensorView& y, const Dims& factor, const Shape& global);
  /// d_x[i] = sum of d_y[o] over o in [i*factor, (i+1)*factor), clipped to d_y.box.
  void (*upsample_nearest_grad)(const TensorView& d_y, const TensorView& d_x, const Dims& factor);
};

namespace reference {
extern const PoolKernels pool;
}
namespace fast {
extern const PoolKernels pool;
}

inline const PoolKernels& pool_kernels(KernelSet set) { return set == KernelSet::kFast ? fast::pool : reference::pool; }

}  // namespace voxshard
