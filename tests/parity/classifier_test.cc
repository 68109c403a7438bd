// Classifiers against PyTorch: loss, gradient norm of every parameter, ten losses of SGD with momentum, from the same
// weights, images and labels, cut over four cores. The numbers and how they were made: classifier_reference.json,
// make_classifier_reference.py.
#include <gtest/gtest.h>

#include "libcore/models/model.h"
#include "libcore/ops/op_table.h"
#include "tests/parity/reference.h"
#include "tests/parity/trajectory.h"

namespace voxshard {
namespace {

class ClassifierAgainstPyTorch : public testing::TestWithParam<int> {};

bool ends_block(const std::string& model, const std::string& name) {
  if (model.starts_with("resnet3d") || model.starts_with("r2plus1d"))
    return name.starts_with("group") && name.ends_with("/conv2/norm/gamma");
  return ends_residual_block(name, model != "resnet50");
}

std::any config_of(const Model& model, const nlohmann::json& all, const nlohmann::json& expected) {
  std::any config = model.config;
  for (const ConfigField& row : model.fields) {
    if (row.name == "base_filters" || row.name == "classes") row.set(config, all.at(row.name).get<std::int64_t>());
    if (row.name == "channels") row.set(config, expected.at("channels").get<std::int64_t>());
    if (row.name == "dropout") row.set(config, 0.0);
  }
  return config;
}

TEST_P(ClassifierAgainstPyTorch, LossGradientsAndTenStepsAgree) {
  const auto all = stored_reference("classifier_reference.json");
  const auto expected = all.at("cases").at(GetParam());
  const auto seed = all.at("seed").get<std::uint64_t>();
  const Model& model = *model_named(model_table(), expected.at("model").get<std::string>());
  const std::any config = config_of(model, all, expected);
  Shape extents;
  for (const auto& extent : expected.at("extents")) extents.push_back(extent);
  const auto build = [&](DType type) {
    GraphOptions options{.batch = extents[0], .dtype = type};
    for (int a = 1; a < extents.axes(); ++a) options.size.push_back(extents[a]);
    return model.build(config, options, op_table());
  };
  std::map<std::string, Tensor> inputs;
  const Graph graph = build(DType::kF32);
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kInput) continue;
    Tensor values(node.type.dtype, node.type.shape);
    const auto* labels = std::get_if<input::Labels>(&node.input);
    for (std::int64_t i = 0; i < values.count(); ++i)
      store(values.view(), i,
            labels != nullptr ? static_cast<double>(rng_below({seed, rng_stream("labels")},
                                                              static_cast<std::uint64_t>(i), labels->classes))
                              : signed_uniform(seed, "image", i));
    inputs.emplace(node.name, std::move(values));
  }
  Dims partition = Dims::filled(extents.axes() + 1, 1);
  partition[1] = 4;
  expect_trajectory(
      {.build = build,
       .cut = {.mesh = {.partition = partition}},
       .fill =
           [&](Parameters& parameters) {
             fill_parameters(parameters, seed, [&](const std::string& name) { return ends_block(model.name, name); });
           },
       .feed = [&](const Node& input, const TensorView& box) { copy(inputs.at(input.name).view(), box); },
       .extents = extents,
       .sgd = {.kind = OptimizerKind::kSgd, .learning_rate = all.at("learning_rate"), .momentum = all.at("momentum")},
       .seed = seed},
      expected);
}

INSTANTIATE_TEST_SUITE_P(AllCases, ClassifierAgainstPyTorch, testing::Values(0, 1, 2, 3, 4));

}  // namespace
}  // namespace voxshard
