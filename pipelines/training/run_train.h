// `voxshard train`: trains on the data of a task and writes a run folder, with validation, a best checkpoint, and
// checkpoints from which a killed run is resumed with the same bits. Progress, validation and checkpoints come at the
// ends of loops (iterations_per_loop); a stop request takes effect within a step and saves the last complete one.
//
//   RUN/ run.json  config.json  plans.json  results.csv  validations.csv  report.html  splits_final.json
//        checkpoints/{last,best,step-000400}.safetensors + .json  held_out/ (held_out.h)
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libcore/train/optimizer.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/planning/plan_settings.h"
#include "pipelines/profile/trace_json.h"
#include "pipelines/settings/recipe.h"
#include "pipelines/tasks/sample_feed.h"
#include "pipelines/tasks/table/task_table.h"
#include "pipelines/tpu/tpu_config_loop.h"

namespace voxshard {

/// Says whether a run predicts, at its end, the cases that it held out.
enum class HeldOutMode : std::uint8_t { kAuto, kOn, kOff };
inline constexpr const char* kHeldOutModes[] = {"auto", "on", "off"};

struct TrainOptions {
  std::filesystem::path work, run;  // work: the data, in the format of the task
  ModelSpec spec;                   // channels and classes are taken from the data
  OptimizerOptions optimizer;
  std::uint64_t seed = 0;  // of weights, samples and augmentation
  TaskOptions task;        // for the model's task: samples, validation
  std::int64_t steps = 1000;
  double time_s = 0;                 // the time that the steps may take, instead of `steps`; 0: not given
  std::int64_t epochs = 0;           // passes over the training cases, instead of `steps`; 0: not given
  std::int64_t lr_decay_epochs = 0;  // passes after which the exponential rate falls, in stairs; 0: by decay_steps
  std::int64_t batch = 1;
  std::int64_t validate_every = 0;  // in steps; 0: at the end only
  std::int64_t checkpoint_every = 100;
  double checkpoint_minutes = 10;  // and as soon as a loop ends so long after the last one; 0: by steps alone
  KeptCheckpoints kept;
  std::int64_t slices = kMostSlicedCases;     // validated cases of which the run keeps slices for its page; 0: none
  HeldOutMode held_out = HeldOutMode::kAuto;  // auto: where a fold is named (held_out.h)
  // steps between progress, validation and checkpoints, which wait for the end of a loop
  IterationsPerLoop iterations_per_loop;
  RunResources resources;  // the budgets of the settings among them
  std::optional<PlanRequest>
      plan;             // {partition} auto: a cut is planned for the largest input of the run; empty: the cut of `spec`
  bool resume = false;  // resume from the newest complete checkpoint
  bool options_of_run = false;  // the options are those of the resumed run, except those that the user gave
  GivenOptions given;           // the options to keep in run.json, including chosen ones; "" names the data
  nlohmann::ordered_json layers = nlohmann::ordered_json::object();  // the layer that set each of them
  std::vector<Choice> chosen;  // those of them that were chosen automatically, for run.json
  // further settings that determine the trajectory and are not the default
  nlohmann::ordered_json also = nlohmann::ordered_json::object();
  // run folder or checkpoint file whose weights a new run begins with (fine_tuning.h); empty: none
  std::filesystem::path from;
  std::string from_hash;        // of that checkpoint when a resumed run began; empty: not known
  bool accept_changes = false;  // resume even if the data changed
  bool restart = false;         // remove an earlier run in this folder
  TraceOptions trace;           // of the first steps of this call
  FeedMode feed = FeedMode::kBoxes;
  std::shared_ptr<const Device> device;  // named by the user, for warnings; may be null
};

/// Returns a request for a grid within what {host-memory} leaves beside the bytes that the process holds.
inline PlanRequest beside_held(PlanRequest request, const RunContext& context) {
  request.host_budget_bytes = left_of(request.host_budget_bytes, context.base_bytes());
  return request;
}

/// What a run predicted of what it held out (held_out.h).
struct HeldOutReport {
  std::filesystem::path output = {};      // the folder, or the file of the task
  std::filesystem::path checkpoint = {};  // that predicted
  std::int64_t predicted = 0, kept = 0, not_reached = 0;
  std::vector<CaseFailure> failures = {};
  bool interrupted = false;
  double seconds = 0;
  std::string problem = {};            // why nothing was predicted; empty: something was
  std::vector<std::string> next = {};  // the command that evaluates the predictions, as in TaskReport
  ProcessPlan memory = {};
};
nlohmann::ordered_json to_json(const HeldOutReport& report);
/// "held out: 3 predicted, 1 left out in run/held_out\n".
std::string to_text(const HeldOutReport& report);

/// What was prepared before the training (prepare_first.h).
struct PreparedFirst {
  std::filesystem::path folder;
  std::int64_t prepared = 0, kept = 0, left_out = 0;  // cases; kept: prepared by an earlier call
};
nlohmann::ordered_json to_json(const PreparedFirst& prepared);
/// "prepared: 6 cases, 0 kept of an earlier call, in data_prepared\n".
std::string to_text(const PreparedFirst& prepared);

struct TrainReport {
  std::int64_t steps = 0, parameters = 0;
  double loss = 0;  // of the last step
  std::int64_t train_cases = 0, validation_cases = 0;
  std::int64_t left_out = 0;             // entries of the data that could not be used; RUN/quarantine.csv lists them
  std::string metric;                    // "dice", "ap50"
  bool chosen_on_test = false;           // validation used the test part, so the best checkpoint was chosen on it
  std::optional<Validation> validation;  // the last one
  std::optional<Validation> averaged;    // the same of the averaged weights, where the run keeps an average
  bool averaged_is_better = false;       // or as good: of the two validations the one that decides
  double best_score = -1;
  std::vector<std::string> missed = {};  // classes that the better weights missed, in words (missed_classes.h); rank 0
  nlohmann::ordered_json drawn_on;       // samples of the run by the class that they were drawn on; may be null
  std::string best_weights;  // kLastWeights or kAveragedWeights, of which it is the score; empty: no average is kept
  std::int64_t loops = 0;    // loops (iterations_per_loop) of this call
  FeedReport feed;           // of the steps of this call
  double seconds = 0;        // of this call, in all
  double validation_s = 0;   // of it the validations
  double checkpoint_s = 0;   // of it the checkpoints of the last weights
  ProcessReport memory;
  // with several ranks, on rank 0: memory and feed of each (gather_reports); those above are rank 0's
  nlohmann::ordered_json ranks;
  bool interrupted = false;                    // by a stop request, also within the last validation
  Unseen unseen;                               // data on which the trained model can be tried
  std::optional<PreparedFirst> prepared = {};  // none: the data were prepared
  std::optional<HeldOutReport> held_out = {};  // none: nothing of it was to be predicted
  nlohmann::ordered_json to_json() const;
};

/// Trains. A resumed run must have the model, the options and the data of its checkpoint; it may have more steps,
/// another cut and another number of ranks. With several ranks all make the same call; rank 0 writes, and its report is
/// that of the run. Errors: kInput, kNoCase, kConfig, kBudget (before anything is allocated), kCheckpoint (resume of
/// another run, of other data, or without a complete checkpoint; resumed or not, a run that did steps but lost its
/// checkpoints, unless restart is given; weights to begin with that are damaged), kUsage (the folder holds a run and
/// neither resume nor restart is given, or both are; a resumed run that did not begin with these weights), kDiverged,
/// kOutput.
TrainReport run_train(TrainOptions options, Progress& progress, const TaskTable& tasks = task_table());

struct TrainSettings;
/// The same from settings: values that were not given are taken from the resumed run, from the usual settings of the
/// model, and from the recipe once the data are known. Chosen values are logged. Afterwards `settings` holds the
/// settings of the run. Errors: also those of settings.
///   resources  threads and transport; the budgets are settings
TrainReport run_train(TrainSettings& settings, const RunResources& resources, Progress& progress,
                      const TaskTable& tasks = task_table());

}  // namespace voxshard
