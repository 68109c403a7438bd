#include "pipelines/tasks/task.h"

#include "io/audit/sha256.h"

namespace voxshard {

TaskReport Task::check(const CheckRequest& request, const RunContext&) const {
  throw Error(ErrorKind::kUsage, "[check] data of " + std::string(name()) +
                                     " have no check of their own; see `voxshard info " + request.dataset.string() +
                                     "`");
}

TaskReport Task::prepare(const PrepareRequest& request, const RunContext&) const {
  throw Error(ErrorKind::kUsage, "[prepare] the data of " + std::string(name()) + " are trained on as they are; give " +
                                     request.dataset.string() + " to `voxshard train`");
}

TaskReport Task::evaluate_run(const EvaluateOptions& options, TrainedRun, const RunContext&) const {
  throw Error(ErrorKind::kUsage, "[evaluate] runs of " + std::string(name()) +
                                     " are scored by what they predict: first `voxshard predict " +
                                     options.predictions.string() + " DATA`, then `voxshard evaluate` of that file");
}

TaskReport Task::contact_sheet(const SheetRequest& request, Progress&) const {
  throw Error(ErrorKind::kUsage, "[report] predictions of " + std::string(name()) + " have no contact sheet, got " +
                                     request.predictions.string() +
                                     "; give run folders, or a folder of predicted volumes");
}

void Task::golden_input(const TrainedRun& run, const std::filesystem::path&) const {
  throw Error(ErrorKind::kUsage, "[attest] models of " + std::string(name()) + " have no golden case, got " +
                                     run.file.string() + "; compare predictions of known inputs by their hashes");
}

std::string Task::answer_hash(const std::filesystem::path& file) const { return file_sha256(file); }

AnswerDifference Task::answer_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                         DType) const {
  return {.compared = 1, .differing = answer_hash(reference) == answer_hash(found) ? 0 : 1, .unit = "files"};
}

}  // namespace voxshard
