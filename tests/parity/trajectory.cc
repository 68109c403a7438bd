#include "tests/parity/trajectory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "libcore/ops/op_table.h"
#include "libcore/runtime/session.h"
#include "libcore/train/initialise.h"

namespace voxshard {
namespace {

GradientNorm norm_of(const Tensor& tensor) {
  double square = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) square += load(tensor.view(), i) * load(tensor.view(), i);
  return {std::sqrt(square), static_cast<double>(tensor.count())};
}

Tensor in_type(const TensorView& view, DType type) {
  Tensor tensor(type, view.extent());
  copy(view, tensor.view());
  return tensor;
}

/// Returns the graph with its parameters in f64.
Graph with_wide_parameters(const Graph& graph, const OpTable& ops) {
  Graph wide;
  for (ValueId id = 0; id < graph.size(); ++id) {
    Node node = graph.node(id);
    if (node.role == Role::kParameter) node.type.dtype = DType::kF64;
    if (node.role == Role::kOp) {
      std::vector<TensorType> types;
      for (const ValueId input : node.inputs) types.push_back(wide.node(input).type);
      node.type = ops.at(node.op).infer(node.attrs, types);
    }
    wide.append(std::move(node));
  }
  wide.outputs = graph.outputs;
  wide.effects = graph.effects;
  return wide;
}

/// Returns a gradient in f64. Those of a norm's gamma and beta are columns of f64 sums that their op rounds to f32:
/// they are read from the sums.
Tensor wide_gradient(const CoreSet& cores, const Graph& graph, ValueId gradient) {
  const Node& node = graph.node(gradient);
  if (node.op != "group_column") {
    EXPECT_EQ(node.type.dtype, DType::kF64) << node.name << " is rounded";
    return in_type(cores.replicated(gradient), DType::kF64);
  }
  const Tensor sums = cores.gather(node.inputs[0]);  // also of groups that lie on replicas of their own
  const std::int64_t groups = sums.shape()[0], channels = sums.shape()[1];
  Tensor column(DType::kF64, {channels});
  for (std::int64_t c = 0; c < channels; ++c) {
    double total = 0;
    for (std::int64_t g = 0; g < groups; ++g)
      total += sums.as<const double>()[(g * channels + c) * 2 + attrs_of<ColumnAttrs>(node.attrs).column];
    column.as<double>()[c] = total;
  }
  return column;
}

/// Takes a step of SGD: d = g + decay w; u = momentum u + d; w -= rate u.
void sgd_f64(Tensor& w, Tensor& u, const Tensor& g, double rate, double momentum, double decay) {
  for (std::int64_t i = 0; i < w.count(); ++i) {
    u.as<double>()[i] = momentum * u.as<double>()[i] + g.as<const double>()[i] + decay * w.as<double>()[i];
    w.as<double>()[i] -= rate * u.as<double>()[i];
  }
}

double largest_share(const std::vector<Compared>& all) {
  double largest = 0;
  for (const Compared& one : all) {
    EXPECT_NEAR(one.mine, one.theirs, one.allowed) << one.what;
    largest = std::max(largest, one.share());
  }
  return largest;
}

/// Returns the size of the terms that cancel in the gradient of a bias before a norm, whose true value is zero: that of
/// its layer's weight gradient. 0 for any other parameter.
double cancels(const nlohmann::json& norms, const std::string& name) {
  const std::string end = "/bias";
  if (!name.ends_with(end)) return 0;
  const double weights = norms.at(name.substr(0, name.size() - end.size()) + "/kernel");
  return norms.at(name).get<double>() < 1e-9 * weights ? weights : 0;
}

}  // namespace

Trajectory run_f32(const ParityScene& scene, WorkerPool& pool) {
  Session session(
      op_table(), [&](const Shape&, Phase) { return lower(scene.build(DType::kF32), op_table(), scene.cut, {}); },
      pool);
  const Graph& graph = session.plan(scene.extents, Phase::kTrain).program.graph;
  session.parameters() = initialise(graph, scene.seed);
  scene.fill(session.parameters());
  Trainer trainer(session, scene.sgd, graph, kSteps);
  Trajectory result;
  for (std::size_t step = 0; step < kSteps; ++step) {
    result.losses.push_back(trainer.step(scene.extents, scene.feed).loss);
    if (step > 0) continue;
    for (const auto& [name, gradient] : trainer.gradients())
      result.gradient_norms.emplace(name, norm_of(in_type(gradient, DType::kF64)));
  }
  return result;
}

