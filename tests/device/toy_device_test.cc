// A device that only this test defines: the planner uses it, and it appears in a profile.
#include <nlohmann/json.hpp>
#include <set>

#include "libcore/ops/op_table.h"
#include "pipelines/planning/run_plan.h"
#include "pipelines/profile/trace_json.h"
#include "pipelines/tasks/table/task_table.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

/// A device of abacuses: a second for every thousand elements that a core computes, a minute for every message. Each of
/// its cores has 64 MiB, in plain bytes; it is offered with 1, 2 or 4 cores.
class Abacus final : public Device {
 public:
  const std::string& name() const override { return name_; }
  bool emulated() const override { return true; }
  bool tiled() const override { return false; }
  std::int64_t core_bytes() const override { return std::int64_t{64} << 20; }
  std::vector<std::int64_t> slices() const override { return {1, 2, 4}; }
  StepPrice price(const Program& program, const OpTable&, const Feed& feed) const override {
    StepPrice step{.feed_s = feed.transfer_bytes * 1e-6, .feeding_hosts = 1};
    for (const Instruction& instruction : program.instructions) {
      InstructionPrice price{.begin_s = step.device_s,
                             .messages = static_cast<std::int64_t>(instruction.copies.size())};
      for (const auto& blocks : instruction.blocks) {
        double elements = 0;
        for (const Box& block : blocks) elements += static_cast<double>(block.count());
        price.slowest.vector_s = std::max(price.slowest.vector_s, elements * 1e-3);
      }
      price.slowest.link_s = message_s_ * static_cast<double>(price.messages);
      step.device_s = price.end_s = step.device_s + price.slowest.seconds();
      step.messages += price.messages;
      step.busy += price.slowest;
      step.instructions.push_back(price);
    }
    step.step_s = step.device_s + step.feed_s;
    return step;
  }

  double message_s_ = 60;

 private:
  std::string name_ = "abacus";
};

PlanOptions small_options(std::shared_ptr<const Device> device) {
  PlanOptions o{.extents = {1, 16, 16, 16}, .device = {.device = std::move(device)}, .threads = 2};
  o.spec.as<UNetConfig>() = {.base_filters = 2, .depth = 2};
  o.spec.precision = DType::kF32;
  return o;
}

TEST(ToyDevice, IsPlannedFor) {
  NoProgress progress;
  auto quick = std::make_shared<Abacus>();
  quick->message_s_ = 0;
  const PlanReport r = run_plan(small_options(quick), progress);
  EXPECT_EQ(r.device, "abacus");
  EXPECT_TRUE(r.emulated);
  EXPECT_EQ(r.core_budget_bytes, std::int64_t{64} << 20);
  EXPECT_EQ(r.chosen().cut.mesh.cores(), 4) << "nothing hinders it from sharing the work out, up to its largest slice";
  EXPECT_DOUBLE_EQ(r.price.feed_s, 16 * 16 * 16 * 16 * 1e-6);
  EXPECT_EQ(to_json(r, false)["clock"], "emulated");
  const PlanReport slow = run_plan(small_options(std::make_shared<Abacus>()), progress);
  EXPECT_EQ(slow.chosen().cut.mesh.cores(), 1) << "a message takes a minute";
}

TEST(ToyDevice, ItsBytesAreNotThoseOfATpu) {
  NoProgress progress;
  PlanOptions options = small_options(std::make_shared<Abacus>());
  options.cores = 1;
  const std::int64_t plain = run_plan(options, progress).chosen().core_bytes;
  options.device = device_from_name("tpu-v3");
  EXPECT_GT(run_plan(options, progress).chosen().core_bytes, 2 * plain) << "two channels in tiles of 128";
}

TEST(ToyDevice, ItsClockIsShownInAProfile) {
  const Scene scene("toy_device");
  const PlanOptions options = small_options(std::make_shared<Abacus>());
  const Graph graph = build_graph(options.spec, options.extents, Phase::kTrain, DType::kF32);
  const Executable e = lower(graph, op_table(), {.mesh = {.partition = {1, 2, 1, 1, 1}}}, {});
  TraceFile trace({.file = scene.path("toy.json"), .device = options.device.device}, 1);
  trace.price(e.program, op_table(), feed_of(graph, task_of(task_table(), options.spec).records()));
  trace.write();
  std::ifstream in(scene.path("toy.json"));
  const auto json = nlohmann::json::parse(in);
  EXPECT_EQ(json.at("otherData").at("device"), "abacus");
  EXPECT_EQ(json.at("otherData").at("emulated_cores_shown"), 2);
  std::set<std::string> categories;
  for (const auto& event : json.at("traceEvents"))
    if (event.contains("cat")) categories.insert(event.at("cat"));
  EXPECT_EQ(categories, (std::set<std::string>{"feed", "vector unit", "links"}));
}

}  // namespace
}  // namespace voxshard
