// voxshard bench: seconds of a training step, or of its convolutions alone.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/model_args.h"
#include "apps/text_table.h"
#include "pipelines/run_bench.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  std::string what = "step", size = "64x64x64";
  std::int64_t batch = 1;
  int steps = 3;
};

std::string report_text(const nlohmann::ordered_json& json) {
  std::string text = "step " + fixed_text(json["step_seconds"]["median"]) + " s (" + fixed_text(json["step_seconds"]["min"]) +
                     " to " + fixed_text(json["step_seconds"]["max"]) + "), " + fixed_text(json["gflops_per_second"], 1) +
                     " GFLOP/s, peak " + bytes_text(json["peak_resident_bytes"]) + " resident\n";
  std::vector<std::vector<std::string>> rows = {{"op", "worker seconds"}};
  for (const auto& [op, seconds] : json["by_op"].items()) rows.push_back({op, fixed_text(seconds)});
  return text + text_table(rows);
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("what", o->what, "step: whole training steps; kernels: each convolution alone")
      ->check(CLI::IsMember({"step", "kernels"}))->capture_default_str();
  add_model_options(app, o->model, false);
  app.add_option("--size", o->size, "Spatial size, D x H x W (or H x W)")->capture_default_str();
  app.add_option("--batch", o->batch, "Samples")->capture_default_str();
  app.add_option("--steps", o->steps, "Timed steps, after one that is not")->check(CLI::Range(1, 1000))->capture_default_str();
  return [o](const Context& context) {
    BenchOptions options{.spec = model_spec(o->model), .steps = o->steps, .threads = context.threads,
                         .core_budget_bytes = core_budget_bytes(o->model)};
    options.extents = extents_from_text(o->size, options.spec.unet.spatial_axes, o->batch);
    const BenchReport report =
        o->what == "step" ? run_bench_step(options, *context.progress) : run_bench_kernels(options, *context.progress);
    if (options.spec.precision == DType::kBF16 && !report.native_bf16)
      context.progress->log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
    const auto json = to_json(report);
    return Outcome{.json = json, .text = report_text(json)};
  };
}

}  // namespace

Command bench_command() {
  return {"bench", "Measures training steps on random data and says where the time goes.",
          "voxshard bench step --model unet3d --base-filters 32 --size 64x64x64 --partition 1x2x2x2x1 --steps 3 --json", add};
}

}  // namespace voxshard
