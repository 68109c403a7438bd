// voxshard explain: the stages from model to run, as text.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/next_words.h"
#include "apps/plan_args.h"
#include "pipelines/commands/run_explain.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  std::string size = "48x40x56", stage = "program";
  std::int64_t batch = 1;
};

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_options(app, o->model, false);
  add_plan_options(app, o->plan, o->model);
  app.add_option("--stage", o->stage, "config, graph, grad, program or memory")->capture_default_str();
  app.add_option("--size", o->size, "Spatial size, D x H x W (or H x W)")->capture_default_str();
  app.add_option(kBatchNames, o->batch, "Samples")->capture_default_str();
  return [o](const Context& context) {
    ModelSpec spec = model_spec(o->model, o->batch);
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
