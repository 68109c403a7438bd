// Classifiers against PyTorch: loss, gradient norm of every parameter, ten losses of SGD with momentum, from the same
// weights, images and labels, cut over four cores. The numbers and how they were made: classifier_reference.json,
// make_classifier_reference.py.
#include <gtest/gtest.h>

#include "libcore/models/model.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "tests/parity/reference.h"

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
  const auto expected = all.at("cases").at(static_cast<std::size_t>(GetParam()));
  const auto seed = all.at("seed").get<std::uint64_t>();
  const Model& model = *model_named(model_table(), expected.at("model").get<std::string>());
  const std::any config = config_of(model, all, expected);
  Shape extents;
  for (const auto& extent : expected.at("extents")) extents.push_back(extent);
  WorkerPool pool(2);
  Session session(
      op_table(),
      [&](const Shape& e, Phase phase) {
        GraphOptions options{.batch = e[0], .training = phase == Phase::kTrain};
        for (int a = 1; a < e.rank(); ++a) options.size.push_back(e[a]);
        Dims partition = Dims::filled(e.rank() + 1, 1);
        partition[1] = 4;
        return lower(model.build(config, options, op_table()), op_table(), {.mesh = {.partition = partition}}, {});
      },
      pool);
  const Graph& graph = session.plan(extents, Phase::kTrain).program.graph;
  session.parameters() = initialise(graph, seed);
  fill_parameters(session.parameters(), seed, [&](const std::string& name) { return ends_block(model.name, name); });
  Trainer trainer(
      session, {.kind = OptimizerKind::kSgd, .learning_rate = all.at("learning_rate"), .momentum = all.at("momentum")},
      graph, 10);
  std::map<std::string, Tensor> inputs;
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
  const auto feed = [&](const Node& input, const TensorView& box) { copy(inputs.at(input.name).view(), box); };
  // PyTorch computed in f64; ReLUs near 0 fall to the other side, as in RetinaNet.
  expect_ten_steps(trainer, extents, feed, expected,
                   {.loss = 2e-3, .gradient = 1e-2, .is_zero = [](const std::string&) { return false; }});
}

INSTANTIATE_TEST_SUITE_P(AllCases, ClassifierAgainstPyTorch, testing::Values(0, 1, 2, 3, 4));

}  // namespace
}  // namespace voxshard
