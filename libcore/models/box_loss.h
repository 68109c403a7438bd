// The part of the graph behind the heads of every detector with anchors: inputs for targets, level by level, and the
// loss over all levels.
//
//   BoxLevel level = with_box_targets(b, logits, boxes, classes, 3);   // inputs "class_targets/3" and "box_targets/3"
//   add_box_loss(b, {level}, {.alpha = 0.25, .gamma = 1.5, .delta = 0.1, .box_weight = 50}, options);
#pragma once

#include <string>
#include <vector>

#include "libcore/detection/anchors.h"
#include "libcore/kernels/detection_loss.h"
#include "libcore/models/model.h"

namespace voxshard {

/// The values that the loss of one level reads.
struct BoxLevel {
  ValueId logits, class_targets, boxes, box_targets;
  std::vector<ValueId> list() const { return {logits, class_targets, boxes, box_targets}; }
};

/// Makes a level with inputs for its targets, which are cut like the predictions that they are compared with.
///   logits  (N, h, w, anchors * classes) f32      boxes  (N, h, w, 4 anchors) f32
BoxLevel with_box_targets(Builder& b, ValueId logits, ValueId boxes, std::int64_t classes, int level);

/// Focal loss of the classes, Huber loss or GIoU of the boxes (kernels/detection_loss.h).
struct BoxLossOptions {
  double alpha = 0.25, gamma = 1.5;
  double delta = 0.1;
  BoxLossKind kind = BoxLossKind::kHuber;
  double box_weight = 50;
};

/// Adds the outputs "loss" (f64) and "loss_sums" (1 or replicas, 3).
void add_box_loss(Builder& b, const std::vector<BoxLevel>& levels, const BoxLossOptions& loss,
                  const GraphOptions& options);

/// The names of the inputs that the host's matching fills: coded boxes and classes of every level.
std::vector<std::string> target_inputs(const AnchorOptions& anchors);

}  // namespace voxshard
