// One parallel pass over the cases of a data set. An error costs only its own case, as many cases run at once as the
// memory holds, and the cases are divided among the processes of the run, each of which then has the outcome of all.
//
//   CasePass pass("prepare", ids, context, gate);
//   const auto good = pass.run({.need = [&](std::int64_t i) { return plan_of(cases[i]); },
//                               .body = [&](std::int64_t i) { records[i] = prepare(cases[i]); },
//                               .value = [&](std::int64_t i) { return records[i]; },
//                               .take = [&](std::int64_t i, const Json& value) { records[i] = value; }});
//   share_out({9, 1, 5, 4}, 2)                    // {0, 0, 1, 1}: 10 and 9, the rank of each case by its size
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"
#include "pipelines/engine/flow/memory_gate.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Returns the rank of each case. Cases are assigned from the largest to the smallest, each to the rank with the
/// smallest sum so far, the lower rank on a tie. Size 0 counts as 1.
std::vector<int> share_out(const std::vector<std::int64_t>& sizes, int ranks);

struct CaseShares {
  std::vector<int> rank_of;  // by case
  std::vector<std::int64_t> mine(int rank) const;
};

/// Assigns each case of a data set to a rank. Rank 0 decides from the sizes; all ranks get the same assignment.
/// `size` returns the size of a case. Only rank 0 calls it, and not at all when there is one rank; an Error counts as
/// 0. Errors: kInput on a rank that sees other cases than rank 0 does.
CaseShares share_cases(Transport& transport, const std::vector<std::string>& ids,
                       const std::function<std::int64_t(std::int64_t)>& size);

/// The functions that process a case, called with its index.
struct CaseTurn {
  std::function<ProcessPlan(std::int64_t)> need;  // returns the memory that the case takes, or throws to refuse it
  std::function<void(std::int64_t)> body;
  /// Returns the value that the process with the case sends to the others, also when the case failed; empty: nothing.
  std::function<nlohmann::ordered_json(std::int64_t)> value = {};
  /// Takes that value in the other processes, after all turns.
  std::function<void(std::int64_t, const nlohmann::ordered_json&)> take = {};
  /// Returns the amount of work, in any unit and from headers alone, by which cases are divided among the processes.
  /// Empty: all cases count the same.
  std::function<std::int64_t(std::int64_t)> size = {};
};

class CasePass {
 public:
  /// `mark` follows each failure in the log; null: failures are not logged.
  CasePass(const char* stage, std::vector<std::string> ids, const RunContext& context, MemoryGate& gate,
           const char* mark = " [quarantined]")
      : stage_(stage), ids_(std::move(ids)), context_(context), gate_(gate), mark_(mark) {}

  /// Returns for each case 1 when its body completed, else 0; the same in every process. Errors: those that do not
  /// belong to one case; kInput when the processes see different cases.
  std::vector<char> run(const CaseTurn& turn);
  /// Returns the failures of all cases, in the order of the cases.
  const std::vector<CaseFailure>& failures() const { return failures_; }
  /// True when a stop was requested in any process: cases may then be missing.
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
