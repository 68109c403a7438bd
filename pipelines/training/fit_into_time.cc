#include "pipelines/training/fit_into_time.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/text.h"
#include "pipelines/settings/model_sizes.h"
#include "pipelines/training/time_budget.h"
#include "pipelines/training/train_memory.h"
#include "pipelines/training/training_run.h"

namespace voxshard {
namespace {

const std::string kUsualCrop = "64x64x64";  // the default of {crop} of volumes

/// Returns "0.25 s".
std::string milliseconds_text(double seconds) { return number_text(std::round(seconds * 1000) / 1000) + " s"; }

/// Returns the voxels of a sample in the mean.
double sample_points(const TrainingTask& task) {
  return task.mean_points().value_or(static_cast<double>(element_count(task.largest_extents(1))));
}

/// Returns the times of a run whose step takes `step_s` on rank 0, by the clock of rank 0. A validation is a forward
/// pass, about a third of a step's work per voxel or pixel.
MeasuredTimes times_of_step(const TimedTraining& t, const TrainingTask& task, double step_s) {
  const TrainOptions& o = t.settings.options;
  std::int64_t points = 0;
  for (const Shape& extents : task.validation_extents(o.spec)) points += element_count(extents);
  const double steps = static_cast<double>(points) / (sample_points(task) * static_cast<double>(o.batch)),
               weights = o.optimizer.ema > 0 ? 2 : 1;  // the last and the averaged ones are validated
  const auto of_rank_0 = t.context.broadcast([&] {
    return nlohmann::ordered_json::array({o.time_s - t.begun.seconds(), step_s});
  });
  MeasuredTimes times{.time_s = of_rank_0.at(0).get<double>(),
                      .step_s = of_rank_0.at(1).get<double>(),
                      .validate_every = o.validate_every};
  times.validation_s = times.step_s / 3 * steps * weights;
  return times;
}

/// Measures steps with the settings as they are now.
MeasuredTimes measure_steps(const TimedTraining& t, std::unique_ptr<TrainingTask>& task, ProcessPlan& plan) {
  constexpr double kMeasuredShare = 0.02;  // of the time
  constexpr double kMostMeasured_s = 30;   // several models are measured
  TrainOptions& o = t.settings.options;
  TrainingRun::Measured measured = TrainingRun(o, t.records, t.folder, std::move(task), t.context)
                                       .measure(std::min(kMeasuredShare * o.time_s, kMostMeasured_s));
  task = std::move(measured.task);
  plan = widest(plan, measured.plan);
  return times_of_step(t, *task, measured.step_s);
}

/// Sets fields of the model as chosen, and what follows from them; the precision is chosen anew.
void set_fields(const TimedTraining& t, const std::vector<Choice>& fields) {
  Settings& settings = t.settings.settings;
  for (const Choice& field : fields) settings.say(Layer::kRecipe, field);
  if (settings.layer("precision") == Layer::kRecipe) settings.withdraw("precision");  // chosen for others
  t.settle();
}

/// Returns the fields of a size; the first one has the reason why this size was taken.
std::vector<Choice> fields_of(const ModelSize& size, const std::string& reason) {
  std::vector<Choice> fields;
  for (const auto& [option, value] : size.options)
    fields.push_back({option, std::visit([](const auto& v) { return SettingValue(v); }, value),
                      fields.empty() ? reason : "goes with {" + fields[0].option + "} " + fields[0].shown()});
  return fields;
}

/// True when the training fits the memory of every rank.
bool fits_everywhere(const TimedTraining& t, const TrainingTask& task) {
  return t.context.transport().all_reduce_min(
             fits_memory(t.settings.options, task, task.largest_extents(t.settings.options.batch), t.context) ? 1
                                                                                                              : 0) == 1;
}

/// Leaves the grid to a plan, which each of the sizes that are tried then gets of its own.
std::vector<Choice> choose_grid(const TimedTraining& t) {
  std::vector<Choice> choices = {
      {"partition", std::string("auto"), "a step is cut over the fewest cores on which it fits {memory}"}};
  if (!t.settings.settings.is_said("prefer"))
    choices.push_back({"prefer", std::string("fewest"), "goes with {partition} auto"});
  for (const Choice& choice : choices) t.settings.settings.say(Layer::kRecipe, choice);
  t.settle();
  t.settings.options.plan = plan_request(t.settings.plan, t.settings.model);
  return choices;
}

/// Chooses whole volumes where they have in the mean hardly more voxels than crops, and fit the memory with the
/// smallest model; none: crops.
std::optional<Choice> choose_whole(const TimedTraining& t, const TrainingTask& task) {
  constexpr double kMostCrops = 1.25;
  t.settle();
  const std::optional<SampleSizes> sizes = task.sample_sizes(t.settings.options.batch);
  if (!sizes || sizes->whole_points > kMostCrops * sizes->crop_points) return std::nullopt;
  std::vector<Choice> smallest;
  if (t.settings.leaves_to_time("base-filters"))
    smallest = fields_of(sizes_of(*t.settings.options.spec.model).sizes.back(), "");
  set_fields(t, smallest);
  set_fields(t, {{"crop", std::string("whole"), ""}});
  const bool fits = fits_everywhere(t, task);
  for (const Choice& field : smallest) t.settings.settings.withdraw(field.option);  // the size is chosen next
  if (!fits) {
    t.context.progress().log("not chosen: {crop} whole (a step on a whole volume is over the memory)");
    set_fields(t, {{"crop", kUsualCrop, ""}});
    return std::nullopt;
  }
  return Choice{"crop", std::string("whole"),
                "a volume has " + fixed_text(sizes->whole_points / sizes->crop_points, 2) +
                    " times the voxels of a crop of " + kUsualCrop +
                    " in the mean, and norms see in training what they see in predictions"};
}

/// Chooses the size of the model, sets it, and returns its fields and the times of a run with it.
std::pair<std::vector<Choice>, MeasuredTimes> choose_size(const TimedTraining& t, std::unique_ptr<TrainingTask>& task,
                                                          ProcessPlan& plan) {
  const TrainOptions& o = t.settings.options;
  const ModelSizes& sizes = sizes_of(*o.spec.model);
  std::size_t tried = 0;
  SizeTrials trials{
      .sizes = {},
      .predicted =
          [&](std::size_t size) {
            const Shape extents = task->largest_extents(o.batch);
            const double filled =
                sample_points(*task) * static_cast<double>(o.batch) / static_cast<double>(element_count(extents));
            const int threads = t.context.threads() * t.context.transport().ranks();
            return times_of_step(t, *task, filled * step_seconds(o.spec, sizes.sizes[size], extents, threads));
          },
      .set = [&](std::size_t size) { set_fields(t, fields_of(sizes.sizes[tried = size], "")); },
      .fits = [&] { return fits_everywhere(t, *task); },
      .measured =
          [&] {
            t.context.progress().log("measuring how long a step takes: " + sizes.sizes[tried].text);
            return measure_steps(t, task, plan);
          }};
  for (const ModelSize& size : sizes.sizes) trials.sizes.push_back({size.text, size.wanted_steps});
  const SizeInTime found = size_in_time(trials);
  return {fields_of(sizes.sizes[found.size], found.reason), found.times};
}

/// Returns the steps that fit where a number of them, which was given, is on larger samples than the others: how long a
/// step is in the mean then depends on how many there are.
///   times  by the mean of the samples as the task is settled
std::int64_t settled_steps(const TimedTraining& t, TrainingTask& task, const MeasuredTimes& times) {
  constexpr int kMostTurns = 20;
  TrainOptions& o = t.settings.options;
  const double measured = sample_points(task);
  std::int64_t steps = steps_in_time(times);
  for (int turn = 0; turn < kMostTurns; ++turn) {
    task.settle(o.spec, o.task, {.steps = steps, .batch = o.batch});
    MeasuredTimes mean = times;
    mean.step_s *= sample_points(task) / measured;
    const std::int64_t fewer_or_more = (steps + steps_in_time(mean) + 1) / 2;
    if (fewer_or_more == steps) break;
    steps = fewer_or_more;
  }
  return steps;
}

}  // namespace

FittedIntoTime fit_into_time(const TimedTraining& t, std::unique_ptr<TrainingTask>& task) {
  FittedIntoTime fitted;
  MeasuredTimes times;
  if (t.to_recipe && t.settings.leaves_to_time("partition")) fitted.choices = choose_grid(t);
  if (t.to_recipe && t.settings.leaves_to_time("crop"))
    if (std::optional<Choice> whole = choose_whole(t, *task)) fitted.choices.push_back(std::move(*whole));
  if (t.to_recipe && t.settings.leaves_to_time("base-filters")) {
    const auto size = choose_size(t, task, fitted.plan);
    fitted.choices.insert(fitted.choices.end(), size.first.begin(), size.first.end());
    times = size.second;
  } else {
    t.settle();
    times = measure_steps(t, task, fitted.plan);
  }
  if (const std::string overrun = overrun_text(times); !overrun.empty()) t.context.progress().warn(overrun);
  // The recipe takes the same share of any number of steps.
  const bool given =
      t.settings.settings.is_said("whole-steps") && t.settings.settings.layer("whole-steps") != Layer::kRecipe;
  fitted.choices.push_back({"steps", given ? settled_steps(t, *task, times) : steps_in_time(times),
                            "a step takes " + milliseconds_text(times.step_s) + " here, a validation about " +
                                milliseconds_text(times.validation_s) + ", and {time} is " +
                                duration_text(t.settings.options.time_s)});
  for (const Choice& choice : fitted.choices) t.settings.settings.say(Layer::kRecipe, choice);
  return fitted;
}

}  // namespace voxshard
