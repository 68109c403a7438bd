#include "pipelines/engine/prediction.h"

#include <algorithm>
#include <exception>

#include "io/files/now_reading.h"
#include "libcore/base/text.h"
#include "pipelines/engine/input_times.h"
#include "pipelines/engine/none_left.h"
#include "pipelines/engine/rehearsal.h"

namespace voxshard {
namespace {

/// Takes part on a rank other than 0, which runs the boxes of its cores, sees no input file and writes nothing.
PredictReport take_part_in_prediction(TrainedRun run, const CoreWork& work, const RunContext& context) {
  const OwnedSessions owned = sessions_of(run, context, 0, [](std::size_t) { return BytesBeside(); });
  ModelSessions models = in_turns(owned);
  PredictReport report;
  coordinate(models, work, context.predicting(), {}, &report.memory.plan);
  return report;
}

}  // namespace

std::optional<PlannedInput> Prediction::planned(PredictionBatch& batch, const PredictionTurn& turn, std::size_t i) {
  batch.require_planned(turn);
  const ProcessPlan plan = turn.extents.empty() ? batch.planned().held : batch.planned().held + batch.cores(turn);
  return PlannedInput{.id = names().at(i), .extents = turn.extents, .bytes = plan.total()};
}

/// The loop over the inputs, on rank 0.
class PredictionLoop {
 public:
  PredictionLoop(PredictionBatch& batch, Prediction& task) : b_(batch), task_(task), turns_(task.turns()) {
    b_.conclude_ = [this](const WriteBehind::Written& written) { conclude(written); };
  }

  void run() {
    plan();
    if (turn_tight_sizes(b_, task_, turns_)) plan();
    if (!task_.is_watch()) require_one_fits();
    b_.read_parts(task_, turns_);
    if (b_.options.dry_run) return rehearse();
    if (!b_.options.task.of<AuditRequest>().file.empty()) trail_.emplace(b_.options, b_.run, b_.progress);
    task_.begin();
    if (b_.parts_) b_.parts_->mend(b_.progress);
    if (task_.is_one_stream()) return stream();
    audit(false);
    total_ = std::ssize(b_.names_) + std::ssize(b_.report.failures);
    b_.told_at_end_ = b_.names_.size() == 1 && total_ == 1;  // the error with which the command ends says why
    b_.progress.update("predict", 0, task_.pieces() > 0 ? task_.pieces() : total_, "");
    try {
      do {
        for (std::size_t t = 0; t < turns_.size(); ++t) b_.comes_to(turns_, t), take(turns_[t]);
        b_.settle();
        b_.end_turns();
        if (task_.is_watch() && !turns_.empty()) b_.progress.batch_ended();
      } while (!b_.report.interrupted && take_more());
    } catch (...) {
      end_with(std::current_exception());
    }
    audit(false);
    if (b_.report.cases.empty() && !b_.report.interrupted && !task_.is_watch() && !none_came()) {
      task_.list_failures();
      throw none_predicted();
    }
    task_.finish();
    audit(true);
    if (!b_.parts_ || b_.report.interrupted) return;
    const std::exception_ptr untidied = thrown_by([&] { b_.parts_->drop_others(); });  // the next call does it
    if (untidied) b_.progress.warn(b_.shown(error_text(untidied)));
  }

 private:
  /// Ends the batch with the error of a turn, or with that of the input that was written behind, which came before it:
  /// the error of the turn is then a warning. What was predicted before is kept.
  [[noreturn]] void end_with(const std::exception_ptr& error) {
    const std::exception_ptr earlier = thrown_by([&] { b_.settle(); });
    if (earlier) b_.progress.warn(b_.shown(error_text(error)));
    task_.abandon();
    const std::exception_ptr unlisted = thrown_by([&] { task_.list_failures(); });  // the disk may be full for it too
    if (unlisted) b_.progress.warn(b_.shown(error_text(unlisted)));
    std::rethrow_exception(earlier ? earlier : error);
  }

  /// True when there was nothing to predict or to leave out.
  bool none_came() const { return b_.names_.empty() && b_.report.failures.empty(); }

  /// Returns the error of a call, or of its dry run, that leaves out every input.
  Error none_predicted() const {
    const std::vector<CaseFailure>& failures = b_.report.failures;
    return {kind_of_none(failures), "[predict] none of " + std::to_string(failures.size()) + " " +
                                        (b_.words_.in_total.empty() ? b_.words_.inputs : b_.words_.in_total) +
                                        " could be predicted" +
                                        (failures.empty() ? "" : "; the first: " + failures.front().message)};
  }

