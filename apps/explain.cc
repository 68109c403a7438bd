// voxshard explain: the stages from model to run, as text.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/words/next_words.h"
#include "apps/plan_args.h"
#include "apps/resume_args.h"
#include "apps/task_args.h"
#include "apps/terminal/flags.h"
#include "pipelines/commands/run_draw.h"
#include "pipelines/commands/run_explain.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  std::string size = "48x40x56", stage = "program";
  std::int64_t batch = 1;
  std::string draw, sample, level;
};

Outcome drawn(const DrawOptions& options) {
  const DrawReport report = run_draw(options);
  return {.json = report.json, .text = with_flags(report.text)};
}

/// The device that was named; the planner's default is not the one of the passes.
std::string tpu_name(const PlanArgs& plan) {
  if (plan.asked_device.empty()) return "tpu-v3";
  return plan.device.empty() ? "host" : plan.device;
}

/// "config": what becomes of each key of --config, whose options were taken by then, also by train; then the model and its cut.
Outcome stage_outcome(const ModelSpec& spec, const Shape& extents, const std::string& stage, const std::string& tpu, const Context& context) {
  nlohmann::ordered_json json = {{"stage", stage}};
  std::string text;
  if (stage == "config" && !context.config.empty()) {
    json["keys"] = to_json(context.config);
    text = with_flags(to_text(context.config)) + "\n";
  }
  text += run_explain(spec, extents, stage, tpu);
  json["text"] = text;
  return {.json = json, .text = text, .next = next_words(context.words, {.name = {"verify"}, .options = {"--stage"}})};
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_options(app, o->model, false);
  add_plan_options(app, o->plan, o->model);
  CLI::Option* stage = app.add_option("--stage", o->stage, "config (also what becomes of each key of --config), graph, grad, program, memory or passes (what the cut costs on the TPU of --device, else a v3, pass by pass)")->capture_default_str();
  CLI::Option* size = app.add_option("--size", o->size, "Spatial size, D x H x W (or H x W, and then 128x128 unless given); with --sample the sample's own, unless given")->capture_default_str();
  app.add_option(kBatchNames, o->batch, "Samples")->capture_default_str();
  const std::string drawing = "Drawing";
  CLI::Option* draw = app.add_option("--draw", o->draw, "Draw the sample cut into its tiles, with halos, to this PNG instead; of a volume three planes")
                          ->type_name(kPathType)->excludes(stage)->group(drawing);
  app.add_option("--sample", o->sample, "The volume or picture that is drawn, scaled to --size if given; default: a phantom")
      ->type_name(kPathType)->needs(draw)->group(drawing);
  app.add_option("--level", o->level, "What is drawn: the number of a level (0: full resolution), a part of the network like encoder1, or a layer; default: 0")
      ->needs(draw)->group(drawing);
  return [o, size, &app](const Context& context) {
    ModelSpec spec = model_spec(o->model, o->batch);
    std::optional<DrawnSample> sample;
    if (!o->sample.empty()) sample = read_drawn_sample(o->sample, spec.spatial_axes());
    const bool own_size = sample && size->count() == 0;
    if (size->count() == 0 && spec.spatial_axes() == 2) o->size = "128x128";  // the least that a pyramid takes
    const Shape extents = own_size ? extents_of(*sample, spec, o->batch) : sized_extents(app, o->size, spec, o->batch);
    spec = planned_spec(o->plan, o->model, spec, extents, {}, context);
    if (!o->draw.empty())
      return drawn({.spec = spec, .extents = extents, .file = o->draw, .source = o->sample, .sample = std::move(sample), .scaled = !own_size, .level = o->level});
    return stage_outcome(spec, extents, o->stage, tpu_name(o->plan), context);
  };
}

}  // namespace

Command explain_command() {
  return {"explain", "Prints a stage between model and run: the graph, its gradients, the partitioned program, the memory plan.",
          "voxshard explain --stage program --size 48x40x56 --base-filters 8 --partition 1x2x2x2x1", add};
}

}  // namespace voxshard
