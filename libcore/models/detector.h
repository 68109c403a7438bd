// A detector is a model that learns from boxes. Beside its graph it says which targets its inputs want for the objects
// of an image, and which boxes its outputs mean. It is the row of its model (model.h), whose `detector` says this of a
// config.
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

namespace voxshard {

/// Returns the part of the output of this name that a core owns; an empty box where it owns none.
using OwnedOutput = std::function<TensorView(const std::string& output)>;

struct Detector {
  std::int64_t first_class = 0;    // the id of the first kind of object: 1 where class 0 is the background
  PostprocessOptions postprocess;  // how detections are found while training is evaluated
  double box_weight = 50;          // of the boxes in the loss (kernels/detection_loss.h)
  double targets_per_pixel =
      0;  // numbered places of an image that have a class and a box each: what memory plans count

  /// The targets of an image of `size` (H, W) for the inputs of its levels.   Threads: any number at once.
  std::function<ImageTargets(const Dims& size, std::span<const ObjectBox> objects)> targets;
  /// The likely boxes of a sample in what a core owns.
  ///   extents  (H, W) that the network sees      image  (H, W) of the image in it, to which boxes are cut
  std::function<std::vector<BoxCandidate>(const OwnedOutput& owned, std::int64_t sample, const Dims& extents,
                                          const Dims& image, const PostprocessOptions& postprocess)>
      candidates;
};

/// A detector with anchors on the levels of a pyramid: of each level L the inputs "class_targets/L" and "box_targets/L"
/// and the outputs "class_logits/L" and "boxes/L", as in retinanet.h.
Detector anchor_detector(const AnchorOptions& anchors, std::int64_t first_class, const PostprocessOptions& postprocess);

}  // namespace voxshard
