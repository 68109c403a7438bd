// One pass over the cases of a data set in parallel: each in its own error boundary, and as many at once as the memory
// holds.
//
//   CasePass pass("prepare", cases, threads, gate, progress);
//   const auto good = pass.run([&](std::int64_t i) { return plan_of(cases[i]); },
//                              [&](std::int64_t i) { prepare(cases[i]); });
#pragma once

#include <functional>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/runs/report.h"
#include "pipelines/tasks/memory_gate.h"

namespace voxshard {

class CasePass {
 public:
  CasePass(const char* stage, const std::vector<Case>& cases, int threads, MemoryGate& gate, Progress& progress)
      : stage_(stage), cases_(cases), threads_(threads), gate_(gate), progress_(progress) {}

  /// Returns for each case whether `body(index)` came to its end; `need` says what it takes, or refuses it.
  std::vector<char> run(const std::function<ProcessPlan(std::int64_t)>& need,
                        const std::function<void(std::int64_t)>& body);
  const std::vector<CaseFailure>& failures() const { return failures_; }

 private:
  const char* stage_;
  const std::vector<Case>& cases_;
  int threads_;
  MemoryGate& gate_;
  Progress& progress_;
  std::vector<CaseFailure> failures_;
};

}  // namespace voxshard
