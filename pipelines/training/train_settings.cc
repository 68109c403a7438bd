#include "pipelines/training/train_settings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "libcore/base/text.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/settings/model_sizes.h"
#include "pipelines/settings/original_keys.h"
#include "pipelines/tpu/tpu_config.h"
#include "pipelines/training/fine_tuning.h"
#include "pipelines/training/run_facts.h"
#include "pipelines/training/train_ranks.h"
#include "pipelines/training/training_rows.h"

namespace voxshard {
namespace {

/// True for what {time} chooses of a U-Net on volumes beside its size.
bool is_of_volumes(const Model& model, const std::string& option) {
  return option == "crop" && model.data == kVoxelLabels && model.spatial_axes == 3;
}

/// Returns the first field of a TPUConfig that is said. train_batch_size does not count: the batch of a step means the
/// same under any name.
std::optional<std::string> said_tpu_key(const Settings& settings) {
  for (const std::string& name : tpu_config_keys())
    if (name != "train_batch_size" && settings.is_said(name)) return name;
  return std::nullopt;
}

/// True when something is said that a planned grid chooses, or that comes with a grid.
bool says_grid(const Settings& settings) {
  return said_tpu_key(settings) ||
         std::ranges::any_of(std::array{"partition", "cores", "replicas", "recompute", "thinnest-slab"},
                             [&](const char* name) { return settings.is_said(name); });
}

}  // namespace

TrainSettings::TrainSettings(ModelTable models, const TaskTable& tasks) {
  model.models = std::move(models);
  model.model = model.models.front()->name;
  options.optimizer.schedule = ScheduleKind::kPolynomial;
  settings.add(model_rows(model, true));
  settings.add(plan_rows(plan, model));
  settings.add(training_rows(options));
  add_task_rows(settings, TaskCommand::kTrain, options.task, tasks);
  settings.add(trace_rows(trace));
  settings.add({{"preset",
                 "Of what is not given. auto: what is marked so is chosen for data, batch, steps and processor, and "
                 "said; reference: as the original, as "
                 "always with a TPUConfig",
                 "Training",
                 &preset,
                 {},
                 {"auto", "reference"}}});
  settings.show_as_chosen(recipe_options());
}

std::vector<Choice> TrainSettings::say_model_of_start(Transport& transport) {
  if (options.from.empty() || options.resume) return {};
  const ModelSpec theirs = broadcast_spec(transport, [&] { return load_trained_run({.run = options.from}).spec; });
  if (settings.is_said("model") && model.model != theirs.model_name()) return {};
  std::vector<Choice> choices = choices_of_model(theirs, options.from);
  std::erase_if(choices, [&](const Choice& c) { return !settings.say(Layer::kRun, c); });
  return choices;
}

std::vector<Choice> TrainSettings::say_usual() {
  const auto any_said = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return settings.is_said(name); });
  };
  const ModelSpec spec = model_spec(model, 0);
  std::vector<Choice> usual = usual_training(*spec.model, wanted_replicas(model, spec));
  const bool timed = options.time_s > 0 || std::ranges::count(options.chosen, "steps", &Choice::option) > 0;
  const bool scheduled = any_said({"schedule", "lr-decay-steps", "lr-steps", "lr-step-factor"});
  const bool falls_to_end = timed && !scheduled && !any_said({"lr-decay-rate", "lr-decay-epochs"});
  for (Choice& c : usual)
    if (falls_to_end && c.option == "schedule")
      c = {"schedule", std::string("polynomial"), "the rate falls until the time ends"};
  std::erase_if(usual, [&](const Choice& c) {
    if (c.option == "epochs") return settings.is_said("steps") || timed;
    if (c.option == "learning-rate") return options.optimizer.kind != OptimizerKind::kAdam;
    if (c.option.starts_with("lr-decay"))
      return scheduled || falls_to_end;  // by passes, which do not end with the time
    return scheduled && c.option != "batch";
  });
  std::erase_if(usual, [&](const Choice& c) { return !settings.say(Layer::kModel, c); });
  return usual;
}

bool TrainSettings::chooses(std::string* why) const {
  if (preset == "reference") return false;
  if (settings.is_said("preset")) return true;
  const std::optional<std::string> key = said_tpu_key(settings);
  if (key && why != nullptr) *why = *key;
  return !key;
}

bool TrainSettings::leaves_to_time(const std::string& option) const {
  const Model& of = *model_named(model.models, model.model);
  const auto said = [&](const auto& field) { return settings.is_said(field.first); };
  if (options.time_s <= 0 || settings.is_said(option)) return false;
  if (option == "partition") return model.core_budget_bytes > 0 && !says_grid(settings);
  if (!options.from.empty()) return false;
  const ModelSizes& sizes = sizes_of(of);
  return is_of_volumes(of, option) || (sizes.sets(option) && std::ranges::none_of(sizes.sizes.front().options, said));
}

