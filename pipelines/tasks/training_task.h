// The interface between a task and training: the samples of a run and its validation. The rest (steps, checkpoints,
// resume, tables, profile) belongs to run_train and is the same for every task.
//
//   std::unique_ptr<TrainingTask> task = volume_task({.work = "work"});          // Dice on prepared volumes
//   task = detection_task({.data = "coco/train.json"}, config);                  // AP50 on images
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/case_hashes.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/validation.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/tasks/run_length.h"

namespace voxshard {

/// The sizes of a step that determine its memory.
struct StepSize {
  Shape extents;                // N and the spatial axes
  std::int64_t box_points = 0;  // voxels or pixels, for one sample, of the boxes that are filled at once
  int workers = 1;
};

/// The facts about the classes of the training cases, for the settings that depend on them.
struct ClassesOfCases {
  std::int64_t partly_annotated = 0;   // cases in which not every class was annotated
  std::string rarest = {};             // the class that the fewest cases have, of those that some case has
  std::int64_t cases_with_rarest = 0;  // 0: there is none
  std::string sided = {};              // two classes that differ in their side alone; empty: there are none
};

/// Data on which to try a trained model, as the command predict takes it.
struct Unseen {
  std::filesystem::path data;  // empty: nothing is held out, or its location is unknown
  bool among_trained = false;  // true: `data` also holds cases that were trained on
};

/// The data that validate a run, as the command predict takes them.
struct HeldOut {
  std::filesystem::path data;  // an input that holds it, among others too; empty: it cannot be predicted
  std::string why_not = {};    // then the reason
  TaskOptions task = {};       // how predict reads it: the limits and rules with which the run read it
  TrainedOn keys = {};         // its contents (CaseHashes::held_out), by which it is found among the inputs
};

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  /// Returns the metric's name, a part of names in tables and JSON: "dice", "ap50".
  virtual const char* metric() const = 0;
  /// True when the best checkpoint is the one with the highest score; false: the lowest.
  virtual bool higher_is_better() const { return true; }
  /// Sets the values that the data determine: channels and classes. Errors: kConfig for a model that cannot learn
  /// from them.
  virtual void complete(ModelSpec& spec) const = 0;
  /// Takes the settings as they stand once the recipe has chosen those that were not given, before the first sample;
  /// sets the values of the model that depend on them, and fields that are left to the data (ConfigField::from_data).
  /// Errors: kConfig for data from which the model cannot learn with them.
  virtual void settle(ModelSpec& spec, const TaskOptions& options, const RunLength& length) {
    (void)spec, (void)options, (void)length;
  }
  /// Returns what settle() and complete() derived from the data for this run, one sentence each, for the log before
  /// training starts.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual std::int64_t training_cases() const = 0;
  virtual ClassesOfCases classes_of_cases() const { return {}; }
  /// Returns how many of the first `samples` samples were drawn on each class, {"anywhere": 30, "liver": 70}; null
  /// where they are not drawn by their classes.
  virtual nlohmann::ordered_json drawn_on(std::int64_t samples) const {
    (void)samples;
    return nullptr;
  }
  virtual std::int64_t validation_cases() const = 0;
  /// Returns the number of data entries that cannot be used; describe() lists them in quarantine.csv.
  virtual std::int64_t left_out() const { return 0; }
  /// Returns the preparation of the samples, which `predict` repeats on new inputs; part of each checkpoint.
  virtual nlohmann::ordered_json preparation() const = 0;
  /// Returns the settings that determine the samples of a step; a resumed run must have the same.
  virtual nlohmann::ordered_json sampling() const = 0;
  /// Returns hashes of the sample contents: one per case, by its role and name, over its files and annotations, which
  /// must be equal in a resumed run; and the keys of the training samples.
  ///   resumes  true: the files are hashed anew instead of using the hashes that `prepare` noted
  /// Cost: every file is read once, except those with a noted hash. Errors: kInput.
  virtual CaseHashes content(bool resumes, WorkerPool& pool, Progress& progress) const = 0;
  /// Returns warnings about the data or the samples, one sentence each, for the log before training starts.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// True when the best checkpoint is chosen on the test part of the data, because there is no other part.
  virtual bool validates_on_test() const { return false; }
  /// Writes the lists of training and validation cases.
  virtual void describe(const std::filesystem::path& run) = 0;

  virtual Unseen unseen() const { return {}; }
  /// Returns where predict finds what validates, without the keys; called where something validates.
  virtual HeldOut held_out() const { return {.data = {}, .why_not = "its task does not say where predict finds it"}; }

  /// Returns the extents (N and the spatial axes) of the largest possible step, for which the whole run is planned.
  virtual Shape largest_extents(std::int64_t batch) const = 0;
  /// Returns the mean number of voxels or pixels of a sample of the run, for estimates of time; none: that of the
  /// largest.
  virtual std::optional<double> mean_points() const { return std::nullopt; }
  /// Returns the sizes of samples that are cropped and that are not; none: they are not told apart.
  virtual std::optional<SampleSizes> sample_sizes(std::int64_t batch) const { return (void)batch, std::nullopt; }
  /// Returns all extents at which validation predicts.
  virtual std::vector<Shape> validation_extents(const ModelSpec& spec) const = 0;

  /// Return the memory of a step's samples beside its core set; the memory of validation beside the core set of its
  /// extents; the number of different extents that steps may have, each with a plan that is worth keeping.
  virtual ProcessPlan step_plan(const StepSize&) const { return {}; }
  virtual ProcessPlan validation_plan(const Shape&) const { return {}; }
  virtual std::int64_t step_sizes(std::int64_t) const { return 1; }
  /// Returns the part of step_plan() that is in memory before the first step, such as the pixels of IDX files.
  virtual ProcessPlan loaded_plan() const { return {}; }

  /// Limits this process to the samples [begin, end) of each step. Of the others, whose cores belong to other
  /// processes, it fills the labels only, so they need not be read. Until share() is called it fills all samples.
  virtual void share(std::int64_t begin, std::int64_t end) { (void)begin, (void)end; }
  /// Loads the samples of a step and returns their extents. The same step gives the same samples.
  virtual Shape load(std::int64_t step, std::int64_t batch, WorkerPool& pool) = 0;
  /// Fills a core's box of an input of the step that was loaded last. Threads: several at once.
  virtual void fill(const InputInfo& input, const TensorView& box) const = 0;

  /// Returns the setting that gives samples of this size, for advice in messages: "{crop} 64x64x64".
  virtual std::string size_setting(const std::string& size) const { return "{crop} " + size; }

  /// Makes the next validation, on the held-out cases, with the parameters of the session that it gets.
  virtual std::unique_ptr<ValidationPass> validation(const ModelSpec& spec) const = 0;
  /// Returns the names of the classes of Validation::by_class, in their order; empty where the task scores none by
  /// itself.
  virtual std::vector<std::string> scored_classes() const { return {}; }
  /// Lists a validation case that cannot be read in the run's quarantine.csv.
  virtual void leave_out(const CaseFailure& failure, Progress& progress) { (void)failure, (void)progress; }
};

/// Throws kConfig for a multiple below 1.
inline void require_pad_multiple(std::int64_t multiple) {
  if (multiple < 1) throw Error(ErrorKind::kConfig, "[train] {pad-multiple} must be at least 1");
}

}  // namespace voxshard