Trajectory run_f64(const ParityScene& scene, WorkerPool& pool) {
  const Executable executable = lower(with_wide_parameters(scene.build(DType::kF64), op_table()), op_table(), scene.cut,
                                      {.keep_all = true, .kernels = KernelSet::kReference});
  const Graph& graph = executable.program.graph;
  Parameters parameters = initialise(scene.build(DType::kF32), scene.seed), momenta;
  scene.fill(parameters);
  for (auto& [name, tensor] : parameters)
    if (graph.node(graph.find(name)).type.dtype == DType::kF64) tensor = in_type(tensor.view(), DType::kF64);
  InProcessTransport transport;
  CoreSet cores(executable, op_table(), parameters, pool, transport);
  Trajectory result;
  for (std::size_t step = 0; step < kSteps; ++step) {
    feed_all(cores, scene.feed);
    cores.run();
    result.losses.push_back(load(cores.replicated(graph.outputs.at("loss")), 0));
    for (const auto& [id, gradient] : graph.gradients) {
      const Node& node = graph.node(id);
      const Tensor wide = wide_gradient(cores, graph, gradient);
      if (step == 0) result.gradient_norms.emplace(node.name, norm_of(wide));
      const auto u = momenta.try_emplace(node.name, DType::kF64, wide.shape()).first;
      sgd_f64(parameters.at(node.name), u->second, wide, scene.sgd.learning_rate, scene.sgd.momentum,
              node.parameter.decays ? scene.sgd.weight_decay : 0);
    }
  }
  return result;
}

Comparison compare(const Trajectory& mine, const nlohmann::json& expected, DType type) {
  const nlohmann::json& exact = expected.contains("f64") ? expected.at("f64") : expected;
  const nlohmann::json& condition = expected.at("condition");
  const double terms = condition.at("terms");
  // Norms and losses of a run in f32 are added up in f64 and rounded only when stored; f64 has no wider type for them.
  const double f64_terms = type == DType::kF64 ? terms : 1;
  const auto compared = [&](const std::string& what, double number, double theirs, double most) {
    return Compared{what, number, theirs,
                    allowance(measured(terms, most), type) + allowance({f64_terms, theirs}, type)};
  };
  Comparison result;
  const nlohmann::json& norms = exact.at("gradient_norms");
  for (const auto& [name, theirs] : norms.items()) {
    const GradientNorm& norm = mine.gradient_norms.at(name);
    Compared& one =
        result.gradient_norms.emplace_back(compared(name, norm.value, theirs, condition.at("gradient_norms").at(name)));
    one.allowed += allowance({norm.elements, theirs},
                             DType::kF64);  // both sides add up its squares in f64
    one.allowed += allowance({terms, cancels(norms, name)}, type);
  }
  for (std::size_t step = 0; step < kSteps; ++step) {
    const Compared loss = compared("step " + std::to_string(step), mine.losses.at(step), exact.at("losses").at(step),
                                   condition.at("losses").at(step));
    if (loss.allowed > kTellingPart * loss.theirs) break;
    result.losses.push_back(loss);
  }
  return result;
}

void expect_trajectory(const ParityScene& scene, const nlohmann::json& expected) {
  // The slow kernels know no instruction set: where tests/run.sh repeats its tests for an older one, they are done.
  const bool repeated = std::getenv("VOXSHARD_TESTS_REPEATED") != nullptr;
  WorkerPool pool(2);
  for (const DType type : {DType::kF32, DType::kF64}) {
    SCOPED_TRACE(dtype_name(type));
    const bool wide = type == DType::kF64;
    if (wide && repeated) continue;
    const Trajectory mine = wide ? run_f64(scene, pool) : run_f32(scene, pool);
    const Comparison compared = compare(mine, expected, type);
    EXPECT_EQ(mine.gradient_norms.size(), compared.gradient_norms.size());
    EXPECT_GE(compared.losses.size(), wide ? kSteps : 2) << "the loss of a second step shows what the optimizer did";
    const double losses = largest_share(compared.losses), norms = largest_share(compared.gradient_norms);
    std::cout << dtype_name(type) << ": largest share of what is allowed " << losses << " of " << compared.losses.size()
              << " losses, " << norms << " of " << compared.gradient_norms.size() << " gradient norms\n";
  }
}

}  // namespace voxshard
