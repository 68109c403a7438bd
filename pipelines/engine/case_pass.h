// One pass over the cases of a data set in parallel: each in its own error boundary, as many at once as the memory
// holds, and shared out over the ranks of the run, each of which then knows what came of all.
//
//   CasePass pass("prepare", ids, {threads, gate, progress, transport});
//   const auto good = pass.run({.need = [&](std::int64_t i) { return plan_of(cases[i]); },
//                               .body = [&](std::int64_t i) { records[i] = prepare(cases[i]); },
//                               .value = [&](std::int64_t i) { return records[i]; },
//                               .take = [&](std::int64_t i, const Json& value) { records[i] = value; }});
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"
#include "pipelines/runs/report.h"
#include "pipelines/engine/memory_gate.h"

namespace voxshard {

/// What is done with a case, by its index.
struct CaseTurn {
  std::function<ProcessPlan(std::int64_t)> need;  // what it takes, or refuses it
  std::function<void(std::int64_t)> body;
  /// What the rank that had the case gives the others of it, also when it failed; empty: nothing.
  std::function<nlohmann::ordered_json(std::int64_t)> value = {};
  /// Takes that value on the other ranks, after all turns.
  std::function<void(std::int64_t, const nlohmann::ordered_json&)> take = {};
  /// How much work it is, in any unit, for the shares of ranks: from headers. Empty: cases count alike.
  std::function<std::int64_t(std::int64_t)> size = {};
};

/// What a pass runs in.
struct PassContext {
  int threads = 1;  // of this rank
  MemoryGate& gate;
  Progress& progress;
  Transport& transport;
};

class CasePass {
 public:
  /// `mark`: behind a failure in the log; null: failures are not logged.
  CasePass(const char* stage, std::vector<std::string> ids, const PassContext& context, const char* mark = " [quarantined]")
      : stage_(stage), ids_(std::move(ids)), context_(context), mark_(mark) {}

  /// Returns for each case whether its body came to its end, on every rank the same. Errors: those that are not of one
  /// case; kInput where ranks see other cases.
  std::vector<char> run(const CaseTurn& turn);
  /// Of all cases, in their order.
  const std::vector<CaseFailure>& failures() const { return failures_; }
  /// Whether somebody asked for a stop, on any rank: then cases may be missing.
  bool stopped() const { return stopped_; }

 private:
  struct Outcome {
    std::vector<char> good;
    std::vector<std::vector<CaseFailure>> failures;  // by case
  };
  void join(const std::vector<std::int64_t>& mine, const CaseTurn& turn, Outcome& outcome);

  const char* stage_;
  std::vector<std::string> ids_;
  PassContext context_;
  const char* mark_;
  std::vector<CaseFailure> failures_;
  bool stopped_ = false;
};

}  // namespace voxshard