  /// Predicts the one video.
  void stream() {
    const std::string name = b_.options.input.filename().string();
    try {
      task_.predict(turns_.front());
      task_.finish();
    } catch (const Error& e) {
      audit_end(name, 0, e);
      if (std::string_view(e.code()) == "E_BUDGET")
        throw Error(ErrorKind::kBudget, e.code(), e.what());  // as of one image alone
      throw;
    }
    if (!trail_) return;
    const Error stopped(ErrorKind::kInput, "E_STOPPED", "");
    trail_->append_one(name, 0, b_.audited_, b_.report.interrupted ? &stopped : nullptr);
  }

  void audit(bool finished) {
    if (trail_) trail_->append(b_.report, b_.audited_, finished);
    b_.drop_outdated(trail_ ? &*trail_ : nullptr);
  }

  /// Returns how often inputs were left out, those that came again included.
  std::int64_t times_left_out() const {
    return std::ssize(b_.report.failures) + static_cast<std::int64_t>(b_.outdated_failures_);
  }

  /// Writes the line of an input with whose error the batch ends.
  void audit_end(const std::string& name, std::size_t input, const Error& error) {
    try {
      if (trail_) trail_->append_one(name, input, b_.audited_, &error);
    } catch (const Error& e) {  // the disk may be full for both
      b_.progress.warn(e.what());
    }
  }

  /// Says what would be predicted, and what would be left out as far as headers tell. Errors: as run(), when all is.
  void rehearse() {
    PredictReport& report = b_.report;
    InputTimes times(b_, task_.earlier_time());
    double seconds = 0;
    for (const PredictionTurn& turn : turns_)
      for (const std::size_t i : turn.inputs) {
        const auto failure = failure_of(b_.names_[i], {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
          throw_if_stopped(b_.progress);
          auto planned = b_.is_kept(turn) ? kept(turn, i) : task_.planned(b_, turn, i);
          if (!planned) return;
          planned->seconds = planned->kept ? 0 : times.seconds_of(turn);
          if (!planned->kept && planned->seconds) *planned->seconds /= static_cast<double>(turn.inputs.size());
          seconds += planned->seconds.value_or(0), report.kept += planned->kept;
          report.planned.push_back(std::move(*planned));
        });
        if (failure) b_.fail(i, failure->code, failure->message);
      }
    if (report.planned.empty() && !task_.is_watch() && !none_came()) throw none_predicted();
    report.time_source = times.source();
    report.text = rehearsal_text(report.planned, report.failures.size(), "predicted") + "; " + times.text(seconds) +
                  "; nothing was written\n";
  }

  std::optional<PlannedInput> kept(const PredictionTurn& turn, std::size_t i) const {
    return PlannedInput{.id = b_.names_[i], .extents = turn.extents, .bytes = b_.planned().held.total(), .kept = true};
  }

  void plan() {
    const ProcessPlan loaded = task_.loaded();
    for (const PredictionTurn& turn : turns_) b_.at_once_ = std::max(b_.at_once_, turn.inputs.size());
    for (std::size_t model = 0; model < b_.models(); ++model) {
      std::set<Shape> sizes;
      for (const PredictionTurn& turn : turns_)
        if (!turn.extents_of(model).empty()) sizes.insert(turn.extents_of(model));
      const std::string inputs = std::to_string(b_.names_.size()) + " " + b_.words_.inputs,
                        by = b_.models() > 1
                                 ? " by run " + std::to_string(model + 1) + " of " + std::to_string(b_.models())
                                 : "";
      if (!sizes.empty())
        b_.sessions_.planned(model) =
            plan_runs(b_.session(model), sizes, Phase::kPredict, inputs + by,
                      b_.sessions_.process_of(model, b_.context.predicting(loaded.total())), b_.progress);
    }
    const ProcessPlan held = b_.sessions_.held() + loaded;
    b_.planned_.clear();
    PredictReport& r = b_.report;  // the largest of all inputs
    for (std::size_t model = 0; model < b_.models(); ++model) {
      PlannedBytes& planned = b_.planned_.emplace_back(b_.sessions_.planned(model));
      planned.held = held;
      r.bytes_per_core = std::max(r.bytes_per_core, planned.core);
      r.host_bytes = std::max(r.host_bytes, planned.host);
      if (const PlanBytes* turns = planned.widest_turns())
        r.scratch_bytes = std::max(r.scratch_bytes, turns->run.turns.file_bytes);
    }
    b_.takes(held);
  }

  /// Refuses inputs of which no size is within the budget. Errors: kBudget.
  void require_one_fits() {
    for (const PredictionTurn& turn : turns_)
      if (!turn.extents.empty() && !b_.is_refused(turn)) return;
    for (const PredictionTurn& turn : turns_) {
      if (turn.extents.empty()) continue;
      try {
        static_cast<void>(task_.planned(b_, turn, turn.inputs.front()));  // knows the memory beside the cores
      } catch (const Error& e) {
        if (e.kind() == ErrorKind::kBudget) throw;
      }
      b_.require_planned(turn);
    }
  }

