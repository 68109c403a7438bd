// The batch of `predict`, the same for all tasks. A task lists its inputs, decodes one, runs it and writes its result.
// The batch does the rest: it plans every size before the first file, takes the inputs in turn, decides which errors
// cost one input and which end the batch, handles a stop, writes the report and runs the other processes of the run.
//
//   class Images : public Prediction { ... };
//   return run_prediction(options, std::move(run), image_work(how), context,
//                         [&](PredictionBatch& batch) { return std::make_unique<Images>(batch, how); });
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "io/datasets/hidden_paths.h"
#include "io/output/manifest.h"
#include "pipelines/engine/audit_trail.h"
#include "pipelines/engine/core_runs.h"
#include "pipelines/engine/flow/read_ahead.h"
#include "pipelines/engine/flow/write_behind.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/engine/seen_inputs.h"

namespace voxshard {

/// Inputs that are predicted at once, at the same extents: a volume, an image, a video, or several small items. Where
/// several models predict, each takes the turn before the next turn begins.
struct PredictionTurn {
  Shape extents;  // N and the spatial axes; empty where the header cannot be read: predict() reports why
  std::vector<std::size_t> inputs;  // indices in Prediction::names()
  std::vector<Shape> further = {};  // the extents for the models behind the first; empty: those of the first

  const Shape& extents_of(std::size_t model) const {
    return model == 0 || further.empty() ? extents : further.at(model - 1);
  }
};

/// The words for a task's inputs in messages.
struct PredictionWords {
  std::string inputs;         // "12 images": plural
  std::string one = {};       // "case ", before a name in the log
  std::string in_total = {};  // "none of 12 images"; empty: as `inputs`
};

/// The options, the trained run, the context and the report of one call of predict.
class PredictionBatch {
 public:
  PredictionBatch(const PredictOptions& options, TrainedRun& run, const RunContext& context)
      : options(options),
        run(run),
        context(context),
        progress(context.progress(), [this] { settle(); }),
        ahead(context.alone(), context.budget_bytes()),
        behind(context.alone() && options.task.of<AuditRequest>().file.empty(), context.budget_bytes()) {}

  const PredictOptions& options;
  TrainedRun& run;  // without its parameters once the sessions are made
  const RunContext& context;
  SettlingProgress progress;
  PredictReport report;
  ReadAhead ahead;     // the input of the next turn, where a task reads it while the current one runs
  WriteBehind behind;  // the outputs of the turn before, where a task writes them while the current one runs: not with
                       // an audit, in which a kill must not leave out what is complete

