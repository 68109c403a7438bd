#include "libcore/runtime/trace.h"

#include <algorithm>
#include <numeric>

namespace voxshard {
namespace {

/// Returns the op of a computation ("conv"), or the name of the engine's operation ("exchange").
std::string op_name(const Program& program, const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::kCompute:
      return program.graph.node(instruction.value).op;
    case InstructionKind::kJoin:
      return "all_reduce";
    case InstructionKind::kFillMargin:
      return "fill_margin";
    case InstructionKind::kExchange:
      return "exchange";
    case InstructionKind::kPack:
      return "pack";
  }
  return "";
}

}  // namespace

TraceRecorder::TraceRecorder(const Options& options)
    : options_(options), events_(static_cast<std::size_t>(options.workers)), dropped_(events_.size(), 0) {
  for (auto& list : events_) list.reserve(static_cast<std::size_t>(options.most_events / options.workers));
}

void TraceRecorder::begin_step(const Program& program) {
  if (static_cast<std::int64_t>(steps_.size()) >= options_.most_steps) return;
  auto known = std::find(known_.begin(), known_.end(), &program);
  if (known == known_.end()) {
    known = known_.insert(known_.end(), &program);
    programs_.emplace_back();
    for (const Instruction& instruction : program.instructions)
      programs_.back().push_back({program.graph.node(instruction.value).name, op_name(program, instruction)});
  }
  steps_.push_back({.begin_s = now_s(), .program = static_cast<std::int32_t>(known - known_.begin())});
  active_ = true;
}

void TraceRecorder::end_step() {
  if (active_) steps_.back().end_s = now_s();
  active_ = false;
}

void TraceRecorder::add(int worker, TraceEvent event) {
  auto& list = events_[worker];
  if (list.size() == list.capacity()) {
    ++dropped_[worker];
    return;
  }
  event.worker = worker;
  event.step = static_cast<std::int32_t>(steps_.size()) - 1;
  event.program = steps_.back().program;
  list.push_back(event);
}

std::int64_t TraceRecorder::dropped() const {
  return std::accumulate(dropped_.begin(), dropped_.end(), std::int64_t{0});
}

}  // namespace voxshard
