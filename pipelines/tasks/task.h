// What a task is: what its models learn from, and what each command does for it. A task is one class in a folder of its
// own and one row in task_table.cc.
//
//   const Task& task = task_of(task_table(), spec);            // of a RetinaNet: detection
//   std::unique_ptr<TrainingTask> data = task.training({.data = "coco/train.json"}, {}, spec);
//   feed_of(graph, task.records()).transfer_bytes;
//
// Commands ask the table that they are handed; none of them knows which tasks there are.
#pragma once

#include <memory>

#include "libcore/device/feed.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

/// The words of a task in the help of commands that it shares with others: a clause each, without a full stop.
struct TaskWords {
  std::string demo_cases, demo_test_cases;  // "120 images": as many as demo() usually writes
  std::string demo_kinds;                   // "digits (the usual), or motion: clips"; empty: one thing only
  std::string training_data;                // what train takes: "of RetinaNet a COCO JSON"
  std::string inputs, outputs;              // what predict takes and writes
  std::string predicted = "found.json";     // a name for what predict writes
  std::string predictions;                  // what evaluate takes, as a folder or file of its own form
  std::string json_predictions;             // and as a JSON file: "COCO results"
  std::string references, data_references;  // what it holds them against; a data set: "of classes a data set"
  std::string run_data;                     // and a run: "the folder that voxshard prepare wrote"
  std::string scores;                       // what it writes
  std::string data_files, data_sets;        // what info knows: "COCO JSON"; "nnU-Net, Decathlon"
};

class Task {
 public:
  virtual ~Task() = default;

  /// "segmentation": for people, and for `demo --task`.
  virtual const char* name() const = 0;
  virtual TaskWords words() const { return {}; }
  /// Whether this is the task of a model.
  virtual bool learns(const ModelSpec& spec) const = 0;
  /// What a user may say about a command of this task, bound to `options`, which must live as long as the rows are
  /// used.
  virtual std::vector<Setting> settings(TaskCommand, TaskOptions&) const { return {}; }

  /// What demo() can write, by name, the usual first; empty: one thing only.
  virtual std::vector<std::string> demo_kinds() const { return {}; }
  /// Writes a small generated data set; `scale` 1 to 3 is its size. Errors: kOutput; Stopped, then without what makes a
  /// data set of the files (it comes last).
  virtual DemoReport demo(const DemoOptions& options, int scale, Progress& progress) const = 0;
  /// Adds to the report what the task knows of a file or folder; true when that is all there is to say about it.
  virtual bool info(const std::filesystem::path&, const InfoOptions&, InfoReport&) const { return false; }
  /// Whether training wants data that `prepare` made.
  virtual bool prepares() const { return false; }
  virtual TaskReport prepare(const PrepareRequest& request, const RunContext& context) const;
  /// The samples of a run, and how it is validated. Errors: kInput, kNoCase, kConfig, kUsage.
  virtual std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                                 const ModelSpec& spec) const = 0;
  /// Predicts for every input. Errors: those of run_predict.
  virtual PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const = 0;
  /// Whether a file or folder holds predictions of this task.
  virtual bool predicted(const std::filesystem::path& predictions) const = 0;
  virtual TaskReport evaluate(const EvaluateOptions& options, const RunContext& context) const = 0;
  /// Whether the processes of a run share out the cases that evaluate() counts, and all call it; else it is little
  /// work, and one of them does it alone.
  virtual bool shares_evaluation() const { return false; }
  /// The losses and scores of a run on data, batch by batch, over the mesh of its spec. Errors: kUsage for a task that
  /// scores predictions only; else those of predict.
  virtual TaskReport evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context) const;
  /// How the hosts of the original system get the samples, for prices on an emulated device.
  virtual RecordFormat records() const { return {}; }
};

}  // namespace voxshard
