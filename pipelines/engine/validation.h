// Validation of a model while it trains: the held-out cases are predicted in turn and scored by the task. Rank 0
// coordinates the runs of the cores; all processes get its score.
//
//   class VolumeValidation : public ValidationPass { ... };
//   Validation v = run_validation(session, pass, [&](const CaseFailure& f) { left_out.add(f, progress); }, progress);
#pragma once

#include "pipelines/engine/core_runs.h"
#include "pipelines/engine/prediction.h"

namespace voxshard {

/// The scores of one case of a validation.
struct ValidatedCase {
  std::string name;
  std::vector<double> by_class;  // in the order of Validation::classes; NaN where the case has no score of the class
};

/// The most cases of which a validation keeps slices, or a drawn image.
inline constexpr std::int64_t kMostSlicedCases = 3;

struct Validation {
  double score = 0;              // 0 or more
  std::vector<double> by_class;  // scores by class, without a background; NaN where the samples have none
  // On rank 0 alone, for the files of a run:
  std::vector<std::string> classes = {};  // the names that belong to `by_class`
  std::vector<ValidatedCase> cases = {};  // empty where the metric has no score of a single case
  nlohmann::ordered_json slices = {};     // slices of the worst cases and of the best one; null: none are kept
  nlohmann::ordered_json detail = {};     // what the page of the run shows beside the scores; null: nothing
};

/// Returns what a validation missed by its metric, of which higher is better, as model_runs/missed_classes.h says it;
/// none on other ranks than 0.
std::vector<std::string> missed_classes(const Validation& validation, const std::string& metric);

/// One validation by one task. Every process makes one; all functions but work() are called on rank 0 only.
class ValidationPass {
 public:
  virtual ~ValidationPass() = default;
  /// Returns the work of every process for its own cores.
  virtual CoreWork work() const = 0;
  /// Returns the groups of cases that are predicted at once, in the order in which they are predicted.
  virtual std::vector<PredictionTurn> turns() const = 0;
  /// Returns the name of the case with that index in PredictionTurn::inputs.
  virtual std::string name(std::size_t input) const = 0;
  /// Decodes, predicts and scores the cases of a turn. Returns the cases that cannot be read, which do not count.
  virtual std::vector<CaseFailure> validate(Session& session, const PredictionTurn& turn) = 0;
  virtual Validation result() const = 0;
  /// Asks for slices or drawn images of so many cases in the result (at most kMostSlicedCases), the worst and the best
  /// one, where the task has some. All processes call it before the first case.
  virtual void keep_slices(std::int64_t cases) { (void)cases; }
  /// Returns the end of the warning when no case could be read: "images that validate can be read: the score of 0 says
  /// nothing".
  virtual std::string nothing_read() const = 0;
};

/// Runs a validation pass; the session's core set is released before and after. `leave_out` is called with every case
/// that cannot be read. Errors: Stopped, by `progress` or the session; those of the pass.
Validation run_validation(Session& session, ValidationPass& pass,
                          const std::function<void(const CaseFailure&)>& leave_out, Progress& progress);

/// The data entries that a training leaves out, listed in the quarantine.csv of its run.
class LeftOut {
 public:
  /// Sets the entries that are known before the training starts.
  void set(std::vector<CaseFailure> failures) { failures_ = std::move(failures); }
  std::int64_t count() const { return std::ssize(failures_); }
  /// Writes the list into `run`, and again whenever an entry is added.
  void write_to(const std::filesystem::path& run);
  /// Adds a validation case that cannot be read, once per name, with a warning.
  void add(const CaseFailure& failure, Progress& progress);

 private:
  std::vector<CaseFailure> failures_;
  std::set<std::string> unread_;  // names of validation cases
  std::filesystem::path run_;     // empty: not written yet
};

}  // namespace voxshard
