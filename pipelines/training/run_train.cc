#include "pipelines/training/run_train.h"

#include <algorithm>
#include <memory>

#include "io/files/file_name.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/fit_into_time.h"
#include "pipelines/training/held_out.h"
#include "pipelines/training/prepare_first.h"
#include "pipelines/training/run_folder.h"
#include "pipelines/training/run_identity.h"
#include "pipelines/training/train_ranks.h"
#include "pipelines/training/train_settings.h"
#include "pipelines/training/training_rows.h"
#include "pipelines/training/training_run.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

GivenOptions read_given(const fs::path& run) {
  const fs::path file = run / "run.json";
  const auto record = read_run_record(run);
  if (!record)
    throw Error(ErrorKind::kInput,
                "[resume] " + run.string() + " holds no run: " + file.string() +
                    " is missing; give the run folder, or all options: train WORK {output} RUN {resume}");
  try {
    return record->at("options").get<GivenOptions>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kCheckpoint, "[resume] " + file.string() +
                                            " has broken options; give them all: train WORK {output} " + run.string() +
                                            " {resume} ...");
  }
}

/// Sets the options kept in RUN/run.json. The data folder is always taken from it; given steps replace kept epochs and
/// vice versa. Errors: kInput when there is no run.json; kCheckpoint when it holds no options, or unknown ones.
void take_settings_of_run(TrainSettings& train) {
  TrainOptions& o = train.options;
  Settings& settings = train.settings;
  const bool steps = settings.is_said("steps"), epochs = settings.is_said("epochs");
  GivenOptions of_run = read_given(o.run);
  if (const auto data = of_run.find(""); data != of_run.end()) {
    if (!data->second.empty()) o.work = data->second.front();
    of_run.erase(data);
  }
  for (const Settings::Entry& entry : settings.entries()) {
    const auto said = of_run.find(entry.name());
    if (said == of_run.end()) continue;
    if (!entry.is_said() && !entry.row().of_one_call) settings.say(Layer::kRun, entry.name(), said->second);
    of_run.erase(said);
  }
  if (!of_run.empty())
    throw Error(ErrorKind::kCheckpoint,
                "[resume] " + (o.run / "run.json").string() + " keeps the option {" + of_run.begin()->first +
                    "}, which this version does not have; give all options: train WORK {output} " + o.run.string() +
                    " {resume} ...");
  o.options_of_run = true;
  if (steps && !epochs) settings.withdraw("epochs");
  if (epochs && !steps) settings.withdraw("steps");
}

/// Returns the settings chosen automatically when the run in this folder began, from RUN/run.json; nullopt when there
/// is no run. Errors: kInput, kCheckpoint when run.json is broken.
std::optional<std::vector<Choice>> choices_of_run(const fs::path& run) {
  const auto record = read_run_record(run);
  if (!record) return std::nullopt;
  return choices_from_json(record->at("recipe"));
}

void check(const TrainOptions& o) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[train] " + text);
  };
  if (o.resume && o.restart)
    throw Error(ErrorKind::kUsage, "[train] {resume} goes on with a run, {restart} throws it away; give one of them");
  if (o.accept_changes && !o.resume)
    throw Error(ErrorKind::kUsage, "[train] {accept-changes} is for a run that goes on; give it with {resume}");
  require(o.batch % o.spec.cut.mesh.replicas == 0, "the batch " + std::to_string(o.batch) +
                                                       " must be divisible by the " +
                                                       std::to_string(o.spec.cut.mesh.replicas) + " replicas");
}

/// Sets the weights that a resumed run began with. Errors: kUsage for others.
void begin_as_before(TrainOptions& o, const RunHistory& history) {
  if (!o.from.empty() && std::filesystem::absolute(o.from).lexically_normal() != history.from)
    throw Error(ErrorKind::kUsage, "[train] {from} begins a run, {resume} goes on with one" +
                                       (history.from.empty() ? "" : ", which began with " + history.from.string()) +
                                       "; give one of them");
  o.from = history.from, o.from_hash = history.from_hash;
  if (!o.from.empty() && !o.given.empty()) o.given["from"] = {o.from.string()};
}

