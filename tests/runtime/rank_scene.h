// A training of a small model by one rank of several, and its outcome.
//
//   RankOutcome one = train_as_rank(unet_scene({.partition = "1x2x1x1x1"}), nullptr);
#pragma once

#include "libcore/check/random_values.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard::test {

/// Any model with random inputs and parameters.
struct RankScene {
  std::function<Graph()> build;
  Shape extents;
  Cut cut;
  DType dtype = DType::kF32;
  int workers = 1;
  ArenaMode arenas = ArenaMode::kPlain;
  std::int64_t guard_bytes = 0;
};

inline RankScene unet_scene(const SceneOptions& o) {
  return {.build = [o] { return scene_graph(o, o.extents, true); },
          .extents = o.extents,
          .cut = scene_cut(o),
          .dtype = o.dtype,
          .workers = o.workers,
          .arenas = o.arenas,
          .guard_bytes = o.guard_bytes};
}

struct RankOutcome {
  Parameters parameters, averages, optimizer, gradients;  // gradients: of the last step
  std::vector<double> losses;
  std::int64_t own_arenas = 0, messages = 0;  // planned bytes
  std::vector<Traffic> sent, planned;         // per instruction, of all steps
};

inline constexpr int kRankSteps = 4;
inline constexpr std::uint64_t kRankSeed = 3;

/// Trains as one rank; `transport`: null for one process.
inline RankOutcome train_as_rank(const RankScene& scene, Transport* transport, std::int64_t steps = kRankSteps) {
  WorkerPool pool(scene.workers);
  const Graph graph = scene.build();
  const auto inputs = random_inputs(graph, scene.dtype, kRankSeed);
  const Target target{.guard_bytes = scene.guard_bytes,
                      .workers = scene.workers,
                      .ranks = transport != nullptr ? transport->place() : Ranks()};
  Session session(
      op_table(), [&](const Shape&, Phase) { return lower(graph, op_table(), scene.cut, target); }, pool, transport,
      scene.arenas);
  session.parameters() = random_parameters(graph, kRankSeed);
  const Executable& plan = session.plan(scene.extents, Phase::kTrain);
  Trainer trainer(session, {.kind = OptimizerKind::kAdam, .ema = 0.9}, plan.program.graph, steps, kRankSeed);
  RankOutcome outcome{.own_arenas = plan.bytes.all_arenas() - plan.bytes.elsewhere, .messages = plan.bytes.messages};
  const auto feed = [&](const Node& input, const TensorView& box) { copy(inputs.at(input.name).view(), box); };
  for (std::int64_t step = 0; step < steps; ++step) outcome.losses.push_back(trainer.step(scene.extents, feed).loss);
  for (const auto& [name, gradient] : trainer.gradients()) {
    Tensor& kept = outcome.gradients[name] = Tensor(gradient.dtype, gradient.extent());
    copy(gradient, kept.view());
  }
  outcome.parameters = session.parameters();
  outcome.averages = trainer.optimizer().averages();
  outcome.optimizer = trainer.optimizer().state();
  outcome.sent = session.cores(scene.extents, Phase::kTrain).traffic_by_instruction();
  for (std::size_t i = 0; transport != nullptr && transport->ranks() > 1 && i < plan.program.instructions.size(); ++i) {
    const Traffic one = traffic_of(plan.program, plan.schedule, i, transport->place());
    outcome.planned.push_back({one.messages * steps, one.bytes * steps});
  }
  return outcome;
}

}  // namespace voxshard::test
