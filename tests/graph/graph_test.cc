// verify(Graph) finds what is broken by hand; autodiff adds gradients that meet and refuses ops without a rule.
#include "libcore/graph/graph.h"

#include <gtest/gtest.h>

#include "libcore/graph/autodiff.h"
#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

const TensorType kImage{DType::kF32, {1, 4, 4, 2}};

bool any_has(const std::vector<std::string>& lines, const std::string& piece) {
  for (const auto& line : lines)
    if (line.find(piece) != std::string::npos) return true;
  return false;
}

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

/// Returns the graph of a text, whose last value is the loss, differentiated.
Graph differentiated(std::string_view text) {
  Graph graph = parse_graph(text, op_table());
  Builder b(graph, op_table());
  differentiate(b, graph.size() - 1);
  EXPECT_TRUE(verify(graph, op_table()).empty());
  return graph;
}

const Node& gradient_of(const Graph& graph, const std::string& parameter) {
  return graph.node(graph.gradients.at(graph.find(parameter)));
}

TEST(Autodiff, GivesASoundGraphWithAGradientForEachParameterAndNoneForInputs) {
  const Graph graph = differentiated(R"(
    x = input : f32[1x4x4x2]
    w = parameter : f32[2x2x2x3]
    y = conv %x, %w kernel=2x2
    z = leaky_relu %y slope=0.5
    sum = sum_all %z
  )");
  ASSERT_EQ(graph.gradients.size(), 1U);
  EXPECT_EQ(gradient_of(graph, "w").name, "grad/y/weights");
  EXPECT_EQ(graph.find("grad/y/input"), kNoValue) << "nobody asked for the gradient of the image";
}

TEST(Autodiff, AddsGradientsThatMeet) {
  const Graph graph = differentiated(R"(
    x = input : f32[1x4x4x2]
    w = parameter : f32[1x4x4x2]
    y = add %x, %w
    left = scale %y by=2
    right = scale %y by=3
    both = add %left, %right
    sum = sum_all %both
  )");
  const Node& sum = gradient_of(graph, "w");
  EXPECT_EQ(sum.op, "add");
  EXPECT_EQ(sum.name, "grad/y/add");
  EXPECT_EQ(graph.node(sum.inputs[0]).op, "scale");
  EXPECT_EQ(graph.node(sum.inputs[1]).op, "scale");
}

TEST(Autodiff, AValueUsedTwiceByOneOpGetsBothGradients) {
  const Graph graph = differentiated(R"(
    w = parameter : f32[1x4x4x2]
    twice = add %w, %w
    sum = sum_all %twice
  )");
  EXPECT_EQ(gradient_of(graph, "w").op, "add");
}

TEST(Autodiff, AParameterThatDoesNotReachTheLossHasNoGradient) {
  const Graph graph = differentiated(R"(
    used = parameter : f32[1x4x4x2]
    unused = parameter : f32[1x4x4x2]
    aside = scale %unused
    sum = sum_all %used
  )");
  EXPECT_TRUE(graph.gradients.contains(graph.find("used")));
  EXPECT_FALSE(graph.gradients.contains(graph.find("unused")));
}

TEST(Autodiff, AnOpWithoutAGradientSaysSo) {
  expect_error(ErrorKind::kConfig, "[middle] op channel_sum has no gradient", [&] {
    differentiated(R"(
      w = parameter : f32[1x4x4x2]
      middle = channel_sum %w
      sum = sum_all %middle
    )");
  });
}

TEST(Autodiff, ALossGetsItsOwnScalarGradient) {
  const Graph graph = differentiated(R"(
    logits = parameter : f32[1x4x4x2]
    labels = input : i32[1x4x4x1]
    sums = segmentation_sums %logits, %labels
    loss = segmentation_loss %sums, %logits, %labels
    scaled = scale %loss by=2
  )");
  const Node& gradient = gradient_of(graph, "logits");
  EXPECT_EQ(gradient.op, "segmentation_grad");
  EXPECT_EQ(graph.node(gradient.inputs[3]).name, "grad/scaled.1") << "the gradient of the scaled loss, scaled";
}

}  // namespace
}  // namespace voxshard
