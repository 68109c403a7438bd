// `voxshard train`: the data of a task to a run folder. Validation with a best
// checkpoint, checkpoints from which a killed run goes on to the same bits. Progress, validation and checkpoints come
// at the ends of loops (iterations_per_loop); a stop is heard within a step and saves the last whole one.
//
//   RUN/ run.json  plans.json  results.csv  splits_final.json  checkpoints/{last,best,step-000400}.safetensors + .json
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libcore/train/optimizer.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/planning/plan_settings.h"
#include "pipelines/profile/trace_json.h"
#include "pipelines/settings/recipe.h"
#include "pipelines/tasks/sample_feed.h"
#include "pipelines/tasks/table/task_table.h"
#include "pipelines/tpu/tpu_config_loop.h"

namespace voxshard {

struct TrainOptions {
  std::filesystem::path work, run;  // work: the data, as the task reads it
  ModelSpec spec;                   // channels and classes are taken from the data
  OptimizerOptions optimizer;
  std::uint64_t seed = 0;  // of weights, samples and augmentation
  TaskOptions task;        // of the model's task: samples, what validates
  std::int64_t steps = 1000;
  std::int64_t epochs = 0;           // passes over the training cases, in place of `steps`; 0: not told
  std::int64_t lr_decay_epochs = 0;  // after so many passes the exponential rate falls, in stairs; 0: by decay_steps
  std::int64_t batch = 1;
  std::int64_t validate_every = 0;  // steps; 0: at the end only
  std::int64_t checkpoint_every = 100;
  KeptCheckpoints kept;
  IterationsPerLoop
      iterations_per_loop;  // between two looks: progress, validation, checkpoint; what is due waits for one
  int threads = 1;
  std::int64_t core_budget_bytes = 0;
  std::int64_t host_budget_bytes = 0;  // of this process; 0: what it holds and the machine has free
  std::optional<PlanRequest>
      plan;                     // {partition} auto: `spec` is cut for the largest input of the run; empty: as it says
  bool resume = false;          // go on from the newest checkpoint that is whole
  bool options_of_run = false;  // they are those of the run that is resumed, but for what the user said against it
  GivenOptions given;           // as run.json shall keep them, what was chosen included; "" names the data
  nlohmann::ordered_json layers = nlohmann::ordered_json::object();  // which layer said each of them
  std::vector<Choice> chosen;                                        // those of them that nobody said, for run.json
  nlohmann::ordered_json also =
      nlohmann::ordered_json::object();  // settings beside these that decide the trajectory, and are not the default
  bool accept_changes = false;           // go on though the data are not what they were
  bool restart = false;                  // throw an earlier run in this folder away
  TraceOptions trace;                    // of the first steps of this call
  FeedMode feed = FeedMode::kBoxes;
  std::shared_ptr<const Device> device;  // that the user named, for what to warn of; may be null
  Transport* transport = nullptr;        // to the other ranks; null: all cores are in this process
};

struct TrainReport {
  std::int64_t steps = 0, parameters = 0;
  double loss = 0;  // of the last step
  std::int64_t train_cases = 0, validation_cases = 0;
  std::int64_t left_out = 0;             // entries of the data that could not be used; RUN/quarantine.csv lists them
  std::string metric;                    // "dice", "ap50"
  bool chosen_on_test = false;           // the test part validated: what is best was chosen on it
  std::optional<Validation> validation;  // the last one
  double best_score = -1;
  std::int64_t loops = 0;  // looks of the host, of this call
  FeedReport feed;         // of the steps of this call
  double seconds = 0;
  ProcessReport memory;
  nlohmann::ordered_json
      ranks;  // of several, on rank 0: memory and feed of each (gather_reports); those above are rank 0's
  bool interrupted = false;  // also within the last validation
  Unseen unseen;             // what the trained model can be tried on
  nlohmann::ordered_json to_json() const;
};

/// A resumed run must have the model, the options and the data of its checkpoint; its steps may be more, and it may be
/// cut otherwise and over other ranks. Over several ranks all call it alike; rank 0 writes, and its report is that of
/// the run. Errors: kInput, kNoCase, kConfig, kBudget (before anything is allocated), kCheckpoint (resume of another
/// run, of other data, or no checkpoint is whole; resumed or not, a run that did steps and of which none is left,
/// unless restart is given), kUsage (the folder holds a run and neither resume nor restart is given, or both are),
/// kDiverged, kOutput.
TrainReport run_train(TrainOptions options, Progress& progress, const TaskTable& tasks = task_table());

struct TrainSettings;
/// The same as its settings say it: what nobody said is taken from the run that goes on, from what the model is usually
/// trained with, and from the recipe once the data are known. What was chosen goes to the log. `settings` then hold
/// what the run was made with. Errors: also those of settings.
///   threads, transport  as in TrainOptions
TrainReport run_train(TrainSettings& settings, int threads, Transport* transport, Progress& progress,
                      const TaskTable& tasks = task_table());

}  // namespace voxshard