void TrainSettings::settle() {
  TrainOptions& o = options;
  require_in_range(training_rows(o));  // also for values of a recipe or a resumed run
  const bool counts = o.epochs == 0 || epochs_are_counted;
  const bool derived = settings.is_said("lr-steps") && settings.layer("lr-steps") == Layer::kDefault;  // by other steps
  if (o.optimizer.schedule == ScheduleKind::kSteps && counts && (o.optimizer.decay_at.empty() || derived))
    settings.say(Layer::kDefault, "lr-steps",
                 {std::to_string(o.steps * 2 / 3), std::to_string(o.steps * 8 / 9)});  // as 15,000 and 20,000 of the
                                                                                       // original's 22,500
  o.given = settings.given();
  o.given[""] = {std::filesystem::absolute(o.work).lexically_normal().string()};
  o.layers = settings.layers();
  o.also = nlohmann::ordered_json::object();
  TrainOptions untouched;
  const std::vector<Setting> own = training_rows(untouched);
  for (const Settings::Entry& entry : settings.entries())
    if (entry.row().decides && std::ranges::count(own, entry.name(), &Setting::name) == 0 &&
        value_of(entry.row()) != entry.first)
      o.also[field_of(entry.row())] = json_of(*value_of(entry.row()));
  o.spec = model_spec(model, o.batch);
}

std::vector<Choice> TrainSettings::say_recipe(const TrainingTask& task, const RunContext& context) {
  Progress& progress = context.progress();
  const Settings::Entry& said = *settings.find("precision");
  const bool precision = !said.is_said();
  if (const std::string unseen = precision ? unseen_host() : "";
      !unseen.empty() && !std::exchange(unseen_host_is_said, true))
    progress.log(unseen);
  const Settings::Entry* whole = settings.find("whole-steps");
  const OpenChoices open{.precision = precision,
                         .whole_steps = whole != nullptr && (!whole->is_said() || whole->layer == Layer::kRecipe),
                         .average = !settings.is_said("ema") || settings.layer("ema") == Layer::kRecipe};
  std::vector<Choice> chosen = broadcast_choices(context.transport(), [&] {
    const RecipeFacts facts = recipe_facts(options, task, open, context);
    refused.clear();
    if (!facts.whole_fits)
      refused.emplace_back(
          "not chosen: {whole-steps} (a step on a whole volume is over the memory, so that norms see crops alone)");
    if (!facts.average_fits) refused.emplace_back("not chosen: {ema} (an average of the weights is over the memory)");
    return recipe(facts);
  });
  if (!precision && said.layer == Layer::kRecipe)  // it was chosen, and steps in it were measured
    chosen.push_back({"precision", said.words.front(), said.reason});
  std::erase_if(chosen, [&](const Choice& c) { return !settings.say(Layer::kRecipe, c); });
  for (const std::string& option : recipe_options())  // chosen for other steps, without a rule for these
    if (settings.layer(option) == Layer::kRecipe && std::ranges::count(chosen, option, &Choice::option) == 0)
      settings.withdraw(option);
  options.chosen = chosen;
  return chosen;
}

std::vector<SettingLine> setting_lines(const TrainSettings& train, const TaskTable& tasks) {
  const ModelSpec usual = usual_spec(model_named(train.model.models, train.model.model));
  const std::string task = task_of(tasks, usual).name();
  const bool chooses = train.chooses();
  const std::vector<std::string> of_recipe = recipe_options(usual.model->data);
  std::vector<SettingLine> lines;
  for (const Settings::Entry& entry : train.settings.entries()) {
    const Setting& row = entry.row();
    if (row.of_one_call || is_of_another_model(train.model, row.name)) continue;
    if (!entry.tasks.empty() && std::ranges::count(entry.tasks, task) == 0) continue;
    const bool open =
        chooses && !entry.is_said() && (std::ranges::count(of_recipe, row.name) > 0 || train.leaves_to_time(row.name));
    const auto value = value_of(row);
    std::string text = value ? value_text(*value) : joined(entry.words, ",");
    if (text.empty()) text = "not set";
    lines.push_back({row.name, open ? "auto" : text, layer_name(open ? Layer::kRecipe : entry.layer),
                     open ? "chosen once the data are known, where it has a rule for them" : entry.reason});
  }
  return lines;
}

nlohmann::ordered_json to_json(const std::vector<SettingLine>& lines) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const SettingLine& line : lines) {
    json.push_back({{"name", line.name}, {"value", line.value}, {"layer", line.layer}});
    if (!line.reason.empty()) json.back()["reason"] = line.reason;
  }
  return json;
}

std::string to_text(const std::vector<SettingLine>& lines) {
  std::size_t names = 0;
  for (const SettingLine& line : lines) names = std::max(names, line.name.size());
  std::string text;
  for (const SettingLine& line : lines) {
    const std::string padding(names - line.name.size(), ' ');
    text += line.name + padding + " = " + line.value + "  (" + line.layer +
            (line.reason.empty() ? "" : ": " + line.reason) + ")\n";
  }
  return text;
}

}  // namespace voxshard
