// Segmentation losses: local sums, value, gradient, for each kind and for groups of samples; some labels are ignored
// (-1), and in the marginal losses some classes are not known.
#include "libcore/kernels/loss.h"

#include "tests/ops/op_cases.h"

namespace voxshard::test {

std::vector<OpCase> loss_cases() {
  std::vector<OpCase> cases;
  const std::int64_t classes = 3;
  // No long sum is in f32, so these are chains of roundings of f32 (2^-24). A probability of the fast softmax takes
  // six: difference, two of exp_negative(), two additions, quotient. A merged class takes as many more with its
  // logarithm.
  const double cut = 1e-6;    // 17 roundings: each softmax is f32; sums over voxels are f64, in another order
  const double grads = 1e-5;  // 168 roundings: coefficients from such sums, then differences that cancel
  const double sets = 1e-5;  // 168 roundings: a random walk of twice six allows 28 (product_allowance()), then the same
  for (LossKind kind : kLosses) {
    for (std::int64_t groups : {1, 2}) {
      const bool flat = groups == 1;
      const Shape logits = flat ? Shape{2, 9, 7, classes} : Shape{2, 5, 3, 6, classes};
      Shape labels = logits;
      labels[labels.axes() - 1] = 1;
      const SegmentationAttrs attrs{.loss = kind, .groups = groups, .batch = 2};
      const std::string label =
          "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(groups) + " groups";
      const OpInput x = cut_input(logits, Values::kNormal), y = cut_input(labels, Values::kLabels, DType::kI32, 3);
      const OpInput d_loss = parameter({1}, Values::kPositive, DType::kF64);
      cases.push_back({.op = "segmentation_sums",
                       .label = label,
                       .inputs = {x, y},
                       .attrs = attrs,
                       .tolerance = cut,
                       .set_tolerance = sets});
      OpCase value{
          .op = "segmentation_loss", .label = label, .inputs = {x, y}, .tolerance = cut, .set_tolerance = sets};
      value.build = [attrs](Builder& b, const std::vector<ValueId>& in) {
        const ValueId sums = b.op("segmentation_sums", {in[0], in[1]}, attrs, "sums");
        return b.op("segmentation_loss", {sums, in[0], in[1]}, attrs, "result");
      };
      cases.push_back(value);
      OpCase gradient{.op = "segmentation_grad",
                      .label = label,
                      .inputs = {x, y, d_loss},
                      .tolerance = grads,
                      .set_tolerance = sets};
      gradient.build = [attrs](Builder& b, const std::vector<ValueId>& in) {
        const ValueId sums = b.op("segmentation_sums", {in[0], in[1]}, attrs, "sums");
        return b.op("segmentation_grad", {in[0], in[1], sums, in[2]}, attrs, "result");
      };
      cases.push_back(gradient);
      const OpInput known = cut_input({2, classes}, Values::kArgmax, DType::kI32, 2);
      OpCase marginal{.op = "segmentation_loss",
                      .label = label + ", marginal",
                      .inputs = {x, y, known},
                      .tolerance = cut,
                      .set_tolerance = sets};
      marginal.build = [attrs](Builder& b, const std::vector<ValueId>& in) {
        const ValueId sums = b.op("segmentation_sums", {in[0], in[1], in[2]}, attrs, "sums");
        return b.op("segmentation_loss", {sums, in[0], in[1], in[2]}, attrs, "result");
      };
      cases.push_back(marginal);
      OpCase marginal_gradient{.op = "segmentation_grad",
                               .label = label + ", marginal",
                               .inputs = {x, y, d_loss, known},
                               .tolerance = grads,
                               .set_tolerance = sets};
      marginal_gradient.build = [attrs](Builder& b, const std::vector<ValueId>& in) {
        const ValueId sums = b.op("segmentation_sums", {in[0], in[1], in[3]}, attrs, "sums");
        return b.op("segmentation_grad", {in[0], in[1], sums, in[2], in[3]}, attrs, "result");
      };
      cases.push_back(marginal_gradient);
      cases.push_back({.op = "segmentation_sums",
                       .label = label + ", marginal",
                       .inputs = {x, y, known},
                       .attrs = attrs,
                       .tolerance = cut,
                       .set_tolerance = sets});
      cases.push_back({.op = "segmentation_grad",
                       .label = label + ", given sums",
                       .inputs = {x, y, parameter({groups, 3 * classes + 2}, Values::kPositive, DType::kF64), d_loss},
                       .attrs = attrs,
                       .set_tolerance = sets});
    }
  }
  return cases;
}

}  // namespace voxshard::test
