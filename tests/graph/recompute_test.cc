// Recomputation keeps the graph's meaning: recomputed values have the same inputs and lie once near their readers, and
// running statistics are never updated twice.
#include "libcore/graph/recompute.h"

#include <gtest/gtest.h>

#include <set>

#include "libcore/graph/autodiff.h"
#include "libcore/graph/builder.h"
#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

/// A U-Net of two levels with batch norm.
constexpr std::string_view kUNet = R"(
  image = input : f32[1x8x16x2]

  encoder0/conv0/kernel = parameter : f32[3x3x2x4]
  encoder0/conv0 = conv %image, %encoder0/conv0/kernel kernel=3x3 pad=1x1/1x1
  encoder0/conv0/gamma = parameter : f32[4]
  encoder0/conv0/beta = parameter : f32[4]
  encoder0/conv0/moments = state : f32[4x2]
  encoder0/conv0/sums = moment_sums %encoder0/conv0 count=128
  encoder0/conv0/stats = norm_stats %encoder0/conv0/sums count=128
  encoder0/conv0/now = group_moments %encoder0/conv0/sums count=128
  encoder0/conv0/next = lerp %encoder0/conv0/moments, %encoder0/conv0/now momentum=0.99
  encoder0/conv0/norm = norm_apply %encoder0/conv0, %encoder0/conv0/stats, %encoder0/conv0/gamma, %encoder0/conv0/beta count=128 slope=0

  encoder0/conv1/kernel = parameter : f32[3x3x4x8]
  encoder0/conv1 = conv %encoder0/conv0/norm, %encoder0/conv1/kernel kernel=3x3 pad=1x1/1x1
  encoder0/conv1/gamma = parameter : f32[8]
  encoder0/conv1/beta = parameter : f32[8]
  encoder0/conv1/sums = moment_sums %encoder0/conv1 count=128
  encoder0/conv1/stats = norm_stats %encoder0/conv1/sums count=128
  encoder0/conv1/norm = norm_apply %encoder0/conv1, %encoder0/conv1/stats, %encoder0/conv1/gamma, %encoder0/conv1/beta count=128 slope=0

  encoder1/pool = max_pool %encoder0/conv1/norm kernel=2x2 stride=2x2
  encoder1/conv0/kernel = parameter : f32[3x3x8x16]
  encoder1/conv0 = conv %encoder1/pool, %encoder1/conv0/kernel kernel=3x3 pad=1x1/1x1
  encoder1/conv0/gamma = parameter : f32[16]
  encoder1/conv0/beta = parameter : f32[16]
  encoder1/conv0/sums = moment_sums %encoder1/conv0 count=32
  encoder1/conv0/stats = norm_stats %encoder1/conv0/sums count=32
  encoder1/conv0/norm = norm_apply %encoder1/conv0, %encoder1/conv0/stats, %encoder1/conv0/gamma, %encoder1/conv0/beta count=32 slope=0

  decoder0/up/kernel = parameter : f32[2x2x16x16]
  decoder0/up = conv_input_grad %encoder1/conv0/norm, %decoder0/up/kernel kernel=2x2 stride=2x2 shape=1x8x16x16
  decoder0/conv0/kernel = parameter : f32[3x3x24x8]
  decoder0/conv0 = conv %decoder0/up, %encoder0/conv1/norm, %decoder0/conv0/kernel kernel=3x3 pad=1x1/1x1 parts=2
  decoder0/conv0/gamma = parameter : f32[8]
  decoder0/conv0/beta = parameter : f32[8]
  decoder0/conv0/sums = moment_sums %decoder0/conv0 count=128
  decoder0/conv0/stats = norm_stats %decoder0/conv0/sums count=128
  decoder0/conv0/norm = norm_apply %decoder0/conv0, %decoder0/conv0/stats, %decoder0/conv0/gamma, %decoder0/conv0/beta count=128 slope=0

  head/kernel = parameter : f32[1x1x8x3]
  head = conv %decoder0/conv0/norm, %head/kernel kernel=1x1
  labels = input : i32[1x8x16x1]
  loss/sums = segmentation_sums %head, %labels
  loss = segmentation_loss %loss/sums, %head, %labels
  output logits = %head
  output loss = %loss
  effect encoder0/conv0/moments <- %encoder0/conv0/next
)";

