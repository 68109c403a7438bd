// The losses of RetinaNet in pieces: local sums -> all-reduce -> value and gradients. One pyramid level at a time; the
// sums of the levels are added before the value.
//
//   logits (N, D, H, W, A C)   class_targets (N, D, H, W, A) i32: c >= 0 class, -1 none of the classes, else ignored
//   boxes, box_targets (N, D, H, W, 4 A): anchors without an object have zeros. Of the Huber loss only the numbers
//   count whose target is not 0, of GIoU the anchors that have one
//
// Per group of samples (as in norm.h): sums (G, 3) f64 = {focal loss, box loss, anchors with a class}.
//
//   focal(x, y) = a (1 - p)^gamma * -log p,  p = sigmoid(x) and a = alpha where y = 1, p = 1 - sigmoid(x) and a = 1 -
//   alpha else
//   huber(e)    = e^2 / 2 where |e| <= delta, else delta |e| - delta^2 / 2, per number
//   giou        = 1 - GIoU per anchor (giou.h)
//   loss        = (focal + box_share * box loss) / (anchors with a class + 1), the mean over groups; box_share is
//   box_weight / 4 for Huber, whose anchors have four numbers, else box_weight
//
// Source: tensorflow/tpu, models/official/detection/modeling/losses.py (both losses are over positives + 1 there).
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard {

/// The loss of a box against that of its object.
enum class BoxLossKind { kHuber, kGiou };
inline constexpr const char* kBoxLossNames[] = {"huber", "giou"};

struct DetectionLossSpec {
  std::int64_t classes = 1;  // per anchor
  std::int64_t groups = 1;
  std::int64_t batch = 1;  // global N
  double alpha = 0.25, gamma = 1.5;
  double delta = 0.1;
  BoxLossKind box_loss = BoxLossKind::kHuber;
  double box_weight = 50;
  double d_loss = 1;  // gradient of the trained value with respect to this loss

  /// The weight of the sum of the box losses beside that of the focal ones.
  double box_share() const { return box_loss == BoxLossKind::kHuber ? box_weight / 4 : box_weight; }
  std::int64_t group_of(std::int64_t sample) const { return sample * groups / batch; }
  bool is_class(std::int64_t target) const { return target >= 0 && target < classes; }
  bool is_ignored(std::int64_t target) const { return target < -1 || target >= classes; }
};

struct DetectionKernels {
  /// sums over logits.box for the groups in sums.box; overwrites.
  void (*sums)(const TensorView& logits, const TensorView& class_targets, const TensorView& boxes,
               const TensorView& box_targets, const TensorView& sums, const DetectionLossSpec& spec);
  /// loss (1) f64: overwrites with (1 / G) * sum over the groups in sums.box of the group's loss.
  void (*loss)(const TensorView& sums, const TensorView& loss, const DetectionLossSpec& spec);
  /// d loss / d logits for d_logits.box, given complete sums of its groups (over all levels).
  void (*focal_grad)(const TensorView& logits, const TensorView& class_targets, const TensorView& sums,
                     const TensorView& d_logits, const DetectionLossSpec& spec);
  /// d loss / d boxes for d_boxes.box, with the Huber loss and with GIoU.
  void (*huber_grad)(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
                     const TensorView& d_boxes, const DetectionLossSpec& spec);
  void (*giou_grad)(const TensorView& boxes, const TensorView& box_targets, const TensorView& sums,
                    const TensorView& d_boxes, const DetectionLossSpec& spec);
};

namespace reference {
extern const DetectionKernels detection;
}
namespace fast {
extern const DetectionKernels detection;
}

inline const DetectionKernels& detection_kernels(KernelSet set) {
  return set == KernelSet::kFast ? fast::detection : reference::detection;
}

}  // namespace voxshard
