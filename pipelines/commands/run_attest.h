// `voxshard attest`: shows that a model on this machine still computes what it computed when its golden case was made:
// the same parameters and settings, the same input, the same answer.
//
//   run_attest({.model = "run", .make = true}, context);             // writes run/golden
//   AttestReport r = run_attest({.model = "run"}, context);          // r.equal()
//
// The case is predicted by run_predict(), as any other input. On the processor that made the golden case the answer
// must have the hash of the instruction set in force. On another processor, and with a set that has no hash, it may
// have another one: the task then says how far it may lie from the stored answer (Task::answer_difference), since sums
// that are added in another order are rounded otherwise.
#pragma once

#include <functional>
#include <optional>

#include "libcore/base/cpu.h"
#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// Predicts an input with a model in a process that is limited to an instruction set, which is decided once per
/// process. Errors: any Error of the prediction.
using PredictAs =
    std::function<void(InstructionSet set, const std::filesystem::path& input, const std::filesystem::path& output)>;

struct AttestRequest {
  std::filesystem::path model;      // a run folder, or a checkpoint file
  std::string checkpoint = "auto";  // as in TrainedRunOptions
  std::string weights = "auto";     // the same
  bool make = false;                // true: makes the golden case
  bool replace = false;             // with make: in place of an earlier one
  PredictAs predict_as = {};        // for make; null: only the set in force gets a hash
  ModelTable models = model_table();
};

struct AttestFinding {
  std::string what;  // task, settings, preparation, parameter, file or answer
  std::string text;  // a clause: "parameter head/bias has other values"
};

struct AttestReport {
  std::filesystem::path golden, checkpoint;
  bool made = false;
  std::string task;
  std::string version, processor;  // of the program that made the golden case, and where
  InstructionSet instruction_set = {};
  std::vector<std::string> sets;               // that have a hash of the answer, narrowest first
  bool predicted = false;                      // false: the model or the files differ so much that it was not predicted
  bool by_hash = false;                        // true: the answer has the hash of this instruction set
  std::string reference;                       // the instruction set of the stored answer
  std::optional<AnswerDifference> apart = {};  // from the stored answer, where the hash is another one
  std::vector<AttestFinding> findings = {};
  std::size_t further = 0;  // findings beyond those that are listed

  bool equal() const { return findings.empty(); }
};

/// Makes the golden case, or compares with it. Errors: kInput when there is none; kMismatch for a golden.json that is
/// not as it was written; kOutput when one is there and is not to be replaced, or cannot be written; kUsage for replace
/// without make, and for a task without a golden case; those of run_predict.
AttestReport run_attest(const AttestRequest& request, const RunContext& context, const TaskTable& tasks = task_table());

nlohmann::ordered_json to_json(const AttestReport& report);
std::string to_text(const AttestReport& report);

}  // namespace voxshard
