// The reference 3D U-Net against PyTorch: loss, gradient norm of every parameter, ten losses of SGD with momentum, from
// the same weights and input. The numbers and how they were made: unet_reference.json, make_unet_reference.py.
#include <gtest/gtest.h>

#include "libcore/base/rng.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "tests/parity/reference.h"

namespace voxshard {
namespace {

/// A bias whose layer is normalised has a true gradient of zero; what is left is rounding on both sides.
bool is_bias_before_norm(const std::string& name) {
  return name.ends_with("/bias") && name.find("conv") != std::string::npos;
}

class UNetAgainstPyTorch : public testing::TestWithParam<int> {};

TEST_P(UNetAgainstPyTorch, LossGradientsAndTenStepsAgree) {
  const auto all = stored_reference("unet_reference.json");
  const auto expected = all.at("cases").at(static_cast<std::size_t>(GetParam()));
  const auto seed = all.at("seed").get<std::uint64_t>();
  const auto size = expected.at("size");
  const Shape extents{all.at("batch"), size[0], size[1], size[2]};
  const std::int64_t classes = all.at("classes");
  const LossKind loss = expected.at("loss") == "cross_entropy" ? LossKind::kCrossEntropy
                        : expected.at("loss") == "dice_ce"     ? LossKind::kDiceCE
                                                               : LossKind::kAdaptiveDice32;
  const UNetConfig config{.base_filters = all.at("base_filters"),
                          .classes = classes,
                          .norm = expected.at("norm") == "batch" ? NormKind::kBatch : NormKind::kInstance,
                          .slope = expected.at("slope"),
                          .loss = loss,
                          .pool = Pooling::kValid};  // which PyTorch has; on even extents SAME is the same
  WorkerPool pool(2);
  Session session(
      op_table(),
      [&](const Shape& e, Phase phase) {
        const Graph graph = build_unet(
            config, {.batch = e[0], .size = {e[1], e[2], e[3]}, .training = phase == Phase::kTrain}, op_table());
        return lower(graph, op_table(), {.mesh = {.partition = {1, 2, 1, 2, 1}}}, {});
      },
      pool);
  const Graph& graph = session.plan(extents, Phase::kTrain).program.graph;
  session.parameters() = initialise(graph, seed);
  Trainer trainer(
      session, {.kind = OptimizerKind::kSgd, .learning_rate = all.at("learning_rate"), .momentum = all.at("momentum")},
      graph, 10);
  const std::int64_t count = element_count(extents);
  Tensor image(DType::kF32, {extents[0], extents[1], extents[2], extents[3], 1});
  Tensor labels(DType::kI32, image.shape());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    image.as<float>()[i] = static_cast<float>(2 * rng_uniform({seed, rng_stream("image")}, index) - 1);
    labels.as<std::int32_t>()[i] = static_cast<std::int32_t>(rng_below({seed, rng_stream("labels")}, index, classes));
  }
  auto feed = [&](const Node& input, const TensorView& box) {
    copy((std::holds_alternative<input::Image>(input.input) ? image : labels).view(), box);
  };
  // 14 convolutions stand before a norm. Losses are near 1: 2e-5 of them.
  expect_ten_steps(trainer, extents, feed, expected,
                   {.loss = 2e-5, .gradient = 1e-4, .is_zero = is_bias_before_norm, .zeros = 14});
}

INSTANTIATE_TEST_SUITE_P(AllCases, UNetAgainstPyTorch, testing::Values(0, 1, 2, 3));

TEST(UNet, TheReferenceHas19073795Parameters) {
  const Graph graph = build_unet({}, {.size = {16, 16, 16}}, op_table());
  EXPECT_EQ(count_parameters(graph), 19'073'795);
}

}  // namespace
}  // namespace voxshard
