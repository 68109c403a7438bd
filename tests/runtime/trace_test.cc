// The trace of a step: every task once, in order, never two at a time on one worker; nothing when tracing is off.
#include "libcore/runtime/trace.h"

#include <map>

#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Recorded {
  UNetScene scene;
  TraceRecorder recorder;

  explicit Recorded(const TraceRecorder::Options& options, int steps, const char* partition = "1x2x1x2x1")
      : scene({.partition = partition, .workers = options.workers}), recorder(options) {
    Trainer trainer = scene.trainer({}, steps);
    CoreSet& cores = scene.session.cores(scene.extents, Phase::kTrain);
    cores.set_trace(&recorder);
    for (int i = 0; i < steps; ++i) {
      recorder.begin_step(program());
      trainer.step(scene.extents, scene.feed());
      recorder.end_step();
    }
  }
  const Program& program() { return scene.session.plan(scene.extents, Phase::kTrain).program; }
};

TEST(Trace, EventsOfOneWorkerFollowEachOther) {
  Recorded r({.workers = 3}, 2);
  for (int w = 0; w < 3; ++w) {
    double before = 0, busy = 0;
    for (const TraceEvent& e : r.recorder.events(w)) {
      EXPECT_GE(e.begin_s, before);
      EXPECT_GE(e.end_s, e.begin_s);
      before = e.end_s;
      busy += e.end_s - e.begin_s;
      const TraceStep& step = r.recorder.steps().at(e.step);
      EXPECT_GE(e.begin_s, step.begin_s);
      EXPECT_LE(e.end_s, step.end_s);
    }
    double wall = 0;
    for (const TraceStep& step : r.recorder.steps()) wall += step.end_s - step.begin_s;
    EXPECT_LE(busy, wall);
  }
  EXPECT_EQ(r.recorder.dropped(), 0);
}

TEST(Trace, EveryBlockOfEveryCoreIsOneTask) {
  Recorded r({.workers = 2, .most_steps = 1}, 2);
  const Program& program = r.program();
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> tasks;  // instruction, core
  std::map<std::int32_t, std::size_t> copies;
  for (int w = 0; w < 2; ++w)
    for (const TraceEvent& e : r.recorder.events(w)) {
      EXPECT_GT(e.bytes, 0) << r.recorder.programs()[0][e.instruction].layer;
      if (e.kind == TraceKind::kTask) ++tasks[{e.instruction, e.core}];
      if (e.kind == TraceKind::kExchange) ++copies[e.instruction];
    }
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const auto id = static_cast<std::int32_t>(i);
    if (instruction.kind == InstructionKind::kExchange) {
      EXPECT_EQ(copies[id], instruction.copies.size());
    }
    if (instruction.kind != InstructionKind::kCompute) continue;
    const bool once = program.replicated(instruction.value) && !instruction.partial;
    for (std::size_t core = 0; core < instruction.blocks.size(); ++core)
      EXPECT_EQ((tasks[{id, once ? -1 : static_cast<std::int32_t>(core)}]), instruction.blocks[core].size())
          << program.graph.node(instruction.value).name;
  }
}

TEST(Trace, NamesAreThoseOfTheGraph) {
  Recorded r({.workers = 1, .most_steps = 1}, 1);
  const auto& names = r.recorder.programs().at(0);
  ASSERT_EQ(names.size(), r.program().instructions.size());
  for (const TraceInstruction& name : names) EXPECT_NE(r.program().graph.find(name.layer), kNoValue) << name.layer;
}

TEST(Trace, OnlyTheFirstStepsAreKept) {
  Recorded r({.workers = 1, .most_steps = 2}, 4);
  EXPECT_EQ(r.recorder.steps().size(), 2u);
  EXPECT_TRUE(r.recorder.done());
  std::int32_t latest = 0;
  for (const TraceEvent& e : r.recorder.events(0)) latest = std::max(latest, e.step);
  EXPECT_EQ(latest, 1);
}

TEST(Trace, WhatDoesNotFitIsCounted) {
  Recorded all({.workers = 2, .most_steps = 1}, 1);
  Recorded few({.workers = 2, .most_steps = 1, .most_events = 20}, 1);
  const auto kept = [](const Recorded& r) {
    return static_cast<std::int64_t>(r.recorder.events(0).size() + r.recorder.events(1).size());
  };
  EXPECT_LE(kept(few), 20);
  EXPECT_EQ(kept(few) + few.recorder.dropped(), kept(all));
}

TEST(Trace, NothingIsKeptOutsideOfAStep) {
  TraceRecorder recorder({.workers = 1});
  UNetScene scene({});
  Trainer trainer = scene.trainer({}, 1);
  CoreSet& cores = scene.session.cores(scene.extents, Phase::kTrain);
  cores.set_trace(&recorder);
  trainer.step(scene.extents, scene.feed());
  EXPECT_TRUE(recorder.events(0).empty());
  EXPECT_FALSE(recorder.done());
}

TEST(Trace, AStepWithARecorderGivesTheSameWeights) {
  Recorded traced({.workers = 2}, 2);
  UNetScene plain({.partition = "1x2x1x2x1", .workers = 2});
  Trainer trainer = plain.trainer({}, 2);
  for (int i = 0; i < 2; ++i) trainer.step(plain.extents, plain.feed());
  EXPECT_EQ(first_difference(traced.scene.session.parameters(), plain.session.parameters()), "");
}

}  // namespace
}  // namespace voxshard