  /// Returns what decides which inputs are predicted, for keep_wanted(); it fills report.seen.
  InputSieve sieve() {
    return {run.trained_on, options.held_out, report.seen,
            context.pool(), progress,         options.only ? &*options.only : nullptr,
            &audited_.files};
  }
  /// The models that predict each input, one after another: the run and its others.
  std::size_t models() const { return 1 + run.others.size(); }
  const TrainedRun& run_of(std::size_t model) const { return model == 0 ? run : run.others.at(model - 1); }
  /// Returns the session of a model, once the core sets of the others are released; available after the task has listed
  /// its inputs.
  Session& session(std::size_t model = 0) { return sessions_.session(model); }
  /// Returns what was planned for a model; available after all sizes are planned. `held` is that of all models.
  const PlannedBytes& planned(std::size_t model = 0) const { return planned_.at(model); }
  /// Returns the memory of the core set of a turn, of the model that takes most, in addition to `held`.
  ProcessPlan cores(const PredictionTurn& turn) const;
  /// True when the size of a turn was refused for one of the models.
  bool is_refused(const PredictionTurn& turn) const { return refusal(turn) != nullptr; }
  /// Throws the error with which it was refused, if it was, with a {host-memory} that would do.
  ///   beside  the memory of the turn beside the cores and what the process holds
  void require_planned(const PredictionTurn& turn, const ProcessPlan& beside = {});
  /// Refuses a turn that is over the budget with the memory `beside` its cores and what the process holds, or takes()
  /// it. `what` names the input, `fits` says what would fit. Errors: kInput E_BUDGET; those of require_planned().
  void take(const PredictionTurn& turn, const ProcessPlan& beside, const std::string& what, const std::string& fits);
  /// Returns a {host-memory}, in bytes, within which a turn is predicted that is over the budget now. Cores that take
  /// turns take more of a larger budget, so that it may be more than the plan takes now. None where the budget of a
  /// core is too small, and beyond the first few sizes. Cost: that of planning, several times a size.
  ///   plan   of the whole process, as it is within the budget now
  ///   cores  bytes of the cores in it
  std::optional<std::int64_t> would_do(const PredictionTurn& turn, const ProcessPlan& plan, std::int64_t cores);
  /// Records the memory plan of the current turn; the report keeps the largest of all turns. What is read ahead is
  /// dropped where both do not fit.
  void takes(const ProcessPlan& turn) {
    const ProcessPlan plan = turn + behind.held();
    ahead.give_way(plan, current_input());
    taken_ = widest(taken_, plan), report.memory.plan = widest(report.memory.plan, plan);
  }
  /// Releases the warm core set, and drops what is read ahead, where they do not fit beside the most that a step of the
  /// current turn may take outside of the network.
  void leave_room(const ProcessPlan& most) {
    make_room(most);
    ahead.leave_room(most + warm_, current_input());
  }
  /// Returns the memory of the core set that is alive outside of the network, in addition to `held`: it is kept for the
  /// next turn, since the system would clear the pages of a new arena anew, or an error left it.
  const ProcessPlan& warm() const { return warm_; }
  /// Says that the core set which runs now stays alive until release_cores(): the task counts it in the plans of its
  /// turns.
  void keep_cores(const ProcessPlan& cores) { warm_ = cores, counts_warm_ = true; }
  void release_cores() { sessions_.release(), warm_ = left_ = {}; }
  /// Releases the warm core set where it does not fit beside a step of the current turn, with what is read ahead and
  /// written behind.
  void make_room(const ProcessPlan& step) {
    if (warm_.total() > 0 && !fits(step + warm_ + behind.held() + ahead.held())) release_cores();
  }
  /// True when a plan is within the memory of this process.
  bool fits(const ProcessPlan& plan) const {
    return context.budget_bytes() <= 0 || plan.total() <= context.budget_bytes();
  }
  /// Returns the turn behind the current one; null: there is none yet.
  const PredictionTurn* next_turn() const { return next_; }
  /// Reads an input of the next turn ahead, where it fits beside what the current turn takes().
  void read_ahead(InputAhead input) {
    if (hides_paths_) input.shown_as = names_.at(input.number);
    ahead.start(std::move(input), taken_);
  }

  /// Writes the outputs of an input and ends it, behind the turn where the next one leaves room for that, else now.
  /// Errors: those of write() and end().
  void write(OutputBehind output) {
    settle();
    const ProcessPlan need = planned().held + output.need;
    make_room(need);
    if (warm_.total() > 0) takes(need + warm_);
    if (hides_paths_) output.shown_as = names_.at(output.number);
    if (!behind.start(output)) output.end(thrown_by(output.write));
  }
  /// Ends the input that is written behind, if there is one, and returns whether there was. Called before anything is
  /// said or recorded of another input. Errors: those that end the batch.
  bool settle() {
    const auto written = behind.take();  // nothing is pending from here on: what is said of it settles nothing more
    if (written) conclude_(*written);
    return written.has_value();
  }

  /// Notes files of the input folder that are no inputs, and logs them.
  ///   shows_names  false: they are not named; of a recursive call no message names what lies below the input folder
  void leave(ForeignFiles foreign, bool shows_names);
  /// Returns a message as it is shown: without paths below the input folder where these are hidden.
  std::string shown(const std::string& message) const {
    return hides_paths_ ? without_paths_below(message, options.input, "the input") : message;
  }
  /// Lists and logs entries that cannot be used and are therefore not in Prediction::names().
  void list(const std::vector<CaseFailure>& unusable);
  /// Records that input `i` of Prediction::names() was predicted into `file`, and logs it unless it is one of many that
  /// are predicted at once.
  ///   kept  an earlier call predicted it
  void done(std::size_t i, const std::filesystem::path& file, double seconds, bool kept = false);
  /// Keeps what was found in input `i` on the disk, before done(): a later call with the same options, content of the
  /// input and cut gives it to Prediction::restore(). Not what was found in a file that changed since the call began.
  /// Errors: kOutput.
  void keep(std::size_t i, const nlohmann::json& found);
  /// Returns the inputs that were predicted or kept, in the order in which they ended.
  const std::vector<std::size_t>& done_inputs() const { return audited_.done; }
  /// Returns the version of the program and the partition of each model: the one that the size of the turn has within a
  /// budget that the user gave, else the one that was asked for. A finer cut that follows from what the machine has
  /// free this time makes no prediction obsolete: it rounds as well as the other does.
  std::string version_and_cut(const PredictionTurn& turn) const;
  /// Records a further output of input `i`, for the audit; called before done(), of an input that is kept too.
  void wrote(std::size_t i, const std::filesystem::path& file) { audited_.more[i].push_back(file); }
  /// Releases the paths and hashes of all inputs so far, which have ended; for a batch whose inputs keep arriving.
  void forget_ended() {
    for (; forgotten_ < audited_.files.size(); ++forgotten_) audited_.files[forgotten_] = {};
    audited_.more.clear();
  }
  /// Says that inputs which come from here on may have come before, under the same names: a failure of then leaves the
  /// lists, and so does a prediction of an input that fails now. For a batch whose inputs keep arriving, before list().
  void may_come_again() { earlier_cases_ = report.cases.size(), earlier_failures_ = report.failures.size(); }
  /// Notes that earlier failures of an input are out of date; done(), fail() and list() do it of theirs.
  void outdate(const std::string& name);
  /// Returns how many failures have left the lists because their inputs came again.
  std::size_t outdated_failures() const { return outdated_failures_; }
  /// Leaves input `i` out: it is listed, and logged as "case NAME: why [quarantined]".
  void fail(std::size_t i, const std::string& code, const std::string& message);