/// The settings that may still be set once the data are known.
struct OpenSettings {
  TrainSettings& settings;
  bool to_recipe;  // false: only epochs are converted to steps
};

void log_choice(const Choice& choice, Progress& progress) {
  progress.log("chosen: {" + choice.option + "} " + choice.shown() + " (" + choice.reason + ")");
}

/// Sets what the data determine; a resumed run keeps what they determined when it began.
void complete(TrainOptions& o, const TrainingTask& task) {
  if (o.resume) keep_fitted(o.spec, o.run);
  task.complete(o.spec);
}

/// Sets what the recipe chooses, derives the options, and returns what was chosen.
std::vector<Choice> settle(OpenSettings& open, const TrainingTask& task, const RunContext& context) {
  open.settings.epochs_are_counted = true;
  std::vector<Choice> chosen;
  if (open.to_recipe) {
    open.settings.settle();  // the recipe depends on the model
    complete(open.settings.options, task);
    chosen = open.settings.say_recipe(task, context);
  }
  open.settings.settle();
  complete(open.settings.options, task);
  return chosen;
}

TrainReport train(TrainOptions& o, std::optional<OpenSettings> open, Progress& progress, const TaskTable& tasks) {
  const Stopwatch begun;
  require_in_range(training_rows(o));
  check(o);
  const Task& kind = task_of(tasks, o.spec);
  require_utf8_name(std::filesystem::absolute(o.work).string());  // run.json keeps it for a resumed run
  require_own_settings(kind, o.task, "train", "the model is a " + o.spec.model_name());
  require_in_range(kind.settings(TaskCommand::kTrain, o.task));
  const RunContext context(progress, o.resources);
  const RunHistory history = o.resume ? history_of(o.run) : RunHistory();
  if (o.resume) begin_as_before(o, history);
  const bool changes = o.accept_changes || history.changed;
  std::unique_ptr<TrainingTask> task = kind.training({.data = o.work,
                                                      .seed = o.seed,
                                                      .threads = context.threads(),
                                                      .memory_bytes = context.left_bytes(),
                                                      .stop = progress.stop_check(),
                                                      .kept = changes ? splits_of_run(o.run) : std::vector<KeptSplit>(),
                                                      .accepts_changes = changes},
                                                     o.task, o.spec);
  complete(o, *task);
  if (context.writes())
    require_output_file(o.trace.file, profile_file(), {.inputs = {o.work}, .own = o.run, .option = "{trace}"});
  RunFolder folder(o, context.transport());
  folder.require_startable();
  count_epochs(o, history.cases > 0 ? history.cases : task->training_cases());
  FittedIntoTime fitted;
  if (open) {
    const auto settle_all = [&] {
      settle(*open, *task, context), task->settle(o.spec, o.task, {.steps = o.steps, .batch = o.batch});
    };
    if (o.time_s > 0)
      fitted =
          fit_into_time({open->settings, open->to_recipe, kind.records(), folder, context, begun, settle_all}, task);
    std::vector<Choice> chosen = settle(*open, *task, context);  // the recipe depends on the steps
    for (std::vector<Choice>* list : {&chosen, &o.chosen})
      list->insert(list->end(), fitted.choices.begin(), fitted.choices.end());
    for (const Choice& choice : chosen) log_choice(choice, progress);
    for (const std::string& text : open->settings.refused) progress.log(text);
  }
  task->settle(o.spec, o.task, {.steps = o.steps, .batch = o.batch});
  for (const std::string& warning : task->warnings()) progress.warn(warning);
  std::optional<HeldOut> held = held_out_of(o, *task, progress);
  TrainReport report =
      TrainingRun(o, kind.records(), folder, std::move(task), context).go(held ? &held->keys : nullptr, fitted.plan);
  if (!held || report.interrupted) return report;
  report.held_out = predict_held_out({o, kind, *held, context});
  report.interrupted = report.held_out->interrupted;
  report.memory = context.memory().report(widest(report.memory.plan, report.held_out->memory), progress);
  return report;
}

