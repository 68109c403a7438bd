// A group's segmentation loss as a function of its sums, and its derivatives: what both kernel sets share.
//
// The loss depends on a voxel's probabilities p only through I_c, P_c and CE, so d loss / d p_c = y_c * d_I[c] +
// d_P[c], and through the softmax d loss / d logit_j = p_j (g_j - sum_c p_c g_c) + d_CE (p_j - y_j), g_c = d loss / d
// p_c.
#pragma once

#include <cmath>
#include <vector>

#include "libcore/kernels/loss.h"

namespace voxshard {

struct LossTerms {
  double value = 0;
  std::vector<double> d_intersection, d_probability;  // per class
  double d_cross_entropy = 0;
};

/// Value and derivatives for the sums {I, P, Y, CE, count} of one group (loss.h), 3 C + 2 numbers.
/// A group without voxels has cross entropy 0.
inline LossTerms loss_terms(const double* sums, const LossSpec& spec) {
  const auto classes = static_cast<std::size_t>(spec.classes);
  const double *inter = sums, *prob = sums + classes, *truth = sums + 2 * classes;
  const double cross_entropy = sums[3 * classes], count = sums[3 * classes + 1];
  LossTerms t{0, std::vector<double>(classes, 0.0), std::vector<double>(classes, 0.0), 0};
  if (spec.kind != LossKind::kAdaptiveDice32 && count > 0) {
    t.value += cross_entropy / count;
    t.d_cross_entropy = 1 / count;
  }
  if (spec.kind == LossKind::kAdaptiveDice32) {
    constexpr double kEpsilon = 1e-7;
    const double best = static_cast<double>(classes) * std::exp(-1.0);
    t.value += 1;
    for (std::size_t c = 0; c < classes; ++c) {
      const double size = prob[c] + truth[c] + kEpsilon;
      const double dice = 2 * (inter[c] + kEpsilon) / size, weight = std::exp(-dice);
      t.value -= weight * dice / best;
      const double d_dice = -weight * (1 - dice) / best;
      t.d_intersection[c] = d_dice * 2 / size;
      t.d_probability[c] = -d_dice * dice / size;
    }
  }
  if (spec.kind == LossKind::kDiceCE) {
    const double share = classes > 1 ? 1 / static_cast<double>(classes - 1) : 0.0;
    t.value += 1;
    for (std::size_t c = 1; c < classes; ++c) {
      const double size = prob[c] + truth[c] + 1, dice = (2 * inter[c] + 1) / size;
      t.value -= share * dice;
      t.d_intersection[c] = -share * 2 / size;
      t.d_probability[c] = share * dice / size;
    }
  }
  return t;
}

/// The sums of group g as 3 C + 2 doubles.
inline std::vector<double> group_sums(const TensorView& sums, std::int64_t g) {
  std::vector<double> row;
  for (std::int64_t j = 0; j < sums.extent()[1]; ++j)
    row.push_back(load(sums, (g - sums.box.begin[0]) * sums.strides[0] + j));
  return row;
}

}  // namespace voxshard
