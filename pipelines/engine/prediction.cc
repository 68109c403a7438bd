#include "pipelines/engine/prediction.h"

#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

/// Takes part on a rank other than 0, which runs the boxes of its cores, sees no input file and writes nothing.
PredictReport take_part_in_prediction(TrainedRun run, const CoreWork& work, const RunContext& context) {
  const std::unique_ptr<Session> session = context.session(run);
  PredictReport report;
  coordinate(*session, work, context.predicting(), {}, &report.memory.plan);
  return report;
}

}  // namespace

void PredictionBatch::require_planned(const Shape& extents) const {
  if (const auto refused = planned_.refused.find(extents); refused != planned_.refused.end()) throw refused->second;
}

void PredictionBatch::list(const std::vector<CaseFailure>& unusable) {
  for (const CaseFailure& failure : unusable) {
    progress.log(shown_name(failure.id) + ": " + failure.message + " [quarantined]");
    report.failures.push_back(failure);
  }
}

void PredictionBatch::done(std::size_t i, const std::filesystem::path& file, double seconds) {
  ended_.insert(i);
  report.cases.push_back({names_[i], file, seconds});
}

void PredictionBatch::fail(std::size_t i, const std::string& code, const std::string& message) {
  progress.log(words_.one + shown_name(names_[i]) + ": " + message + " [quarantined]");
  ended_.insert(i);
  report.failures.push_back({plain_text(names_[i]), code, message});
}

/// The loop over the inputs, on rank 0.
class PredictionLoop {
 public:
  PredictionLoop(PredictionBatch& batch, Prediction& task) : b_(batch), task_(task), turns_(task.turns()) {}

  void run() {
    plan();
    task_.begin();
    if (task_.is_one_stream()) {
      task_.predict(turns_.front());
      return task_.finish();
    }
    total_ = std::ssize(b_.names_) + std::ssize(b_.report.failures);
    b_.progress.update("predict", 0, task_.pieces() > 0 ? task_.pieces() : total_, "");
    try {
      for (const PredictionTurn& turn : turns_) take(turn);
    } catch (...) {
      task_.abandon();
      throw;
    }
    if (b_.report.cases.empty() && !b_.report.interrupted) {
      task_.list_failures();
      throw Error(ErrorKind::kNoCase,
                  "[predict] none of " + std::to_string(b_.report.failures.size()) + " " +
                      (b_.words_.in_total.empty() ? b_.words_.inputs : b_.words_.in_total) + " could be predicted" +
                      (b_.report.failures.empty() ? "" : "; the first: " + b_.report.failures.front().message));
    }
    task_.finish();
  }

 private:
  void plan() {
    std::set<Shape> sizes;
    for (const PredictionTurn& turn : turns_)
      if (!turn.extents.empty()) sizes.insert(turn.extents);
    const ProcessPlan loaded = task_.loaded();
    if (!sizes.empty())
      b_.planned_ =
          plan_runs(b_.session(), sizes, Phase::kPredict, std::to_string(b_.names_.size()) + " " + b_.words_.inputs,
                    b_.context.predicting(loaded.total()), b_.progress);
    b_.planned_.held += loaded;
    b_.report.memory.plan = b_.planned_.held;
    b_.report.bytes_per_core = b_.planned_.core, b_.report.host_bytes = b_.planned_.host;
    if (const PlanBytes* turns = b_.planned_.widest_turns()) b_.report.scratch_bytes = turns->run.turns.file_bytes;
  }

  void take(const PredictionTurn& turn) {
    try {
      if (!b_.report.interrupted) predict(turn);
    } catch (const Stopped&) {
      b_.report.interrupted = true;
    }
    if (b_.report.interrupted) {
      for (const std::size_t i : turn.inputs)
        if (!b_.ended_.contains(i)) b_.report.not_reached.push_back(b_.names_[i]);
    } else if (task_.pieces() == 0) {
      b_.progress.update("predict", std::ssize(b_.report.cases) + std::ssize(b_.report.failures), total_,
                         b_.names_[turn.inputs.back()]);
    }
  }

  /// Predicts a turn and leaves its inputs out on an error that costs only them. Errors: Stopped; those that end the
  /// batch.
  void predict(const PredictionTurn& turn) {
    const auto failure = failure_of(b_.names_[turn.inputs.front()], {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
      throw_if_stopped(b_.progress);
      task_.predict(turn);
    });
    if (!failure) return;
    if (failure->code == kRefusedMemory) b_.session().release();
    for (const std::size_t i : turn.inputs) {
      if (b_.ended_.contains(i)) continue;
      task_.drop(i);
      b_.fail(i, failure->code, failure->message);
    }
  }

  PredictionBatch& b_;
  Prediction& task_;
  std::vector<PredictionTurn> turns_;
  std::int64_t total_ = 0;
};

PredictReport run_prediction(const PredictOptions& options, TrainedRun run, const CoreWork& work,
                             const RunContext& context,
                             const std::function<std::unique_ptr<Prediction>(PredictionBatch&)>& make) {
  if (!context.writes()) return take_part_in_prediction(std::move(run), work, context);
  PredictionBatch batch(options, run, context);
  const std::unique_ptr<Prediction> task = make(batch);
  batch.words_ = task->words(), batch.names_ = task->names();
  batch.session_ = context.session(run);
  coordinate(batch.session(), work, context.predicting(), [&] { PredictionLoop(batch, *task).run(); });
  return std::move(batch.report);
}

}  // namespace voxshard
