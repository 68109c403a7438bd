// Normalisation in pieces, so that sums can be joined over cores between them: local sums -> all-reduce -> apply.
// 5-D channels last x (N, D, H, W, C). Samples fall into groups: sample n belongs to group n * groups / batch. Batch norm
// over everything has 1 group, per replica as many as replicas, instance norm as many as samples.
//
//   sums   (G, C, 2) f64: {sum x, sum x^2}         stats  (G, C, 2): {mean, 1 / sqrt(variance + epsilon)}
//   z = (x - mean) * inv_std * gamma + beta        y = z > 0 ? z : slope * z     (slope 1: no activation, 0: ReLU)
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct NormSpec {
  std::int64_t groups = 1;
  std::int64_t batch = 1;  // global N
  double count = 1;        // elements per group and channel
  double epsilon = 1e-3;
  double slope = 1;        // activation after the norm, see above

  std::int64_t group_of(std::int64_t sample) const { return sample * groups / batch; }
};

}  // namespace voxshard

#define VOXSHARD_NORM_KERNELS                                                                                         \
  /* sums over all of x.box, for the groups in sums.box; overwrites. Accumulates in f64. */                           \
  void moment_sums(const TensorView& x, const TensorView& sums, const NormSpec& spec);                                \
  /* stats from complete sums; variance is biased and clamped at 0. */                                                \
  void norm_stats(const TensorView& sums, const TensorView& stats, const NormSpec& spec);                             \
  /* y for y.box. gamma, beta: (C). */                                                                                \
  void norm_apply(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,      \
                  const TensorView& y, const NormSpec& spec);                                                         \
  /* sums (G, C, 2) f64: {sum d_z, sum d_z * xhat}, d_z = d_y * (z > 0 ? 1 : slope), z recomputed from x. */          \
  void norm_grad_sums(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta,  \
                      const TensorView& d_y, const TensorView& sums, const NormSpec& spec);                           \
  /* d_x = gamma * inv_std * (d_z - sum(d_z)/count - xhat * sum(d_z xhat)/count). */                                  \
  void norm_input_grad(const TensorView& x, const TensorView& stats, const TensorView& gamma, const TensorView& beta, \
                       const TensorView& d_y, const TensorView& sums, const TensorView& d_x, const NormSpec& spec);

namespace voxshard::reference {
VOXSHARD_NORM_KERNELS
}
namespace voxshard::fast {
VOXSHARD_NORM_KERNELS
}
#undef VOXSHARD_NORM_KERNELS
