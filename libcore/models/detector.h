// A detector is a model that learns from boxes. Besides its graph it makes the targets for its inputs from the objects
// of an image, and turns its outputs into boxes. Its model's row (model.h) makes it from a config by `detector`.
//
//   Detector detector = retinanet_detector({.classes = 4});
//   ImageTargets targets = detector.targets({640, 480}, {{.box = {10, 10, 90, 60}, .class_id = 3}});
//   detect(detector.candidates(owned, 0, {640, 480}, {600, 480}, detector.postprocess), detector.postprocess);
//
// Called by pipelines/tasks/detection.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcore/detection/matching.h"
#include "libcore/detection/nms.h"
#include "libcore/kernels/detection_loss.h"

namespace voxshard {

/// Returns the part of the named output that a core owns; an empty box where it owns none.
using OwnedOutput = std::function<TensorView(const std::string& output)>;

struct Detector {
  std::int64_t first_class = 0;    // the id of the first object class: 1 where class 0 is the background
  PostprocessOptions postprocess;  // post-processing when training is evaluated
  BoxLossKind box_loss = BoxLossKind::kHuber;
  double box_weight = 50;        // weight of the box loss (kernels/detection_loss.h)
  AnchorOptions anchors = {};    // of a detector with anchors
  double targets_per_pixel = 0;  // anchors per pixel, each with a class and a box; used by memory plans

  /// Returns the targets of an image of `size` (H, W) for the inputs of its levels.   Threads: any number at once.
  std::function<ImageTargets(const Dims& size, std::span<const ObjectBox> objects)> targets;
  /// Returns the likely boxes of a sample in the part of the outputs that a core owns.
  ///   extents  (H, W) that the network sees      image  (H, W) of the image in it, to which boxes are clipped
  std::function<std::vector<BoxCandidate>(const OwnedOutput& owned, std::int64_t sample, const Dims& extents,
                                          const Dims& image, const PostprocessOptions& postprocess)>
      candidates;
};

/// The field of the config of a model with anchors that says their shapes: kFittedAnchors leaves them to the data set,
/// and the training task replaces it by shapes_text().
inline constexpr const char *kAnchorsField = "anchors", *kFittedAnchors = "fitted";

/// A detector with anchors on the levels of a pyramid. Each level L has the inputs "class_targets/L" and
/// "box_targets/L" and the outputs "class_logits/L" and "boxes/L", as in retinanet.h.
Detector anchor_detector(const AnchorOptions& anchors, std::int64_t first_class, const PostprocessOptions& postprocess);

}  // namespace voxshard
