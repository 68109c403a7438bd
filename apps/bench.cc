// voxshard bench: seconds of a training step, of its convolutions alone, or of reading a video.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/model_command.h"
#include "apps/ranks.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/words/next_words.h"
#include "libcore/base/text.h"
#include "pipelines/bench/bench_video.h"
#include "pipelines/bench/run_bench.h"
#include "pipelines/emulation/tpu_tables_text.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

struct Options : ModelCommand {
  Options() : ModelCommand("64x64x64") {}
  TraceSettings trace;
  std::string what = "step", video, overlap = "on";
  int steps = 3, warmup = 1;
};

/// Returns the traffic between ranks in a step: the total, and a row per rank.
std::string ranks_text(const nlohmann::ordered_json& json) {
  const auto& all = json["traffic"];
  const bool kept = all["messages"] == all["program_messages"] && all["bytes"] == all["program_bytes"];
  std::string text = std::to_string(json["ranks"].size()) + " ranks send " + all["messages"].dump() + " messages of " +
                     bytes_text(all["bytes"]) + " in all a step, " +
                     (kept ? "as the program says" : "the program says " + bytes_text(all["program_bytes"])) + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"rank", "cores", "step s", "worker seconds", "messages", "sent", "waited s", "peak"}};
  for (const auto& rank : json["ranks"])
    rows.push_back({rank["name"], rank["cores"].dump(), fixed_text(rank["step_seconds"]),
                    fixed_text(rank["worker_seconds"]), rank["messages"].dump(), bytes_text(rank["bytes"]),
                    fixed_text(rank["waited_seconds"]), bytes_text(rank["memory"]["peak_resident_bytes"])});
  return text + text_table(rows);
}

std::string report_text(const nlohmann::ordered_json& json) {
  std::string text = "step " + fixed_text(json["step_seconds"]["median"]) + " s (" +
                     fixed_text(json["step_seconds"]["min"]) + " to " + fixed_text(json["step_seconds"]["max"]) +
                     "), " + fixed_text(json["gflops_per_second"], 1) + " GFLOP/s, peak " +
                     bytes_text(json["peak_resident_bytes"]) + " resident\n";
  if (json["predicted_seconds"].is_number())
    text += "predicted for this machine (voxshard doctor): " + fixed_text(json["predicted_seconds"]) + " s\n";
  if (json["emulated_seconds"].is_number())
    text += "by the clock of the emulated device: " + fixed_text(json["emulated_seconds"]) + " s\n";
  std::vector<std::vector<std::string>> rows = {{"op", "worker seconds"}};
  for (const auto& [op, seconds] : json["by_op"].items()) rows.push_back({op, fixed_text(seconds)});
  return text + text_table(rows) + (json.contains("ranks") ? ranks_text(json) : "");
}

/// Returns this machine as a device if it was measured; with an unusable file the benchmark runs without a prediction.
std::shared_ptr<const Device> measured_host(int threads, Progress& progress) {
  try {
    return host_device(threads);
  } catch (const Error& e) {
    progress.log(std::string("no prediction for this machine: ") + e.what());
  }
  return nullptr;
}

Outcome video_outcome(const std::string& path, int threads) {
  if (path.empty()) throw Error(ErrorKind::kUsage, "[bench] no video was named; write voxshard bench video FILE");
  const VideoBench bench = bench_video(path, threads);
  return {.json = to_json(bench),
          .text = std::to_string(bench.frames) + " frames in " + fixed_text(bench.seconds) + " s, " +
                  fixed_text(static_cast<double>(bench.frames) / bench.seconds, 1) + " frames per second, peak " +
                  bytes_text(bench.peak_resident_bytes) + " resident\n",
          .next = {"info", path}};
}

/// Suggests measuring this machine, or planning the grid with its measured rates.
std::vector<std::string> next_command(const std::vector<std::string>& words, const Options& o, bool measured) {
  if (!measured) return {"doctor"};
  std::set<std::string> options = {"--steps", "--warmup", "--trace", "--trace-steps", "--device", "--overlap"};
  options.insert(kCutOptions.begin(), kCutOptions.end());
  auto next = next_words(words, {.name = {"plan"}, .flags = {o.what}, .options = options});
  next.insert(next.end(), {"--device", "host"});
  return next;
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option(
         "what", o->what,
         "step: whole training steps; kernels: each convolution alone; tpu-tables: published step times of Cloud TPU "
         "beside the emulated ones (takes no other option); video: reading a video as RGB frames")
      ->check(CLI::IsMember({"step", "kernels", "tpu-tables", "video"}))
      ->capture_default_str();
  app.add_option("file", o->video, "The video of \"bench video\"");
  add_model_settings(app, *o);
  add_size_settings(app, *o, "Spatial size, D x H x W (or H x W)", "Samples");
  app.add_option("--steps", o->steps, "Timed steps, after those of --warmup")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--warmup", o->warmup, "Steps that are not timed; 0 for steps that take minutes")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--overlap", o->overlap,
                 "Of several ranks: on computes what needs no other rank while an exchange is under way; "
                 "off waits for it first, to measure what that is worth")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  o->settings.add(trace_rows(o->trace));
  add_settings(app, o->settings);
  return [o](const Context& context) {
    if (o->what != "step") require_one_rank(*context.transport, "bench " + o->what);
    if (o->what == "tpu-tables") {
      const TpuTables tables = run_tpu_tables(*context.progress);
      return Outcome{.json = to_json(tables),
                     .text = tpu_tables_text(tables),
                     .next = {"plan", "--size", "256x256x256", "--batch", "4", "--device", "tpu-v3", "--cores", "16"}};
    }
    if (o->what == "video") return video_outcome(o->video, context.threads);
    BenchOptions options{.spec = model_spec(o->model, o->batch), .steps = o->steps, .warmup = o->warmup};
    announce(o->plan, o->model, options.spec, o->batch, *context.progress);
    options.extents = o->extents(options.spec);
    options.spec = broadcast_spec(*context.transport,
                                  [&] { return o->planned(options.spec, options.extents, kBenchOptimizer, context); });
    options.trace = trace_options(o->trace, o->plan.device);
    if (!o->plan.device.empty() && o->plan.device != "host") options.device = device_from_name(o->plan.device).device;
    options.overlap = o->overlap == "on";
    options.host = measured_host(context.threads, *context.progress);
    const RunContext run = run_context(
        context, {.core_budget_bytes = o->model.core_budget_bytes, .host_budget_bytes = o->plan.host_budget_bytes});
    const BenchReport report = o->what == "step" ? run_bench_step(options, run) : run_bench_kernels(options, run);
    if (options.spec.precision == DType::kBF16 && !report.native_bf16)
      context.progress->log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
    const auto json = to_json(report);
    return Outcome{
        .json = json, .text = report_text(json), .next = next_command(context.words, *o, options.host != nullptr)};
  };
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary =
          "Measures training steps on random data and says where the time goes; or the reading of videos. A step's own "
          "seconds are the median of those measured, seconds of its parts (workers, waiting, an op) their mean.",
      .example =
          "voxshard bench step --model unet3d --base-filters 32 --size 64x64x64 --partition 1x2x2x2x1 --steps 3 "
          "--json\n  "
          "mpirun -n 4 --bind-to none voxshard bench step --base-filters 32 --size 64x64x64 --partition 1x2x2x2x1 "
          "--steps 3 --json",
      .add = add,
      .ranks = true};
}

}  // namespace voxshard
