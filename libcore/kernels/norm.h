// Normalisation in pieces, so that sums can be joined over cores between them: local sums -> all-reduce -> apply.
// 5-D channels last x (N, D, H, W, C). Samples fall into groups: sample n belongs to group n * groups / batch. Batch
// norm over everything has 1 group, per replica as many as replicas, instance norm as many as samples.
//
//   sums   (G, C, 2) f64: {sum x, sum x^2}         stats  (G, C, 2): {mean, 1 / sqrt(variance + epsilon)}
//   z = (x - mean) * inv_std * gamma + beta        y = z > 0 ? z : slope * z     (slope 1: no activation, 0: ReLU)
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard {

struct NormSpec {
  std::int64_t groups = 1;
  std::int64_t batch = 1;  // global N
  double count = 1;        // elements per group and channel
  double epsilon = 1e-3;
  double slope = 1;  // activation after the norm, see above

  std::int64_t group_of(std::int64_t sample) const { return sample * groups / batch; }
};

struct NormKernels {
  /// sums over all of x.box, for the groups in sums.box; overwrites. Accumulates in f64.
  void (*moment_sums)(const TensorView& x, const TensorView& sums, const NormSpec& spec);
  /// stats from complete sums; variance is biased and clamped at 0.
  void (*stats)(const TensorView& sums, const TensorView& stats, const NormSpec& spec);
  /// y for y.box. gamma, beta: (C).
  void (*apply)(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                const TensorView& y, const NormSpec& spec);
  /// sums (G, C, 2) f64: {sum d_z, sum d_z * xhat}, d_z = d_y * (z > 0 ? 1 : slope), z recomputed from x.
  void (*grad_sums)(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                    const TensorView& d_y, const TensorView& sums, const NormSpec& spec);
  /// d_x = gamma * inv_std * (d_z - sum(d_z)/count - xhat * sum(d_z xhat)/count).
  void (*input_grad)(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,
                     const TensorView& d_y, const TensorView& sums, const TensorView& d_x, const NormSpec& spec);
  // The functions below work on a few numbers per channel; the fast set uses those of the reference.
  /// total (C): column `column` of sums (G, C, 2), added over the groups.
  void (*group_column)(const TensorView& sums, std::int64_t column, const TensorView& total);
  /// moments (C, 2): the mean over the groups of {mean, biased variance}, from sums (G, C, 2) of all spec.groups.
  void (*group_moments)(const TensorView& sums, const TensorView& moments, const NormSpec& spec);
  /// stats (1, C, 2) from moments (C, 2) {mean, variance}.
  void (*running_stats)(const TensorView& moments, const TensorView& stats, const NormSpec& spec);
};

namespace reference {
extern const NormKernels norm;
}
namespace fast {
extern const NormKernels norm;
}

inline const NormKernels& norm_kernels(KernelSet set) { return set == KernelSet::kFast ? fast::norm : reference::norm; }

}  // namespace voxshard
