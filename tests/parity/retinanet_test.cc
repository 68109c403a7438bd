// RetinaNet against PyTorch: loss, gradient norm of every parameter, ten losses of SGD with momentum, from the same
// weights, image and targets. The numbers and how they were made: retinanet_reference.json,
// make_retinanet_reference.py.
#include <gtest/gtest.h>

#include "libcore/base/rng.h"
#include "libcore/models/retinanet.h"
#include "libcore/ops/op_table.h"
#include "tests/parity/reference.h"
#include "tests/parity/trajectory.h"

namespace voxshard {
namespace {

/// Returns the label of an anchor: for 3 % of them a class, for 3 % "ignored" (-2), for the others "none" (-1).
std::int32_t class_target(std::uint64_t seed, const std::string& level, std::int64_t anchor, std::int64_t classes) {
  const double u = rng_uniform({seed, rng_stream("class_targets/" + level)}, static_cast<std::uint64_t>(anchor));
  if (u < 0.03) return static_cast<std::int32_t>(u / 0.03 * static_cast<double>(classes));
  return u < 0.06 ? -2 : -1;
}

/// Returns the whole tensor of an input.
Tensor input_of(const Node& input, std::uint64_t seed, std::int64_t classes) {
  Tensor all(input.type.dtype, input.type.shape);
  const auto level = input.name.substr(input.name.find('/') + 1);
  for (std::int64_t i = 0; i < all.count(); ++i) {
    if (std::holds_alternative<input::ClassTargets>(input.input))
      all.as<std::int32_t>()[i] = class_target(seed, level, i, classes);
    else if (std::holds_alternative<input::BoxTargets>(input.input))
      all.as<float>()[i] = class_target(seed, level, i / 4, classes) >= 0
                               ? static_cast<float>(signed_uniform(seed, input.name, i))
                               : 0.0F;
    else
      all.as<float>()[i] = static_cast<float>(signed_uniform(seed, "image", i));
  }
  return all;
}

class RetinaNetAgainstPyTorch : public testing::TestWithParam<int> {};

TEST_P(RetinaNetAgainstPyTorch, LossGradientsAndTenStepsAgree) {
  const auto all = stored_reference("retinanet_reference.json");
  const auto expected = all.at("cases").at(GetParam());
  const auto seed = all.at("seed").get<std::uint64_t>();
  const Shape extents{all.at("batch"), all.at("size")[0], all.at("size")[1]};
  const double weight_decay = expected.value("weight_decay", 0.0);  // of the case that trains as the legacy model
  const RetinaNetConfig config{
      .backbone = expected.at("backbone") == "resnet18" ? Backbone::kResNet18 : Backbone::kResNet50,
      .variant = expected.at("variant") == "legacy" ? RetinaNetVariant::kLegacy : RetinaNetVariant::kDetection,
      .classes = expected.at("classes"),
      .filters = all.at("base_filters"),
      .pyramid_filters = all.at("pyramid_filters"),
      .decay = weight_decay > 0 ? Decay::kAllButBackboneNorms : Decay::kKernels,
      .frozen = weight_decay > 0 ? Frozen::kStem : Frozen::kNone};
  const auto build = [&](DType type) {
    return build_retinanet(config, {.batch = extents[0], .size = {extents[1], extents[2]}, .dtype = type}, op_table());
  };
  const bool basic = config.backbone == Backbone::kResNet18;
  std::map<std::string, Tensor> inputs;
  const Graph graph = build(DType::kF32);
  for (const Node& node : graph.nodes())
    if (node.role == Role::kInput) inputs.emplace(node.name, input_of(node, seed, config.classes));
  expect_trajectory({.build = build,
                     .cut = {.mesh = {.partition = {1, 2, 2, 1}}},
                     .fill =
                         [&](Parameters& parameters) {
                           fill_parameters(parameters, seed,
                                           [&](const std::string& name) { return ends_residual_block(name, basic); });
                         },
                     .feed = [&](const Node& input, const TensorView& box) { copy(inputs.at(input.name).view(), box); },
                     .extents = extents,
                     .sgd = {.kind = OptimizerKind::kSgd,
                             .learning_rate = all.at("learning_rate"),
                             .momentum = all.at("momentum"),
                             .weight_decay = weight_decay},
                     .seed = seed},
                    expected);
}

INSTANTIATE_TEST_SUITE_P(AllCases, RetinaNetAgainstPyTorch, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace voxshard
