// What a run trains on: where its samples come from and how it is validated. The rest (steps, checkpoints, resume,
// tables, profile) is run_train's and the same for every task.
//
//   std::unique_ptr<TrainingTask> task = volume_task({.work = "work"});          // Dice on prepared volumes
//   task = detection_task({.data = "coco/train.json"}, config);                  // AP50 on images
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/case_hashes.h"
#include "pipelines/engine/validation.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// A step as memory sees it.
struct StepSize {
  Shape extents;                // N and the spatial axes
  std::int64_t box_points = 0;  // voxels or pixels of the boxes that are filled at once, one sample of each
  int workers = 1;
};

/// What to try a trained model on, as the command predict takes it.
struct Unseen {
  std::filesystem::path data;  // empty: nothing is held out, or nothing tells where it is
  bool among_trained = false;  // what was held out lies there beside what was trained on
};

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  /// "dice", "ap50": part of names in tables and JSON.
  virtual const char* metric() const = 0;
  /// Returns whether the best checkpoint is the one with the highest score; else it is that with the lowest.
  virtual bool higher_is_better() const { return true; }
  /// Sets what the data decide: channels and classes. Errors: kConfig for a model that cannot learn from them.
  virtual void complete(ModelSpec& spec) const = 0;
  virtual std::int64_t training_cases() const = 0;
  virtual std::int64_t validation_cases() const = 0;
  /// Entries of the data that could not be used and that describe() lists in quarantine.csv.
  virtual std::int64_t left_out() const { return 0; }
  /// What `predict` repeats on new inputs; part of each checkpoint.
  virtual nlohmann::ordered_json preparation() const = 0;
  /// What decides the samples of a step; a resumed run must agree on all of it.
  virtual nlohmann::ordered_json sampling() const = 0;
  /// What the samples hold: by the role and name of a case, a hash of its files and annotations, of which a resumed run
  /// must find the same; and the keys of what trains.
  ///   resumes  hashes that `prepare` noted do not count: what the files hold now is compared with the run's
  /// Cost: every file is read once, but for those with a noted hash. Errors: kInput.
  virtual CaseHashes content(bool resumes, WorkerPool& pool, Progress& progress) const = 0;
  /// What is odd about the data or the samples, one sentence each, for the log before training starts.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// Whether the best checkpoint is chosen on what the data hold for tests, for want of another part.
  virtual bool validates_on_test() const { return false; }
  /// Writes which cases train and which validate.
  virtual void describe(const std::filesystem::path& run) = 0;

  virtual Unseen unseen() const { return {}; }

  /// The extents (N and the spatial axes) of the largest step there can be: what a plan of the whole run must hold.
  virtual Shape largest_extents(std::int64_t batch) const = 0;
  /// All extents that validation predicts at.
  virtual std::vector<Shape> validation_extents(const ModelSpec& spec) const = 0;

  /// What the samples of a step take beside its core set; what validation takes beside the core set of its extents; how
  /// many different extents steps may have, each with a plan that is worth keeping.
  virtual ProcessPlan step_plan(const StepSize&) const { return {}; }
  virtual ProcessPlan validation_plan(const Shape&) const { return {}; }
  virtual std::int64_t step_sizes(std::int64_t) const { return 1; }
  /// What of step_plan() is in memory before the first step, such as the pixels of IDX files.
  virtual ProcessPlan loaded_plan() const { return {}; }

  /// From now on this process fills no more than the labels of samples before `begin` and from `end` on of each step:
  /// other processes host their cores, and they need not be read. Until it is called it fills all.
  virtual void share(std::int64_t begin, std::int64_t end) { (void)begin, (void)end; }
  /// Makes the samples of a step ready and returns their extents. The same step gives the same samples.
  virtual Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool) = 0;
  /// Fills a core's box of an input of the step that was loaded last. Threads: from several at once.
  virtual void fill(const InputInfo& input, const TensorView& box) const = 0;

  /// The setting that makes samples this large, for advice: "{crop} 64x64x64".
  virtual std::string size_setting(const std::string& size) const { return "{crop} " + size; }

  /// The next validation, on the cases that are held out, with the parameters of the session that it gets.
  virtual std::unique_ptr<ValidationPass> validation(const ModelSpec& spec) const = 0;
  /// A case of the validation cannot be read; quarantine.csv of the run lists it.
  virtual void leave_out(const CaseFailure& failure, Progress& progress) { (void)failure, (void)progress; }
};

/// Errors: kConfig for a multiple below 1.
inline void require_pad_multiple(std::int64_t multiple) {
  if (multiple < 1) throw Error(ErrorKind::kConfig, "[train] {pad-multiple} must be at least 1");
}

}  // namespace voxshard
