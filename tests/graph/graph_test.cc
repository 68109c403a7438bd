// verify(Graph) finds what is broken by hand; the text form is stable; autodiff adds gradients that meet and refuses
// ops without a rule.
#include "libcore/graph/graph.h"

#include <gtest/gtest.h>

#include "libcore/graph/autodiff.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

const TensorType kImage{DType::kF32, {1, 4, 4, 2}};

bool any_has(const std::vector<std::string>& lines, const std::string& piece) {
  for (const auto& line : lines)
    if (line.find(piece) != std::string::npos) return true;
  return false;
}

Window kernel_of(std::int64_t kernel) { return {{kernel, kernel}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}; }

TEST(VerifyGraph, FindsAnInputThatIsDefinedAfterItsUse) {
  Graph g;
  g.append({.role = Role::kInput, .name = "x", .type = kImage});
  g.append({.role = Role::kOp, .op = "scale", .name = "y", .inputs = {2}, .type = kImage});
  g.append({.role = Role::kOp, .op = "scale", .name = "z", .inputs = {0}, .type = kImage});
  EXPECT_TRUE(any_has(verify(g, op_table()), "%1 y: an input is defined after its use"));
}

TEST(VerifyGraph, FindsAnInputThatDoesNotExist) {
  Graph g;
  g.append({.role = Role::kOp, .op = "scale", .name = "y", .inputs = {kNoValue}, .type = kImage});
  EXPECT_TRUE(any_has(verify(g, op_table()), "%0 y"));
}

TEST(VerifyGraph, FindsATypeThatIsNotWhatTheOpInfers) {
  Graph g;
  g.append({.role = Role::kInput, .name = "x", .type = kImage});
  g.append({.role = Role::kOp, .op = "scale", .name = "y", .inputs = {0}, .type = {DType::kF32, {1, 4, 4, 3}}});
  EXPECT_TRUE(any_has(verify(g, op_table()), "%1 y: has type f32[1x4x4x3], inferred f32[1x4x4x2]"));
}

TEST(VerifyGraph, FindsInputsThatDoNotFitAndOpsThatDoNotExist) {
  Graph g;
  g.append({.role = Role::kInput, .name = "x", .type = kImage});
  g.append({.role = Role::kInput, .name = "w", .type = {DType::kF32, {1, 4, 4, 3}}});
  g.append({.role = Role::kOp, .op = "add", .name = "y", .inputs = {0, 1}, .type = kImage});
  g.append({.role = Role::kOp, .op = "multiply", .name = "z", .inputs = {0, 1}, .type = kImage});
  EXPECT_TRUE(any_has(verify(g, op_table()), "%2 y: expected input 1 of shape 1x4x4x2"));
  EXPECT_TRUE(any_has(verify(g, op_table()), "no op is named multiply"));
}

TEST(VerifyGraph, FindsAGradientOfAnotherShapeAndAnEffectOfAnotherType) {
  Graph g;
  const ValueId w = g.append({.role = Role::kParameter, .name = "w", .type = {DType::kF32, {3}}});
  const ValueId d_w = g.append({.role = Role::kInput, .name = "d_w", .type = {DType::kF32, {4}}});
  const ValueId state = g.append({.role = Role::kState, .name = "s", .type = {DType::kF32, {3}}});
  const ValueId value = g.append({.role = Role::kInput, .name = "v", .type = {DType::kF64, {3}}});
  EXPECT_TRUE(verify(g, op_table()).empty());
  g.gradients[w] = d_w;
  g.effects.emplace_back(state, value);
  EXPECT_TRUE(any_has(verify(g, op_table()), "gradient of w has another shape"));
  EXPECT_TRUE(any_has(verify(g, op_table()), "effect on s has another type"));
}

/// x -> conv(w) -> leaky ReLU -> sum, differentiated.
Graph small_graph() {
  Graph g;
  Builder b(g, op_table());
  const ValueId x = b.input("x", kImage);
  const ValueId w = b.parameter("w", {DType::kF32, {2, 2, 2, 3}});
  const ValueId y = b.op("conv", {x, w}, ConvAttrs{.window = kernel_of(2)}, "y");
  const ValueId z = b.op("leaky_relu", {y}, ActivationAttrs{.slope = 0.5}, "z");
  g.outputs["loss"] = b.op("sum_all", {z}, {}, "sum");
  differentiate(b, g.outputs["loss"]);
  return g;
}