/// True when a run is resumed with the settings chosen when it began; sets them. Rank 0 reads its folder.
bool goes_on_as_chosen(TrainSettings& s, Transport& transport) {
  TrainOptions& o = s.options;
  if (!o.resume) return false;
  const auto chosen = broadcast_known_choices(transport, [&] { return choices_of_run(o.run); });
  if (!chosen) return false;
  const auto of_recipe = std::ranges::find_if(*chosen, [](const Choice& choice) { return choice.option != "steps"; });
  if (s.preset == "reference" && of_recipe != chosen->end())
    throw Error(ErrorKind::kConfig, "[resume] the run in " + o.run.string() + " began with chosen settings, {" +
                                        of_recipe->option + "} " + of_recipe->shown() +
                                        " among them; leave {preset} out, or start a run of its own");
  for (const Choice& choice : *chosen) s.settings.say(Layer::kRun, choice);
  o.chosen = *chosen;
  return true;
}

/// True when the recipe chooses the settings that were not given.
bool leaves_to_recipe(TrainSettings& s, Transport& transport, Progress& progress) {
  if (goes_on_as_chosen(s, transport)) return false;
  std::string why;
  const bool chooses = s.chooses(&why);
  if (!why.empty())
    progress.log("chosen: {preset} reference (" + why + " is given: a TPUConfig has the settings of the original)");
  return chooses;
}

/// Sets the options that follow from several settings.
void take_machine_options(TrainSettings& s, bool first, Progress& progress) {
  TrainOptions& o = s.options;
  o.resources.core_budget_bytes = s.model.core_budget_bytes, o.resources.host_budget_bytes = s.plan.host_budget_bytes;
  if (s.model.is_planned()) o.plan = plan_request(s.plan, s.model);
  o.trace = trace_options(s.trace, s.plan.device);
  const TpuConfig config = tpu_config(s.model.tpu, o.batch);
  o.iterations_per_loop = config.iterations_per_loop;
  if (first && !s.plan.asked_device.empty() && !s.plan.device.empty())
    o.device = device_from_name(s.plan.device).device;
  if (config.per_host_input_for_training == InputMode::kPerHostV2 && o.feed == FeedMode::kBoxes)
    progress.log(
        "PER_HOST_V2: here each core reads its own box; {feed} per-host reads whole samples on the host of core 0");
}

}  // namespace

TrainReport run_train(TrainOptions options, Progress& progress, const TaskTable& tasks) {
  return train(options, std::nullopt, progress, tasks);
}

TrainReport run_train(TrainSettings& s, const RunResources& resources, Progress& progress, const TaskTable& tasks) {
  InProcessTransport alone;
  Transport& transport = resources.transport != nullptr ? *resources.transport : alone;
  TrainOptions& o = s.options;
  o.resources = resources;
  if (o.run.empty()) {
    o.run = o.work;
    take_settings_of_run(s);
  }
  for (const Choice& choice : s.say_model_of_start(transport)) log_choice(choice, progress);
  const Task& task = task_of(tasks, usual_spec(model_named(s.model.models, s.model.model)));
  RunResources preparing = resources;
  preparing.host_budget_bytes = s.plan.host_budget_bytes;
  const std::optional<PreparedFirst> prepared = prepare_first(o, task, preparing, progress);
  if (o.time_s > 0 && (s.settings.is_said("steps") || s.settings.is_said("epochs")))
    throw Error(ErrorKind::kUsage, "[usage] {time} chooses {steps}; give one of {time}, {steps} and {epochs}");
  const bool to_recipe = leaves_to_recipe(s, transport, progress);  // a run that goes on keeps its own first
  for (const Choice& choice : s.say_usual()) log_choice(choice, progress);
  s.settle();
  if (transport.rank() == 0) announce(s.plan, s.model, o.spec, o.batch, progress);
  take_machine_options(s, transport.rank() == 0, progress);
  std::optional<OpenSettings> open;
  if (to_recipe || o.epochs > 0 || o.time_s > 0) open.emplace(OpenSettings{s, to_recipe});
  TrainReport report = train(o, open, progress, tasks);
  report.prepared = prepared;
  return report;
}

}  // namespace voxshard