  /// Waits for further inputs and plans their sizes; each that is over the budget is left out in its turn, and all are
  /// when the system refuses the memory of planning. False: there are no more.
  bool take_more() {
    try {
      if (!task_.wait_for_more()) return false;
    } catch (const Stopped&) {
      return false;
    }
    b_.names_ = task_.names(), turns_ = task_.turns();
    total_ = std::ssize(b_.names_) + times_left_out() - static_cast<std::int64_t>(b_.failed_);
    const auto refused = failure_of("", {ErrorKind::kBudget}, [&] {
      plan();
      if (turn_tight_sizes(b_, task_, turns_)) plan();
    });
    if (!refused) return true;
    for (const PredictionTurn& turn : turns_) {
      for (const std::size_t i : turn.inputs) b_.fail(i, refused->code, refused->message);
      audit(false);  // before its files move away
      task_.ended(turn, false);
    }
    turns_.clear();
    return true;
  }

  void take(const PredictionTurn& turn) {
    try {
      if (!b_.report.interrupted) predict(turn);
    } catch (const Stopped&) {
      b_.settle();
      b_.report.interrupted = true;
    }
    if (b_.report.interrupted) {
      for (const std::size_t i : turn.inputs)
        if (!b_.ended_.contains(i)) b_.report.not_reached.push_back(b_.names_[i]);
    } else if (task_.pieces() == 0 && !b_.behind.is_pending(turn.inputs.back())) {
      count(turn.inputs.back());
    }
  }

  void count(std::size_t last) {
    const auto predicted = b_.report.cases.size() + b_.outdated_cases_;
    b_.progress.update("predict", static_cast<std::int64_t>(predicted) + times_left_out(), total_, b_.names_[last]);
  }

  /// Ends an input whose outputs were written behind, as its turn would have.
  void conclude(const WriteBehind::Written& written) {
    const std::size_t i = written.output.number;
    const auto failure =
        failure_of(b_.names_[i], {ErrorKind::kInput, ErrorKind::kBudget}, [&] { written.output.end(written.failure); });
    if (failure) task_.drop(i), b_.fail(i, failure->code, failure->message);
    count(i);
  }

  /// Predicts a turn and leaves its inputs out on an error that costs only them. Errors: Stopped; those that end the
  /// batch.
  void predict(const PredictionTurn& turn) {
    const std::size_t failed_before = b_.failed_;
    const auto failure = failure_of(b_.names_[turn.inputs.front()], {ErrorKind::kInput, ErrorKind::kBudget}, [&] {
      throw_if_stopped(b_.progress);
      std::optional<ReadingAs> name;  // what is read when a library crashes
      if (b_.hides_paths_) name.emplace(b_.names_[turn.inputs.front()]);
      if (trail_) trail_->reads(turn.inputs, b_.audited_);
      predict_to_its_end(turn);
    });
    if (failure) b_.settle();
    if (failure && failure->code == kRefusedMemory) b_.release_cores(), b_.ahead.drop();
    for (const std::size_t i : turn.inputs) {
      if (!failure || b_.ended_.contains(i)) continue;
      task_.drop(i);
      b_.fail(i, failure->code, failure->message);
    }
    audit(false);
    task_.ended(turn, b_.failed_ == failed_before);
  }

  /// Predicts a turn. An error that ends the batch is written into the audit for the inputs that have no outcome.
  void predict_to_its_end(const PredictionTurn& turn) {
    try {
      if (b_.is_kept(turn))
        b_.end_kept(turn, task_);
      else
        task_.predict(turn);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput && e.kind() != ErrorKind::kBudget)
        for (const std::size_t i : turn.inputs)
          if (!b_.ended_.contains(i)) audit_end(b_.names_[i], i, e);
      throw;
    }
  }

  PredictionBatch& b_;
  Prediction& task_;
  std::vector<PredictionTurn> turns_;
  std::int64_t total_ = 0;
  std::optional<AuditTrail> trail_;
};

PredictReport run_prediction(const PredictOptions& options, TrainedRun run, const CoreWork& work,
                             const RunContext& context,
                             const std::function<std::unique_ptr<Prediction>(PredictionBatch&)>& make) {
  if (!context.writes()) return take_part_in_prediction(std::move(run), work, context);
  PredictionBatch batch(options, run, context);
  const std::unique_ptr<Prediction> task = make(batch);
  batch.words_ = task->words(), batch.names_ = task->names();
  batch.owned_ =
      sessions_of(run, context, task->loaded().total(), [&](std::size_t model) { return task->bytes_beside(model); });
  batch.sessions_ = in_turns(batch.owned_);
  coordinate(batch.sessions_, work, context.predicting(), [&] { PredictionLoop(batch, *task).run(); });
  return std::move(batch.report);
}

}  // namespace voxshard
