// The interface of a task, such as segmentation or detection: the data that its models learn from, and its part of each
// command. A task is one class in a folder of its own and one row in task_table.cc.
//
//   const Task& task = task_of(task_table(), spec);            // for a RetinaNet: detection
//   std::unique_ptr<TrainingTask> data = task.training({.data = "coco/train.json"}, {}, spec);
//   feed_of(graph, task.records()).transfer_bytes;
//
// Commands look tasks up in the table that they are given; none of them names a task itself.
#pragma once

#include <memory>

#include "libcore/device/feed.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/answer_difference.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

/// The clauses of a task in the help of commands that all tasks share, each without a full stop.
struct TaskWords {
  std::string demo_cases, demo_test_cases;  // "120 images": the default number that demo() writes
  std::string demo_kinds;                   // "digits (the usual), or motion: clips"; empty: there is one kind only
  std::string training_data;                // input of train: "of RetinaNet a COCO JSON"
  std::string inputs, outputs;              // input and output of predict
  std::string predicted = "found.json";     // an example name for the output of predict
  std::string predictions;                  // input of evaluate: a folder or file in the task's own format
  std::string json_predictions;             // input of evaluate: a JSON file, "COCO results"
  std::string references,
      data_references;                // references of evaluate; those that are a data set: "of classes a data set"
  std::string run_data;               // data on which evaluate scores a run: "the folder that voxshard prepare wrote"
  std::string scores;                 // output of evaluate
  std::string data_files, data_sets;  // inputs that info recognises: "COCO JSON"; "nnU-Net, Decathlon"
};

class Task {
 public:
  virtual ~Task() = default;

  /// Returns the name of the task, for messages and for `demo --task`: "segmentation".
  virtual const char* name() const = 0;
  virtual TaskWords words() const { return {}; }
  /// True when this is the task of a model.
  virtual bool learns(const ModelSpec& spec) const = 0;
  /// Returns the settings of a command of this task, bound to `options`, which must live as long as the settings are
  /// used.
  virtual std::vector<Setting> settings(TaskCommand, TaskOptions&) const { return {}; }

  /// Returns the names of the kinds of data that demo() can write, the default first; empty: there is one kind only.
  virtual std::vector<std::string> demo_kinds() const { return {}; }
  /// Writes a small generated data set; `scale` 1 to 3 is its size. Errors: kOutput; Stopped, before the file that
  /// makes the folder a data set (it is written last).
  virtual DemoReport demo(const DemoOptions& options, int scale, Progress& progress) const = 0;
  /// Adds the task's findings about a file or folder to the report; returns true when nothing more is to be reported on
  /// it.
  virtual bool info(const std::filesystem::path&, const InfoOptions&, InfoReport&) const { return false; }
  /// True when the task checks its data sets.
  virtual bool checks() const { return false; }
  virtual TaskReport check(const CheckRequest& request, const RunContext& context) const;
  /// True when training needs data that `prepare` made.
  virtual bool prepares() const { return false; }
  /// True for a data set that prepare() takes with its defaults alone, and that it has not prepared.
  virtual bool is_unprepared(const std::filesystem::path&) const { return false; }
  /// Returns a report with the numbers "prepared", "skipped" (finished before) and "failed" of cases.
  virtual TaskReport prepare(const PrepareRequest& request, const RunContext& context) const;
  /// Makes the training task of a run: its samples and its validation. Errors: kInput, kNoCase, kConfig, kUsage.
  virtual std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                                 const ModelSpec& spec) const = 0;
  /// True when predict() takes a run with others (model_runs/averaged_runs.h) and averages their probabilities.
  virtual bool averages() const { return false; }
  /// Predicts for every input. Errors: those of run_predict.
  virtual PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const = 0;
  /// True when a file or folder holds predictions of this task.
  virtual bool predicted(const std::filesystem::path& predictions) const = 0;
  virtual TaskReport evaluate(const EvaluateOptions& options, const RunContext& context) const = 0;
  /// True when all processes of a run call evaluate() and divide its cases among them; false when it is little work
  /// that the first process does alone.
  virtual bool shares_evaluation() const { return false; }
  /// True when evaluate() has a dry run.
  virtual bool rehearses_evaluation() const { return false; }
  /// Computes the losses and scores of a run on data, batch by batch, over the mesh of its spec. Errors: kUsage for a
  /// task that scores predictions only; else those of predict.
  virtual TaskReport evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context) const;
  /// Writes a page that shows each predicted case. Errors: kUsage for a task that has none.
  virtual TaskReport contact_sheet(const SheetRequest& request, Progress& progress) const;
  /// Writes a small generated input that fits the run into an empty folder, which predict() then gets; every layer of
  /// the model computes on it. The same run gets the same input. Errors: kUsage for a task that has none; kCheckpoint
  /// for a run that does not say how its inputs were prepared; kOutput.
  virtual void golden_input(const TrainedRun& run, const std::filesystem::path& folder) const;
  /// Returns the SHA-256 of what predict() found, as its file holds it: of a label map that of its voxels, whatever
  /// compressed them. Errors: kInput.
  virtual std::string answer_hash(const std::filesystem::path& file) const;
  /// Compares an answer with the one that other instructions gave.
  ///   precision  of the model: with bf16 more may differ
  /// Errors: kInput.
  virtual AnswerDifference answer_difference(const std::filesystem::path& reference, const std::filesystem::path& found,
                                             DType precision) const;
  /// Returns the record format in which hosts of the original system get the samples, for cost estimates on an emulated
  /// device.
  virtual RecordFormat records() const { return {}; }
};

}  // namespace voxshard