TEST(GraphText, IsStable) {
  EXPECT_EQ(
      to_text(small_graph()),
      "%0 x = input : f32[1x4x4x2]\n"
      "%1 w = parameter : f32[2x2x2x3]\n"
      "%2 y = conv %0, %1 kernel=2x2 stride=1x1 dilation=1x1 pad=0x0/0x0 : f32[1x3x3x3]\n"
      "%3 z = leaky_relu %2 slope=0.5 : f32[1x3x3x3]\n"
      "%4 sum = sum_all %3 : f64[1]\n"
      "%5 grad/sum = one_like %4 : f64[1]\n"
      "%6 grad/sum.1 = broadcast_like %5, %3 : f32[1x3x3x3]\n"
      "%7 grad/z = leaky_relu_grad %2, %6 slope=0.5 : f32[1x3x3x3]\n"
      "%8 grad/y/weights = conv_weight_grad %0, %7 kernel=2x2 stride=1x1 dilation=1x1 pad=0x0/0x0 : f32[2x2x2x3]\n"
      "output loss = %4\n"
      "gradient w = %8\n");
}

TEST(Autodiff, GivesASoundGraphWithAGradientForEachParameterAndNoneForInputs) {
  const Graph g = small_graph();
  EXPECT_TRUE(verify(g, op_table()).empty());
  ASSERT_EQ(g.gradients.size(), 1U);
  EXPECT_EQ(g.gradients.at(g.find("w")), g.find("grad/y/weights"));
  EXPECT_EQ(g.find("grad/y/input"), kNoValue) << "nobody asked for the gradient of the image";
}

TEST(Autodiff, AddsGradientsThatMeet) {
  Graph g;
  Builder b(g, op_table());
  const ValueId x = b.input("x", kImage), w = b.parameter("w", kImage);
  const ValueId y = b.op("add", {x, w}, {}, "y");
  const ValueId left = b.op("scale", {y}, ScaleAttrs{.by = 2}, "left"), right = b.op("scale", {y}, ScaleAttrs{.by = 3}, "right");
  const ValueId both = b.op("add", {left, right}, {}, "both");
  const ValueId loss = b.op("sum_all", {both}, {}, "sum");
  differentiate(b, loss);
  const Node& sum = g.node(g.gradients.at(w));
  EXPECT_EQ(sum.op, "add");
  EXPECT_EQ(sum.name, "grad/y/add");
  EXPECT_EQ(g.node(sum.inputs[0]).op, "scale");
  EXPECT_EQ(g.node(sum.inputs[1]).op, "scale");
  EXPECT_TRUE(verify(g, op_table()).empty());
}

TEST(Autodiff, AValueUsedTwiceByOneOpGetsBothGradients) {
  Graph g;
  Builder b(g, op_table());
  const ValueId w = b.parameter("w", kImage);
  const ValueId loss = b.op("sum_all", {b.op("add", {w, w}, {}, "twice")}, {}, "sum");
  differentiate(b, loss);
  EXPECT_EQ(g.node(g.gradients.at(w)).op, "add");
}

TEST(Autodiff, AParameterThatDoesNotReachTheLossHasNoGradient) {
  Graph g;
  Builder b(g, op_table());
  const ValueId used = b.parameter("used", kImage), unused = b.parameter("unused", kImage);
  b.op("scale", {unused}, {}, "aside");
  differentiate(b, b.op("sum_all", {used}, {}, "sum"));
  EXPECT_TRUE(g.gradients.contains(used));
  EXPECT_FALSE(g.gradients.contains(unused));
}

std::string refusal(Graph& g, Builder& b, ValueId loss) {
  try {
    differentiate(b, loss);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfig);
    return error.what();
  }
  return "differentiated " + to_text(g);
}

TEST(Autodiff, AnOpWithoutAGradientSaysSo) {
  Graph g;
  Builder b(g, op_table());
  const ValueId w = b.parameter("w", kImage);
  const ValueId loss = b.op("sum_all", {b.op("channel_sum", {w}, {}, "middle")}, {}, "sum");
  EXPECT_NE(refusal(g, b, loss).find("[middle] op channel_sum has no gradient"), std::string::npos);
}

TEST(Autodiff, ALossGetsItsOwnScalarGradient) {
  Graph g;
  Builder b(g, op_table());
  const ValueId logits = b.parameter("logits", kImage), labels = b.input("labels", {DType::kI32, {1, 4, 4, 1}});
  const ValueId sums = b.op("segmentation_sums", {logits, labels}, {}, "sums");
  const ValueId loss =
      b.op("scale", {b.op("segmentation_loss", {sums, logits, labels}, {}, "loss")}, ScaleAttrs{.by = 2}, "scaled");
  differentiate(b, loss);
  const Node& gradient = g.node(g.gradients.at(logits));
  EXPECT_EQ(gradient.op, "segmentation_grad");
  EXPECT_EQ(g.node(gradient.inputs[3]).name, "grad/scaled.1") << "the gradient of the scaled loss, scaled";
  EXPECT_TRUE(verify(g, op_table()).empty());
}

}  // namespace
}  // namespace voxshard
