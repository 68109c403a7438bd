// Recomputation keeps the graph's meaning: what is made again is made of the same, once near its readers, never twice for
// running statistics.
#include "libcore/graph/recompute.h"

#include <gtest/gtest.h>

#include <set>

#include "libcore/graph/autodiff.h"
#include "libcore/graph/builder.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

Graph unet(bool training = true) {
  const Graph graph = build_unet({.base_filters = 4, .depth = 3}, {.batch = 1, .size = {8, 8, 16}, .training = training}, op_table());
  return with_gradient(graph, op_table());
}

std::set<std::string> made_again(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes())
    if (node.name.starts_with("recompute")) names.insert(node.name.substr(node.name.find('/') + 1));
  return names;
}

class EveryChoice : public testing::TestWithParam<Recompute> {};

TEST_P(EveryChoice, IsASoundGraphWithTheSameOutputsGradientsAndEffects) {
  const Graph plain = unet(), graph = with_recomputation(plain, op_table(), GetParam());
  for (const auto& broken : verify(graph, op_table())) ADD_FAILURE() << broken;
  ASSERT_EQ(graph.outputs.size(), plain.outputs.size());
  for (const auto& [name, id] : plain.outputs) EXPECT_EQ(graph.node(graph.outputs.at(name)).name, plain.node(id).name);
  ASSERT_EQ(graph.gradients.size(), plain.gradients.size());
  for (const auto& [parameter, id] : plain.gradients)
    EXPECT_EQ(graph.node(graph.gradients.at(graph.find(plain.node(parameter).name))).name, plain.node(id).name);
  EXPECT_EQ(graph.effects.size(), plain.effects.size());
  EXPECT_EQ(graph.node(graph.backward_root).op, "one_like");
}

TEST_P(EveryChoice, NoSumOverTheSampleIsMadeAgain) {
  const Graph graph = with_recomputation(unet(), op_table(), GetParam());
  for (const Node& node : graph.nodes()) {
    if (node.name.starts_with("recompute")) {
      EXPECT_LT(op_table().at(node.op).driver, 0) << node.name;
    }
  }
}

TEST_P(EveryChoice, TheBackwardPassReadsNoForwardResultThatIsMadeAgain) {
  const Graph graph = with_recomputation(unet(), op_table(), GetParam());
  const auto again = made_again(graph);
  for (ValueId id = graph.backward_root; id < graph.size(); ++id)
    for (ValueId input : graph.node(id).inputs)
      EXPECT_FALSE(again.contains(graph.node(input).name)) << graph.node(id).name << " reads " << graph.node(input).name;
}

INSTANTIATE_TEST_SUITE_P(Choices, EveryChoice, testing::ValuesIn(kRecomputeChoices),
                         [](const auto& info) { return std::string(recompute_name(info.param)); });

TEST(Recompute, NormsAreMadeAgainFromConvolutionsThatAreKept) {
  const auto again = made_again(with_recomputation(unet(), op_table(), Recompute::kNorms));
  EXPECT_TRUE(again.contains("encoder0/conv0/norm"));
  EXPECT_FALSE(again.contains("encoder0/conv0"));
  EXPECT_FALSE(again.contains("decoder0/up"));
  EXPECT_FALSE(again.contains("encoder1/pool")) << "smaller than what it is made from";
}

TEST(Recompute, UpsamplingAddsTheTransposedConvolutions) {
  const auto again = made_again(with_recomputation(unet(), op_table(), Recompute::kUpsampling));
  EXPECT_TRUE(again.contains("decoder0/up"));
  EXPECT_TRUE(again.contains("encoder0/conv0/norm"));
  EXPECT_FALSE(again.contains("encoder0/conv0"));
}

TEST(Recompute, LevelsAddConvolutionsButKeepSkips) {
  const auto again = made_again(with_recomputation(unet(), op_table(), Recompute::kLevels));
  EXPECT_TRUE(again.contains("encoder0/conv0"));
  EXPECT_TRUE(again.contains("encoder0/conv1"));
  EXPECT_FALSE(again.contains("encoder0/conv1/norm")) << "read by the pool and by the decoder";
  EXPECT_FALSE(again.contains("head")) << "an output";
}

TEST(Recompute, ResultsStandRightBeforeTheirFirstReader) {
  const Graph graph = with_recomputation(unet(), op_table(), Recompute::kNorms);
  for (ValueId id = 0; id < graph.size(); ++id) {
    if (!graph.node(id).name.starts_with("recompute")) continue;
    ValueId reader = id + 1;
    auto reads = [&] {
      const auto& inputs = graph.node(reader).inputs;
      return std::find(inputs.begin(), inputs.end(), id) != inputs.end();
    };
    while (reader < graph.size() && !reads()) ++reader;
    EXPECT_LE(reader, id + 2) << graph.node(id).name;
  }
}

TEST(Recompute, TheIndexOfAMaximumIsTakenInTheForwardPass) {
  const Graph graph = with_recomputation(unet(), op_table(), Recompute::kNorms);
  EXPECT_LT(graph.find("encoder1/pool/argmax"), graph.backward_root);
}

TEST(Recompute, APredictionGraphComesBackAsItIs) {
  const Graph graph = unet(false);
  EXPECT_EQ(to_text(with_recomputation(graph, op_table(), Recompute::kLevels)), to_text(graph));
}

TEST(Recompute, AFarReaderGetsItsOwnCopy) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 4, 4, 1}});
  const ValueId w = b.parameter("w", {DType::kF32, {1, 1, 1, 1}});
  const Window window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  // x0 is needed by the gradients of the first and, through the sum, of the last layer of a long chain.
  const ValueId first = b.op("leaky_relu", {b.op("conv", {x, w}, ConvAttrs{.window = window}, "conv")}, {}, "relu");
  ValueId y = first;
  for (int i = 0; i < 30; ++i) y = b.op("scale", {y}, ScaleAttrs{.by = 2}, "scale" + std::to_string(i));
  const ValueId last = b.op("conv", {first, w}, ConvAttrs{.window = window}, "last");
  const ValueId sum = b.op("sum_all", {b.op("add", {b.op("conv", {y, w}, ConvAttrs{.window = window}, "end"), last}, {}, "sum")}, {}, "loss");
  graph.outputs["loss"] = sum;
  differentiate(b, sum);
  const Graph again = with_recomputation(graph, op_table(), Recompute::kNorms);
  for (const auto& broken : verify(again, op_table())) ADD_FAILURE() << broken;
  EXPECT_NE(again.find("recompute/relu"), kNoValue);
}

TEST(Recompute, AnUnknownNameListsTheChoices) {
  EXPECT_EQ(recompute_from_name("levels"), Recompute::kLevels);
  try {
    recompute_from_name("everything");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfig);
    EXPECT_NE(std::string(error.what()).find("expected none, norms, upsampling, levels"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace voxshard
