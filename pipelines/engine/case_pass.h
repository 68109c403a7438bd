// One pass over the cases of a data set in parallel: each in its own error boundary, as many at once as the memory
// holds, and shared out over the processes of the run, each of which then has the outcome of all.
//
//   CasePass pass("prepare", ids, context, gate);
//   const auto good = pass.run({.need = [&](std::int64_t i) { return plan_of(cases[i]); },
//                               .body = [&](std::int64_t i) { records[i] = prepare(cases[i]); },
//                               .value = [&](std::int64_t i) { return records[i]; },
//                               .take = [&](std::int64_t i, const Json& value) { records[i] = value; }});
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/memory_gate.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// What is done with a case, by its index.
struct CaseTurn {
  std::function<ProcessPlan(std::int64_t)> need;  // what it takes, or refuses it
  std::function<void(std::int64_t)> body;
  /// What the process that had the case gives the others of it, also when it failed; empty: nothing.
  std::function<nlohmann::ordered_json(std::int64_t)> value = {};
  /// Takes that value in the other processes, after all turns.
  std::function<void(std::int64_t, const nlohmann::ordered_json&)> take = {};
  /// How much work it is, in any unit, for the shares of the processes: from headers. Empty: cases count alike.
  std::function<std::int64_t(std::int64_t)> size = {};
};

class CasePass {
 public:
  /// `mark`: behind a failure in the log; null: failures are not logged.
  CasePass(const char* stage, std::vector<std::string> ids, const RunContext& context, MemoryGate& gate,
           const char* mark = " [quarantined]")
      : stage_(stage), ids_(std::move(ids)), context_(context), gate_(gate), mark_(mark) {}

  /// Returns for each case whether its body came to its end, in every process the same. Errors: those that are not of
  /// one case; kInput where processes see other cases.
  std::vector<char> run(const CaseTurn& turn);
  /// Of all cases, in their order.
  const std::vector<CaseFailure>& failures() const { return failures_; }
  /// Whether somebody asked for a stop, in any process: then cases may be missing.
  bool stopped() const { return stopped_; }

 private:
  struct Outcome {
    std::vector<char> good;
    std::vector<std::vector<CaseFailure>> failures;  // by case
  };
  void join(const std::vector<std::int64_t>& mine, const CaseTurn& turn, Outcome& outcome);

  const char* stage_;
  std::vector<std::string> ids_;
  const RunContext& context_;
  MemoryGate& gate_;
  const char* mark_;
  std::vector<CaseFailure> failures_;
  bool stopped_ = false;
};

}  // namespace voxshard
