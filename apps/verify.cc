// voxshard verify: the partitioned model against the uncut one.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/next_words.h"
#include "apps/plan_args.h"
#include "pipelines/commands/run_verify.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  std::string size = "48x40x56";
  std::int64_t batch = 1;
  std::uint64_t seed = 0;
};

std::string report_text(const EquivalenceReport& r) {
  std::string text = std::to_string(r.layers) + " layer results: " + std::to_string(r.bit_equal) + " equal to the bit, " +
                     std::to_string(r.within_tolerance) + " sums within tolerance\n" + std::to_string(r.tensors) +
                     " tensors end to end (loss, gradients, weights after a step of SGD): largest difference " +
                     std::to_string(r.end_to_end_ratio) + " of what is allowed\n";
  if (r.equal()) return text + "equal\n";
  return text + "DIFFERENT, first at " + r.first_difference->layer + " (" + r.first_difference->what + "): " +
         std::to_string(r.first_difference->difference) + ", allowed " + std::to_string(r.first_difference->tolerance) + "\n";
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_options(app, o->model, false);
  add_plan_options(app, o->plan, o->model);
  app.add_option("--size", o->size, "Spatial size, D x H x W (or H x W)")->capture_default_str();
  app.add_option(kBatchNames, o->batch, "Samples")->capture_default_str();
  app.add_option("--seed", o->seed, "Seed of weights and inputs")->capture_default_str();
  return [o](const Context& context) {
    VerifyOptions options{.spec = model_spec(o->model, o->batch), .seed = o->seed, .threads = context.threads};
    options.extents = extents_from_text(o->size, options.spec.spatial_axes(), o->batch);
    options.spec = planned_spec(o->plan, o->model, options.spec, options.extents, {}, context);
    const EquivalenceReport report = run_verify(options);
    return Outcome{.json = to_json(report), .text = report_text(report), .exit_code = report.equal() ? kExitOk : kExitMismatch,
                   .next = next_words(context.words, {.name = {"bench", "step"}, .options = {"--seed"}})};
  };
}

}  // namespace

Command verify_command() {
  return {"verify", "Shows that a partitioned model computes what the uncut one does, layer by layer and end to end.",
          "voxshard verify --model unet3d --size 48x40x56 --base-filters 8 --partition 1x2x2x2x1 --json", add};
}

}  // namespace voxshard