Graph trained(std::string_view text) {
  Graph graph = parse_graph(text, op_table());
  Builder b(graph, op_table());
  differentiate(b, graph.outputs.at("loss"));
  return graph;
}

Graph unet() { return trained(kUNet); }

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
      EXPECT_FALSE(again.contains(graph.node(input).name))
          << graph.node(id).name << " reads " << graph.node(input).name;
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

TEST(Recompute, AGraphWithoutABackwardPassComesBackAsItIs) {
  const Graph graph = parse_graph(kUNet, op_table());
  EXPECT_EQ(with_recomputation(graph, op_table(), Recompute::kLevels), graph);
}

TEST(Recompute, AFarReaderGetsItsOwnCopy) {
  // The gradients of the weights of `last` and of `first` read relu; in the backward pass a chain of thirty lies
  // between them.
  std::string text = R"(
    x = input : f32[1x4x4x1]
    w = parameter : f32[1x1x1x1]
    conv = conv %x, %w kernel=1x1
    relu = leaky_relu %conv
    first = conv %relu, %w kernel=1x1
    scale0 = scale %first by=2
  )";
  for (int i = 1; i < 30; ++i)
    text += "scale" + std::to_string(i) + " = scale %scale" + std::to_string(i - 1) + " by=2\n";
  const Graph again = with_recomputation(trained(text + R"(
    last = conv %relu, %w kernel=1x1
    sum = add %scale29, %last
    loss = sum_all %sum
    output loss = %loss
  )"),
                                         op_table(), Recompute::kNorms);
  for (const auto& broken : verify(again, op_table())) ADD_FAILURE() << broken;
  const ValueId near = again.find("recompute/relu"), far = again.find("recompute2/relu");
  ASSERT_NE(near, kNoValue);
  ASSERT_NE(far, kNoValue) << "one copy lies in memory through the whole chain";
  EXPECT_EQ(again.node(again.find("grad/last/weights")).inputs[0], near);
  EXPECT_EQ(again.node(again.find("grad/first/weights")).inputs[0], far);
  EXPECT_GT(far, again.find("grad/scale0")) << "it is made in front of its reader";
  EXPECT_EQ(again.find("recompute3/relu"), kNoValue);
}

TEST(Recompute, AnUnknownNameListsTheChoices) {
  EXPECT_EQ(recompute_from_name("levels"), Recompute::kLevels);
  expect_error(ErrorKind::kConfig, "expected none, norms, upsampling, levels",
               [&] { recompute_from_name("everything"); });
}

TEST(MadeAgain, OnlyWhatIsNamedIsMadeAgainInFrontOfItsReader) {
  const Graph graph = with_gradient(parse_graph(kUNet, op_table()), op_table());
  std::vector<bool> again(static_cast<std::size_t>(graph.size()), false);
  EXPECT_EQ(with_made_again(graph, again).size(), graph.size());
  again[graph.find("encoder1/conv0/norm")] = true;
  const Graph small = with_made_again(graph, again);
  EXPECT_EQ(small.size(), graph.size() + 1);
  const ValueId clone = small.find("recompute/encoder1/conv0/norm");
  ASSERT_NE(clone, kNoValue);
  EXPECT_GT(clone, small.backward_root);
  EXPECT_EQ(small.find("recompute/encoder0/conv0/norm"), kNoValue);
}

TEST(MadeAgain, AMarkOnABackwardValueChangesNothing) {
  const Graph graph = with_gradient(parse_graph(kUNet, op_table()), op_table());
  std::vector<bool> again(static_cast<std::size_t>(graph.size()), false);
  for (ValueId id = graph.backward_root; id < graph.size(); ++id) again[id] = true;
  EXPECT_EQ(to_text(with_made_again(graph, again)),
            to_text(with_made_again(graph, std::vector<bool>(again.size(), false))));
}

}  // namespace
}  // namespace voxshard
