// The reference 3D U-Net against PyTorch: loss, gradient norm of every parameter, ten losses of SGD with momentum, from
// the same weights and input; one case with deep supervision and a marginal loss. The numbers and how they were made:
// unet_reference.json, make_unet_reference.py.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/base/rng.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/parity/reference.h"
#include "tests/parity/trajectory.h"

namespace voxshard {
namespace {

class UNetAgainstPyTorch : public testing::TestWithParam<int> {};

TEST_P(UNetAgainstPyTorch, LossGradientsAndTenStepsAgree) {
  const auto all = stored_reference("unet_reference.json");
  const auto expected = all.at("cases").at(GetParam());
  const auto seed = all.at("seed").get<std::uint64_t>();
  const auto size = expected.at("size");
  const Shape extents{all.at("batch"), size[0], size[1], size[2]};
  const std::int64_t classes = all.at("classes"), replicas = expected.at("replicas");
  const auto loss = std::ranges::find(kLossNames, expected.at("loss").get<std::string>());
  ASSERT_NE(loss, std::end(kLossNames));
  const auto known_rows = expected.value("known", nlohmann::json());
  const bool marginal = !known_rows.is_null();
  const UNetConfig config{.base_filters = all.at("base_filters"),
                          .classes = classes,
                          .norm = expected.at("norm") == "batch" ? NormKind::kBatch : NormKind::kInstance,
                          .slope = expected.at("slope"),
                          .loss = static_cast<LossKind>(loss - std::begin(kLossNames)),
                          .pool = Pooling::kValid,  // as in PyTorch; on even extents SAME is the same
                          .marginal = marginal,
                          .deep_supervision = expected.value("supervised", false)};
  const auto build = [&](DType type) {
    return build_unet(config,
                      {.batch = extents[0],
                       .size = {extents[1], extents[2], extents[3]},
                       .dtype = type,
                       .norm_replicas = replicas,
                       .loss_replicas = replicas},
                      op_table());
  };
  const std::int64_t count = element_count(extents);
  Tensor image(DType::kF32, {extents[0], extents[1], extents[2], extents[3], 1});
  Tensor labels(DType::kI32, image.shape());
  for (std::int64_t i = 0; i < count; ++i) {
    image.as<float>()[i] = static_cast<float>(signed_uniform(seed, "image", i));
    labels.as<std::int32_t>()[i] =
        static_cast<std::int32_t>(rng_below({seed, rng_stream("labels")}, static_cast<std::uint64_t>(i), classes));
  }
  Tensor known(DType::kI32, {extents[0], classes});
  for (std::int64_t n = 0; marginal && n < extents[0]; ++n)
    for (std::int64_t c = 0; c < classes; ++c) known.as<std::int32_t>()[n * classes + c] = known_rows.at(n).at(c);
  const auto feed = [&](const Node& input, const TensorView& box) {
    const bool of_known = std::holds_alternative<input::Known>(input.input);
    copy((of_known ? known : std::holds_alternative<input::Image>(input.input) ? image : labels).view(), box);
  };
  expect_trajectory(
      {.build = build,
       .cut = {.mesh = {.replicas = replicas, .partition = {1, 2, 1, 2, 1}}},
       .fill = [](Parameters&) {},
       .feed = feed,
       .extents = extents,
       .sgd = {.kind = OptimizerKind::kSgd, .learning_rate = all.at("learning_rate"), .momentum = all.at("momentum")},
       .seed = seed},
      expected);
}

INSTANTIATE_TEST_SUITE_P(AllCases, UNetAgainstPyTorch, testing::Range(0, 6));

TEST(UNet, TheReferenceHas19073795Parameters) {
  const Graph graph = build_unet({}, {.size = {16, 16, 16}}, op_table());
  EXPECT_EQ(count_parameters(graph), 19'073'795);
}

}  // namespace
}  // namespace voxshard
