// A small U-Net with random data for the tests of memory and runtime, and a session around it.
//
//   UNetScene scene({.size = {8, 8, 16}, .partition = "1x2x1x2x1"});
//   Trainer trainer = scene.trainer({.kind = OptimizerKind::kAdam}, 10);
//   trainer.step(scene.extents, scene.feed());
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "libcore/base/rng.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/planner/budget.h"
#include "libcore/train/initialise.h"
#include "libcore/train/trainer.h"
#include "tests/base/print_boxes.h"

namespace voxshard::test {

struct SceneOptions {
  Shape extents = {1, 8, 8, 16};
  std::string partition = "1x1x1x1x1";
  std::int64_t replicas = 1;
  DType dtype = DType::kF32;
  UNetConfig config = {.base_filters = 4, .depth = 3};
  int workers = 1;
  std::uint64_t seed = 3;
  std::int64_t budget_bytes = 0;
  std::int64_t optimizer_slots = 0;
  KernelSet kernels = KernelSet::kFast;
  Recompute recompute = Recompute::kNone;
  std::int64_t thinnest_slab = 0;
  ArenaMode arenas = ArenaMode::kPlain;
  std::int64_t guard_bytes = 0;
};

inline Graph scene_graph(const SceneOptions& o, const Shape& extents, bool training) {
  Dims size;
  for (int a = 1; a < extents.axes(); ++a) size.push_back(extents[a]);
  return build_unet(o.config, {.batch = extents[0], .size = size, .dtype = o.dtype, .training = training}, op_table());
}

inline Cut scene_cut(const SceneOptions& o) {
  return {.mesh = {.replicas = o.replicas, .partition = parse_partition(o.partition, o.extents.axes() + 1)},
          .thinnest_slab = o.thinnest_slab,
          .recompute = o.recompute};
}

inline Target scene_target(const SceneOptions& o) {
  return {
      .guard_bytes = o.guard_bytes, .kernels = o.kernels, .optimizer_slots = o.optimizer_slots, .workers = o.workers};
}

/// Returns the step of a scene, lowered over its mesh, with its memory.
inline Lowered scene_lowered(const SceneOptions& o, bool training = true) {
  return lower_to_memory(step_graph(scene_graph(o, o.extents, training), op_table(), o.recompute), op_table(),
                         scene_cut(o), scene_target(o));
}
inline Program scene_program(const SceneOptions& o, bool training = true) { return scene_lowered(o, training).program; }

class UNetScene {
 public:
  explicit UNetScene(const SceneOptions& o)
      : options(o),
        extents(o.extents),
        pool(o.workers),
        session(
            op_table(),
            [o](const Shape& e, Phase phase) {
              return lower_within({.core_bytes = o.budget_bytes}, scene_graph(o, e, phase == Phase::kTrain), op_table(),
                                  scene_cut(o), scene_target(o));
            },
            pool, nullptr, o.arenas) {
    const Graph graph = scene_graph(o, extents, true);
    session.parameters() = initialise(graph, o.seed);
    for (const Node& node : graph.nodes()) {
      if (node.role != Role::kInput) continue;
      Tensor& tensor = node.name == "image" ? image : labels;
      tensor = Tensor(node.type.dtype, node.type.shape);
      for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const RngKey key{o.seed, rng_stream(node.name)};
        const auto index = static_cast<std::uint64_t>(i);
        store(tensor.view(), i,
              node.name == "image" ? rng_normal(key, index)
                                   : static_cast<double>(rng_below(key, index, o.config.classes)));
      }
    }
  }

  Trainer trainer(const OptimizerOptions& optimizer, std::int64_t steps) {
    return Trainer(session, optimizer, session.plan(extents, Phase::kTrain).program.graph, steps);
  }

  Trainer::Feed feed() const {
    return [this](const Node& input, const TensorView& box) {
      copy((std::holds_alternative<input::Image>(input.input) ? image : labels).view(), box);
    };
  }

  SceneOptions options;
  Shape extents;
  WorkerPool pool;
  Session session;
  Tensor image, labels;
};

/// Returns the name of the first tensor whose bytes differ, or "".
inline std::string first_difference(const Parameters& a, const Parameters& b) {
  if (a.size() != b.size()) return "the number of tensors";
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.shape() != tensor.shape()) return name;
    if (std::memcmp(tensor.data(), other->second.data(), static_cast<std::size_t>(tensor.bytes())) != 0) return name;
  }
  return "";
}

}  // namespace voxshard::test
