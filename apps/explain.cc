// voxshard explain: the stages from model to run, as text.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/next_words.h"
#include "apps/plan_args.h"
#include "apps/terminal/flags.h"
#include "pipelines/commands/run_explain.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  std::string size = "48x40x56", stage = "program";
  std::int64_t batch = 1;
};

/// The keys of --config, whose options were taken by then, also by train.
Outcome config_outcome(const Context& context) {
  if (context.config.empty()) throw Error(ErrorKind::kUsage, "[usage] --stage config shows the keys of a file; name it with --config");
  return {.json = {{"stage", "config"}, {"keys", to_json(context.config)}}, .text = with_flags(to_text(context.config))};
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_options(app, o->model, false);
  add_plan_options(app, o->plan, o->model);
  app.add_option("--stage", o->stage, "graph, grad, program or memory; config: what becomes of each key of --config")->capture_default_str();
  app.add_option("--size", o->size, "Spatial size, D x H x W (or H x W)")->capture_default_str();
  app.add_option(kBatchNames, o->batch, "Samples")->capture_default_str();
  return [o](const Context& context) {
    ModelSpec spec = model_spec(o->model, o->batch);
    if (o->stage == "config") return config_outcome(context);
    const Shape extents = extents_from_text(o->size, spec.spatial_axes(), o->batch);
    spec = planned_spec(o->plan, o->model, spec, extents, {}, context);
    const std::string text = run_explain(spec, extents, o->stage);
    return Outcome{.json = {{"stage", o->stage}, {"text", text}}, .text = text, .next = next_words(context.words, {.name = {"verify"}, .options = {"--stage"}})};
  };
}

}  // namespace

Command explain_command() {
  return {"explain", "Prints a stage between model and run: the graph, its gradients, the partitioned program, the memory plan.",
          "voxshard explain --stage program --size 48x40x56 --base-filters 8 --partition 1x2x2x2x1", add};
}

}  // namespace voxshard
