// Segmentation losses from index labels, in pieces: local sums -> all-reduce -> value and gradient.
// logits (N, D, H, W, C), labels (N, D, H, W, 1) i32; a label outside 0 .. C-1 is ignored (padding carries -1).
// p = softmax(logits), y = one-hot(label). Per group of samples (as in norm.h) and class:
//
//   sums (G, 3C + 2) f64 = { I_c = sum y_c p_c, P_c = sum p_c, Y_c = sum y_c, CE = sum -log p_label, count of voxels }
//
// cross_entropy    CE / count; with smoothing s and weights w of classes CE and count are sums of
//                  (1 - s) w_label (-log p_label) + s / C sum_c w_c (-log p_c) and of w_label (PyTorch's definition)
// adaptive_dice32  1 - sum(w_c dice_c) / (C exp(-1)), dice_c = 2 (I_c + e) / (P_c + Y_c + e), e = 1e-7,
//                  w_c = exp(-dice_c) (background included; w_c is differentiated too)
// dice_ce          CE / count + 1 - mean over c >= 1 of (2 I_c + 1) / (P_c + Y_c + 1)
// log_dice_ce      CE / count - sum over c >= 1 with Y_c > 0 of log((2 I_c + e) / (P_c + Y_c + e)) / (C - 1).
//                  Of a class that is hardly found yet the gradient of Dice is as small as p, that of its logarithm is
//                  not. A class without a voxel is left to CE; dice_ce makes its first false voxels as dear as a class.
//
// The others are computed for each sample alone (is_per_sample: every sample is a group), with sums over all classes
// unless c is named:
//
// dice             1 - (2 I + e) / (P + Y + e)
// generalized_dice 1 - (2 sum w_c I_c + e) / (sum w_c (P_c + Y_c) + e), w_c = 1 / (Y_c^2 + e)
// hamming          1 - I / count: the expected fraction of wrong voxels; for p of 0 and 1 the Hamming distance, which
//                  has no gradient
// jaccard          1 - (I + e) / (P + Y - I + e)
// tversky          C - sum (I_c + e) / (I_c + .3 (P_c - I_c) + .7 (Y_c - I_c) + e)
//
// The loss is the mean over groups. Source: the coefficients of tensorflow/tpu, models/official/unet3d/metrics.py, each
// subtracted from its value for a perfect prediction; dice_ce is voxshard's own, and log_dice_ce follows Wong et al.
// 2018 (3D segmentation with exponential logarithmic loss for highly unbalanced object sizes), with exponents of 1.
//
// Marginal losses (Shi et al. 2020, arXiv 2007.03868): with known (N, C), where known_nc is 0 when class c was not
// annotated in sample n, q takes the place of p: q_0 = p_0 + the p_c that are not known, q_c = 0 for these, and a label
// that is not known counts as 0. The background is always known. A group's row of sums then goes on with K_c, the
// voxels (ignored ones too) of its samples in which c is known, and the loss runs over the classes with K_c > 0 (a
// mean over classes has that many). When all are known, every number is that of the plain loss; when none is, the
// loss and its gradient are 0.
//   example: 3 classes, p = {.2, .3, .5}, known {1, 1, 0} -> q = {.7, .3, 0}
#pragma once

#include <vector>

#include "libcore/kernels/kernel.h"

namespace voxshard {

enum class LossKind {
  kCrossEntropy,
  kAdaptiveDice32,
  kDiceCE,
  kLogDiceCE,
  kDice,
  kGeneralizedDice,
  kHamming,
  kJaccard,
  kTversky
};
inline constexpr const char* kLossNames[] = {"cross_entropy",    "adaptive_dice32", "dice_ce", "log_dice_ce", "dice",
                                             "generalized_dice", "hamming",         "jaccard", "tversky"};
inline constexpr LossKind kLosses[] = {LossKind::kCrossEntropy, LossKind::kAdaptiveDice32, LossKind::kDiceCE,
                                       LossKind::kLogDiceCE,    LossKind::kDice,           LossKind::kGeneralizedDice,
                                       LossKind::kHamming,      LossKind::kJaccard,        LossKind::kTversky};
/// True when each sample is a group of its own, regardless of replicas.
constexpr bool is_per_sample(LossKind kind) { return kind >= LossKind::kDice; }

struct LossSpec {
  LossKind kind = LossKind::kCrossEntropy;
  std::int64_t classes = 2;
  std::int64_t groups = 1;
  std::int64_t batch = 1;            // global N
  double d_loss = 1;                 // gradient of the trained value with respect to this loss
  double smoothing = 0;              // label smoothing of cross-entropy, 0 to below 1
  std::vector<double> weights = {};  // of classes in cross-entropy; empty: 1 each
  // (N, classes) i32 of the known classes; null: all. Neither smoothing nor weights beside it.
  const TensorView* known = nullptr;

  double weight_of(std::size_t label) const { return weights.empty() ? 1 : weights[label]; }
  bool is_plain() const { return smoothing == 0 && weights.empty(); }

  std::int64_t group_of(std::int64_t sample) const { return sample * groups / batch; }
};

struct SegmentationKernels {
  /// sums over logits.box for the groups in sums.box; overwrites.
  void (*sums)(const TensorView& logits, const TensorView& labels, const TensorView& sums, const LossSpec& spec);
  /// loss (1) f64: overwrites with (1 / G) * sum over the groups in sums.box of the group's loss.
  void (*loss)(const TensorView& sums, const TensorView& loss, const LossSpec& spec);
  /// d loss / d logits for d_logits.box, given complete sums of its groups.
  void (*grad)(const TensorView& logits, const TensorView& labels, const TensorView& sums, const TensorView& d_logits,
               const LossSpec& spec);
};

namespace reference {
extern const SegmentationKernels segmentation;
}
namespace fast {
extern const SegmentationKernels segmentation;
}

inline const SegmentationKernels& segmentation_kernels(KernelSet set) {
  return set == KernelSet::kFast ? fast::segmentation : reference::segmentation;
}

}  // namespace voxshard
