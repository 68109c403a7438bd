// Members of a U-Net: networks side by side that begin apart, learn each by its own loss, and predict together.
#include "libcore/graph/text.h"
#include "tests/runtime/weighted_losses.h"

namespace voxshard::test {
namespace {

Tensor logits_of(UNetScene& scene) {
  CoreSet& cores = scene.session.cores(scene.extents, Phase::kPredict);
  feed_all(cores, scene.feed());
  cores.run();
  return cores.gather(cores.executable().program.graph.outputs.at("logits"));
}

TEST(Members, BeginWithOtherValues) {
  UNetScene scene({.config = {.base_filters = 2, .depth = 2, .members = 3}});
  for (const std::string name : {"encoder0/conv0/kernel", "decoder0/up/kernel", "head/kernel"}) {
    const Tensor& first = scene.session.parameters().at(name);
    for (const std::string member : {"member1/", "member2/"}) {
      const Tensor& other = scene.session.parameters().at(member + name);
      ASSERT_EQ(other.shape(), first.shape());
      EXPECT_NE(std::memcmp(other.data(), first.data(), static_cast<std::size_t>(first.bytes())), 0) << member << name;
    }
  }
}

TEST(Members, LossAndGradientsAreTheMeanOfThoseOfEach) {
  expect_weighted_sum({.extents = {1, 16, 8, 12},
                       .partition = "1x2x1x2x1",
                       .config = {.base_filters = 2, .depth = 2, .norm = NormKind::kNone, .members = 2}},
                      {{"loss", 0.5}, {"member1/loss", 0.5}});
  expect_weighted_sum(
      {.extents = {1, 16, 18, 15},
       .partition = "1x2x1x2x1",
       .config = {.base_filters = 2, .norm = NormKind::kNone, .deep_supervision = true, .members = 2}},
      {{"loss", 1.0 / 3}, {"member1/loss", 1.0 / 3}, {"loss/level1", 1.0 / 6}, {"member1/loss/level1", 1.0 / 6}});
}

TEST(Members, PredictTheMeanOfTheirLogits) {
  const SceneOptions one{
      .extents = {1, 13, 12, 16}, .partition = "1x2x1x2x1", .config = {.base_filters = 2, .depth = 3}};
  SceneOptions two = one;
  two.config.members = 2;
  UNetScene together(two);
  const Tensor mean = logits_of(together);
  std::vector<Tensor> alone;
  for (const std::string member : {"", "member1/"}) {
    UNetScene scene(one);
    for (auto& [name, tensor] : scene.session.parameters())
      copy(together.session.parameters().at(member + name).view(), tensor.view());
    alone.push_back(logits_of(scene));
  }
  ASSERT_EQ(mean.shape(), alone[0].shape());
  bool differ = false;
  for (std::int64_t i = 0; i < mean.count(); ++i) {
    const float a = alone[0].as<float>()[i], b = alone[1].as<float>()[i];
    differ = differ || a != b;
    ASSERT_EQ(mean.as<float>()[i], 0.5f * (a + b)) << i;  // one f32 sum, halved
  }
  EXPECT_TRUE(differ);
}

TEST(Members, OfAnEvaluationAreScoredTogether) {
  UNetConfig config{.base_filters = 2, .depth = 2, .members = 3};
  const GraphOptions evaluating{.size = {8, 8, 8}, .training = false, .evaluating = true};
  const Graph graph = build_unet(config, evaluating, op_table());
  const Node& sums = graph.node(graph.outputs.at("loss_sums"));
  EXPECT_EQ(sums.inputs.front(), graph.outputs.at("logits"));
  EXPECT_EQ(graph.node(graph.outputs.at("logits")).op, "scale");
  EXPECT_EQ(graph.find("member1/loss"), kNoValue);
  config.members = 1;
  EXPECT_EQ(to_text(build_unet(config, evaluating, op_table())).find("member"), std::string::npos);
}

}  // namespace
}  // namespace voxshard::test
