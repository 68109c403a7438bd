// Losses of a detector: local sums, value, gradients, for one and several groups of samples; some anchors are ignored,
// levels may have fewer cells than there are cores. What a sum adds does not depend on the cut, so only the order of
// f64 additions may differ; the number of positives and so the gradients are equal to the bit.
#include "tests/ops/op_cases.h"

namespace voxshard::test {
namespace {

constexpr int kAnchors = 3, kClasses = 5;
constexpr double kOrderOfAdding = 1e-13;

struct Level {
  std::string label;
  Shape cells;  // N and spatial axes
  std::int64_t groups = 1;
  Values values = Values::kNormal;
};

OpInput input_of(const Level& level, std::int64_t channels, Values values, DType dtype = DType::kF32, int range = 3) {
  Shape shape = level.cells;
  shape.push_back(channels);
  return cut_input(shape, values, dtype, range);
}

void add_level(std::vector<OpCase>& cases, const Level& level) {
  const DetectionAttrs attrs{
      .groups = level.groups, .batch = level.cells[0], .box_weight = 50, .alpha = 0.25, .gamma = 1.5, .delta = 1};
  const OpInput logits = input_of(level, kAnchors * kClasses, level.values),
                boxes = input_of(level, 4 * kAnchors, level.values);
  const OpInput targets = input_of(level, kAnchors, Values::kLabels, DType::kI32, kClasses + 1);  // kClasses: ignored
  const OpInput box_targets = input_of(level, 4 * kAnchors, Values::kIntegers);
  const std::vector<OpInput> all{logits, targets, boxes, box_targets};
  const OpInput sums = parameter({level.groups, 3}, Values::kPositive, DType::kF64),
                d_loss = parameter({1}, Values::kPositive, DType::kF64);
  cases.push_back({.op = "detection_sums",
                   .label = level.label,
                   .inputs = all,
                   .attrs = attrs,
                   .tolerance = kOrderOfAdding,
                   .set_tolerance = 1e-6});
  auto from_sums = [&](const char* op, double tolerance, auto build) {
    OpCase made{.op = op, .label = level.label, .inputs = all, .tolerance = tolerance, .set_tolerance = 1e-6};
    made.inputs.push_back(d_loss);
    made.build = [=](Builder& b, const std::vector<ValueId>& in) {
      return build(b, in, b.op("detection_sums", {in[0], in[1], in[2], in[3]}, attrs, "sums"));
    };
    cases.push_back(made);
  };
  from_sums("detection_loss", kOrderOfAdding, [attrs](Builder& b, const std::vector<ValueId>& in, ValueId s) {
    return b.op("detection_loss", {s, in[0], in[1], in[2], in[3]}, attrs, "result");
  });
  from_sums("focal_grad", 0, [attrs](Builder& b, const std::vector<ValueId>& in, ValueId s) {
    return b.op("focal_grad", {in[0], in[1], s, in[4]}, attrs, "result");
  });
  from_sums("huber_grad", 0, [attrs](Builder& b, const std::vector<ValueId>& in, ValueId s) {
    return b.op("huber_grad", {in[2], in[3], s, in[4]}, attrs, "result");
  });
  DetectionAttrs giou = attrs;
  giou.box_loss = BoxLossKind::kGiou;
  cases.push_back({.op = "detection_sums",
                   .label = level.label + ", giou",
                   .inputs = all,
                   .attrs = giou,
                   .tolerance = kOrderOfAdding,
                   .set_tolerance = 1e-6});
  from_sums("giou_grad", 0, [giou](Builder& b, const std::vector<ValueId>& in, ValueId s) {
    return b.op("giou_grad", {in[2], in[3], s, in[4]}, giou, "result");
  });
  cases.push_back({.op = "giou_grad",
                   .label = level.label + ", given sums",
                   .inputs = {boxes, box_targets, sums, d_loss},
                   .attrs = giou,
                   .set_tolerance = 1e-6});
  cases.push_back({.op = "focal_grad",
                   .label = level.label + ", given sums",
                   .inputs = {logits, targets, sums, d_loss},
                   .attrs = attrs,
                   .set_tolerance = 1e-6});
  cases.push_back({.op = "huber_grad",
                   .label = level.label + ", given sums",
                   .inputs = {boxes, box_targets, sums, d_loss},
                   .attrs = attrs,
                   .set_tolerance = 1e-6});
}

}  // namespace

std::vector<OpCase> detection_cases() {
  std::vector<OpCase> cases;
  add_level(cases, {"9 x 7 cells", {2, 9, 7}});
  add_level(cases, {"integers", {2, 5, 6}, 1, Values::kIntegers});
  add_level(cases, {"2 groups", {2, 5, 3}, 2});
  add_level(cases, {"fewer cells than cores", {1, 2, 1}});
  return cases;
}

}  // namespace voxshard::test