 private:
  const Error* refusal(const PredictionTurn& turn) const;
  /// Notes that the earlier outcomes of an input that fails now are out of date.
  void outdate_all(const std::string& name);
  /// Takes the cases and failures that are out of date from the report, once they are in the audit; `trail` may be
  /// null.
  void drop_outdated(AuditTrail* trail);
  /// Restores what earlier calls found, for a task that keeps it and more than one input; writes nothing.
  void read_parts(class Prediction& task, const std::vector<PredictionTurn>& turns);
  /// True when all inputs of a turn are restored. Else all are predicted, so that each has the place in the batch, and
  /// so the bits, that it has without an interruption.
  bool is_kept(const PredictionTurn& turn) const;
  void end_kept(const PredictionTurn& turn, class Prediction& task);
  friend class PredictionLoop;
  friend PredictReport run_prediction(const PredictOptions&, TrainedRun, const CoreWork&, const RunContext&,
                                      const std::function<std::unique_ptr<class Prediction>(PredictionBatch&)>&);
  std::size_t current_input() const { return turn_ != nullptr ? turn_->inputs.front() : 0; }
  /// Begins a turn. The core set that the turn before left alive is released where it is larger than that of this one:
  /// the plan of a turn counts its own, unless the task counts what stays (keep_cores).
  void comes_to(const std::vector<PredictionTurn>& turns, std::size_t at) {
    turn_ = &turns[at], next_ = at + 1 < turns.size() ? &turns[at + 1] : nullptr, taken_ = {};
    const ProcessPlan own = cores(*turn_);
    if (counts_warm_ || own.total() == 0) return;
    if (left_.total() > own.total()) release_cores();
    left_ = own;
  }
  /// Drops what was read ahead as the turns end, and records what was held with it. The memory of the cores goes back
  /// to the system too: a watched inbox may stay empty for hours, on a machine with other work.
  void end_turns() {
    ahead.drop();
    release_cores();
    turn_ = next_ = nullptr, taken_ = {};
    report.memory.plan = widest(report.memory.plan, ahead.widest());
  }
  PredictionWords words_;
  const PredictionTurn *turn_ = nullptr, *next_ = nullptr;
  ProcessPlan taken_;        // by the current turn
  ProcessPlan warm_, left_;  // core sets that are alive outside of the network: counted by the task, and not
  bool counts_warm_ = false;
  std::vector<std::string> names_;
  std::set<std::size_t> ended_;                             // inputs that were predicted or failed
  std::size_t failed_ = 0;                                  // of them, those that failed
  std::size_t earlier_cases_ = 0, earlier_failures_ = 0;    // may_come_again()
  std::size_t outdated_cases_ = 0, outdated_failures_ = 0;  // that have left the lists
  std::set<std::size_t> old_cases_, old_failures_;          // of the report's, until these are audited
  std::size_t at_once_ = 1;                                 // inputs of the largest turn
  bool hides_paths_ = false;                                // below the input folder
  bool told_at_end_ = false;                                // the reason why the one input is left out
  std::size_t forgotten_ = 0;                               // inputs whose paths were released
  AuditInputs audited_;
  std::optional<PartsFile> parts_;
  std::vector<std::string> part_of_;  // of each input; empty: it cannot be read
  std::vector<char> restored_;        // the inputs
  std::vector<std::unique_ptr<Session>> owned_;
  ModelSessions sessions_;
  std::vector<PlannedBytes> planned_;                    // by model
  std::map<Shape, std::optional<std::int64_t>> sought_;  // what would_do() found, by size
  std::function<void(const WriteBehind::Written&)> conclude_;
};

/// One call of predict for the inputs of one task. Rank 0 makes it and calls its functions in the order below.
class Prediction {
 public:
  virtual ~Prediction() = default;
  virtual PredictionWords words() const = 0;
  /// Returns the names of all inputs to predict.
  virtual std::vector<std::string> names() const = 0;
  /// Returns the turns in the order in which they are predicted.
  virtual std::vector<PredictionTurn> turns() const = 0;
  /// Returns the memory of inputs that are loaded already, as the task planned it.
  virtual ProcessPlan loaded() const { return {}; }
  /// Returns the bytes that the task holds for each element of the image of a model while its cores run, beside the
  /// image and its labels.
  virtual BytesBeside bytes_beside(std::size_t /*model*/) const { return {}; }
  /// True when the inputs of a turn, whose cores stay in memory, fit there with all that is held beside these. False:
  /// the cores take turns where they can.
  virtual bool fits(const PredictionTurn& /*turn*/) const { return true; }
  /// Returns what a dry run says of an input; none when it left it out (PredictionBatch::fail). Writes nothing. Errors:
  /// those with which predict() would leave it out before it reads voxels.
  virtual std::optional<PlannedInput> planned(PredictionBatch& batch, const PredictionTurn& turn, std::size_t i);
  /// Returns what the inputs of an earlier call with the same options took, by elements of what the first model sees;
  /// none where that was not measured.
  virtual PartTime earlier_time() const { return {}; }
  /// Returns the options that decide what is found in an input, where the batch keeps that until the one output of all
  /// inputs is written; none: the task keeps outputs itself.
  virtual std::optional<std::string> kept_with() const { return std::nullopt; }
  /// Takes what an earlier call gave to PredictionBatch::keep(), before begin(); it is among the results once the input
  /// is one of done_inputs(). False: it is not of this form, and nothing was taken.
  virtual bool restore(std::size_t, const nlohmann::json&) { return false; }
  /// Writes what lies beside the output for an input that was restored, in its turn. Errors: as predict().
  virtual void add_beside(std::size_t) {}
  /// Opens the outputs; called after the sizes are planned.
  virtual void begin() {}
  /// True for a single input that is predicted while it is read, a video: predict() is called once, does the work of
  /// the whole batch and reports it.
  virtual bool is_one_stream() const { return false; }
  /// Returns the number of work items for the progress, which predict() then reports itself; 0: the batch counts
  /// inputs.
  virtual std::int64_t pieces() const { return 0; }
  /// Decodes, runs and writes. On an error of kind kInput or kBudget, or when the system refuses memory, those inputs
  /// of the turn that have no outcome yet are left out; Stopped ends the batch before them; any other error ends the
  /// batch.
  virtual void predict(const PredictionTurn& turn) = 0;
  /// Drops what an earlier call may have predicted for an input that failed now.
  virtual void drop(std::size_t) {}
  /// Called after each turn whose inputs were predicted or left out.
  ///   good  none of them was left out
  virtual void ended(const PredictionTurn&, bool /*good*/) {}
  /// True where inputs arrive while the batch runs: it, and a dry run of it, ends with its report, whatever came.
  virtual bool is_watch() const { return false; }
  /// Waits for further inputs where these arrive while the batch runs, and returns true when there are some: names()
  /// then has them at its end, and turns() returns theirs alone. False: there are no more. Errors: Stopped while it
  /// waits, which ends the batch as if there were no more.
  virtual bool wait_for_more() { return false; }
  /// Writes the lists of left-out inputs when no input could be predicted, or an error ends the batch.
  virtual void list_failures() {}
  /// Keeps the complete results when an error ends the batch.
  virtual void abandon() {}
  /// Writes the results up to the end or a stop, and the text of the report.
  virtual void finish() = 0;
};

/// Runs the batch; all processes call it. Errors: kNoCase when no input could be predicted, and kBudget when no
/// size is within the budget, unless it is a watch; those of the task.
PredictReport run_prediction(const PredictOptions& options, TrainedRun run, const CoreWork& work,
                             const RunContext& context,
                             const std::function<std::unique_ptr<Prediction>(PredictionBatch&)>& make);

}  // namespace voxshard
