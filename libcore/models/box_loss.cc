#include "libcore/models/box_loss.h"

namespace voxshard {

BoxLevel with_box_targets(Builder& b, ValueId logits, ValueId boxes, std::int64_t classes, int level) {
  Shape shape = b.type(boxes).shape;
  const std::string name = "_targets/" + std::to_string(level);
  const ValueId box_targets = b.input("box" + name, {DType::kF32, shape}, input::BoxTargets{.level = level});
  shape[shape.axes() - 1] /= 4;
  const ValueId class_targets =
      b.input("class" + name, {DType::kI32, shape}, input::ClassTargets{.level = level, .classes = classes});
  b.graph().follow(box_targets, boxes);
  b.graph().follow(class_targets, logits);
  return {logits, class_targets, boxes, box_targets};
}

void add_box_loss(Builder& b, const std::vector<BoxLevel>& levels, const BoxLossOptions& loss,
                  const GraphOptions& options) {
  const DetectionAttrs attrs{.groups = options.loss_replicas,
                             .batch = options.batch,
                             .box_weight = loss.box_weight,
                             .alpha = loss.alpha,
                             .gamma = loss.gamma,
                             .delta = loss.delta,
                             .box_loss = loss.kind,
                             .dtype = options.dtype};
  ValueId sums = kNoValue;
  std::vector<ValueId> inputs{kNoValue};
  for (const BoxLevel& level : levels) {
    const std::string name = "loss/sums/" + b.graph().node(level.logits).name;
    const ValueId more = b.op("detection_sums", level.list(), attrs, name);
    sums = sums == kNoValue ? more : b.op("add", {sums, more}, {}, name + "/total");
    for (ValueId value : level.list()) inputs.push_back(value);
  }
  inputs[0] = sums;
  b.graph().outputs["loss_sums"] = sums;
  b.graph().outputs["loss"] = b.op("detection_loss", inputs, attrs, "loss");
}

std::vector<std::string> target_inputs(const AnchorOptions& anchors) {
  std::vector<std::string> names;
  for (const char* name : {"box_targets/", "class_targets/"})
    for (int level = anchors.first_level; level <= anchors.last_level; ++level)
      names.push_back(name + std::to_string(level));
  return names;
}

}  // namespace voxshard
