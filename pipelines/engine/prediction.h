// The batch of `predict`, once for all tasks. A task lists its inputs, decodes one, runs it and writes what was found;
// the batch owns what is the same for many: it plans every size before the first file, takes the inputs in turn, and
// decides what costs an input and what ends the batch, how a stop ends it, what is reported and what every process of
// the run does.
//
//   class Images : public Prediction { ... };
//   return run_prediction(options, std::move(run), image_work(how), context,
//                         [&](PredictionBatch& batch) { return std::make_unique<Images>(batch, how); });
#pragma once

#include <memory>
#include <set>

#include "pipelines/engine/core_runs.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

/// Inputs that are predicted at once, at the same extents: a volume, an image, a video, or several small items.
struct PredictionTurn {
  Shape extents;                    // N and the spatial axes; empty where the header cannot be read: its turn says why
  std::vector<std::size_t> inputs;  // indices in Prediction::names()
};

/// What the messages of a task call its inputs.
struct PredictionWords {
  std::string inputs;         // "12 images": plural
  std::string one = {};       // "case ", before a name in the log
  std::string in_total = {};  // "none of 12 images"; empty: as `inputs`
};

/// What a prediction runs in.
class PredictionBatch {
 public:
  PredictionBatch(const PredictOptions& options, TrainedRun& run, const RunContext& context)
      : options(options), run(run), context(context), progress(context.progress()) {}

  const PredictOptions& options;
  TrainedRun& run;  // without its parameters once the session is made
  const RunContext& context;
  Progress& progress;
  PredictReport report;

  /// Once the task has listed its inputs.
  Session& session() { return *session_; }
  /// Once all sizes are planned.
  const PlannedBytes& planned() const { return planned_; }
  /// Errors: why the size was refused, if it was.
  void require_planned(const Shape& extents) const;
  /// What the process takes now, beside others in turn.
  void takes(const ProcessPlan& plan) { report.memory.plan = widest(report.memory.plan, plan); }

  /// What cannot be used and is no input of Prediction::names() for that: listed and logged.
  void list(const std::vector<CaseFailure>& unusable);
  /// Input `i` of Prediction::names() was predicted, into `file`.
  void done(std::size_t i, const std::filesystem::path& file, double seconds);
  /// Input `i` costs itself: it is listed, and logged as "case NAME: why [quarantined]".
  void fail(std::size_t i, const std::string& code, const std::string& message);

 private:
  friend class PredictionLoop;
  friend PredictReport run_prediction(const PredictOptions&, TrainedRun, const CoreWork&, const RunContext&,
                                      const std::function<std::unique_ptr<class Prediction>(PredictionBatch&)>&);
  PredictionWords words_;
  std::vector<std::string> names_;
  std::set<std::size_t> ended_;  // inputs that were predicted or failed
  std::unique_ptr<Session> session_;
  PlannedBytes planned_;
};

/// One call of predict for the inputs of one task. Rank 0 makes it and calls its functions in their order.
class Prediction {
 public:
  virtual ~Prediction() = default;
  virtual PredictionWords words() const = 0;
  /// Of every input that is to be predicted.
  virtual std::vector<std::string> names() const = 0;
  /// In the order in which they are predicted.
  virtual std::vector<PredictionTurn> turns() const = 0;
  /// Of the inputs what is in memory already, planned by the task.
  virtual ProcessPlan loaded() const { return {}; }
  /// Opens the outputs. The sizes are planned.
  virtual void begin() {}
  /// One input that is predicted as it is read, a video: predict() is called once, does all of the batch's work and
  /// reports it.
  virtual bool is_one_stream() const { return false; }
  /// Pieces of work for the progress, and whether predict() reports them itself; 0: the batch counts inputs.
  virtual std::int64_t pieces() const { return 0; }
  /// Decodes, runs and writes. Errors of kinds kInput and kBudget, and memory that the system refuses, cost the turn's
  /// inputs that have no outcome yet; Stopped ends the batch before them; others end it with an error.
  virtual void predict(const PredictionTurn& turn) = 0;
  /// An input failed that an earlier call may have predicted.
  virtual void drop(std::size_t) {}
  /// Writes the lists of what was left out where nothing could be predicted.
  virtual void list_failures() {}
  /// An error ends the batch: keeps what is whole.
  virtual void abandon() {}
  /// Writes what was found until the end or a stop, and the report's text.
  virtual void finish() = 0;
};

/// Errors: kNoCase where no input could be predicted; kBudget where no size is within the budget; those of the task.
PredictReport run_prediction(const PredictOptions& options, TrainedRun run, const CoreWork& work,
                             const RunContext& context,
                             const std::function<std::unique_ptr<Prediction>(PredictionBatch&)>& make);

}  // namespace voxshard
