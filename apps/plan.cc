// voxshard plan: chooses a grid and prices it before the run, for a size or for the data of a training.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/command.h"
#include "apps/model_command.h"
#include "apps/setting_args.h"
#include "apps/words/next_words.h"
#include "libcore/base/text.h"
#include "pipelines/tpu/tpu_config.h"
#include "pipelines/training/plan_training.h"

namespace voxshard {
namespace {

struct Options : ModelCommand {
  Options() : ModelCommand("128x128x128") {}
  std::filesystem::path data;  // empty: the size is given
  bool explain = false;

  /// True when the plan is for a run on this machine: of data, without a device.
  bool is_here() const { return !data.empty() && !settings.is_said("device"); }
};

std::string memory_table(const PlanReport& r) {
  const MemoryReport& m = r.memory;
  std::vector<std::vector<std::string>> rows = {{"memory of core " + std::to_string(m.core), "bytes"}};
  auto add = [&](const char* what, std::int64_t bytes) { rows.push_back({what, bytes_text(bytes)}); };
  add("parameters", m.parameter_bytes);
  add("optimizer state", r.bytes.optimizer);
  add("gradients of parameters", m.gradient_bytes);
  add("activations kept for backward", m.kept_bytes);
  add("other activations and their gradients", m.transient_bytes);
  add("halo margins", m.halo_bytes);
  add("partial sums", m.partial_bytes);
  add("gaps between buffers", m.gap_bytes);
  add("converted weights, statistics", m.replicated_bytes);
  if (r.bytes.packed > 0) add("reordered weights", r.bytes.packed);
  add("in all", r.chosen().core_bytes);
  if (r.core_budget_bytes > 0) add("budget", r.core_budget_bytes);
  if (r.bytes.workspaces > 0) {
    add("workspace of all workers", r.bytes.workspaces);
    add("all cores together", r.chosen().all_bytes);
  }
  std::vector<std::vector<std::string>> largest = {{"largest allocations", "shape", "size", "unpadded", "expansion"}};
  for (const Allocation& a : r.largest)
    largest.push_back({a.layer, std::string(dtype_name(a.type.dtype)) + "[" + to_string(a.box.extent) + "]",
                       bytes_text(a.bytes), bytes_text(a.unpadded_bytes), fixed_text(a.expansion(), 2) + "x"});
  return text_table(rows) + "widest at " + m.widest_layer + "\n\n" + text_table(largest);
}

std::string candidate_table(const PlanReport& r, bool all) {
  constexpr std::size_t kShown = 10;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < r.candidates.size(); ++i)
    if (all || r.candidates[i].fits()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Candidate &x = r.candidates[a], &y = r.candidates[b];
    return std::tuple(a != *r.best, x.verdict, x.step_s, x.device_s) <
           std::tuple(b != *r.best, y.verdict, y.step_s, y.device_s);
  });
  if (!all && order.size() > kShown) order.resize(kShown);
  std::vector<std::vector<std::string>> rows = {{"partition", "replicas", "cores", "recompute", "slab", "step s",
                                                 "cores s", "core", "halo MB", "messages", "hops", "thinnest", "idle",
                                                 "verdict"}};
  for (std::size_t i : order) {
    const Candidate& c = r.candidates[i];
    std::vector<std::string> row = {to_string(c.cut.mesh.partition), std::to_string(c.cut.mesh.replicas),
                                    std::to_string(c.cut.mesh.cores()), recompute_name(c.cut.recompute),
                                    std::to_string(c.cut.thinnest_slab)};
    if (c.verdict == Verdict::kNotNeeded) {
      row.insert(row.end(), {"", "", "", "", "", "", "", ""});
    } else {
      row.insert(row.end(),
                 {fixed_text(c.step_s), fixed_text(c.device_s), bytes_text(c.core_bytes),
                  fixed_text(c.halo_bytes / 1e6, 1), std::to_string(c.messages), std::to_string(c.hops),
                  c.thinnest_planes > 0 ? std::to_string(c.thinnest_planes) : "-", std::to_string(c.idle_cores)});
    }
    row.push_back((i == *r.best ? "chosen: " : "") + reason_text(c));
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

std::string report_text(const PlanReport& r, bool all) {
  const Candidate& c = r.chosen();
  const char* clock = r.emulated ? " emulated" : "";
  return "--partition " + to_string(c.cut.mesh.partition) + " --replicas " + std::to_string(c.cut.mesh.replicas) +
         " --recompute " + recompute_name(c.cut.recompute) + " --thinnest-slab " + std::to_string(c.cut.thinnest_slab) +
         "\n" + fixed_text(c.step_s) + clock + " s a step on " + std::to_string(c.cut.mesh.cores()) + " cores of " +
         r.device + " (cores " + fixed_text(c.device_s) + " s, hosts " + fixed_text(c.feed_s) +
         " s); every core holds all weights\n\n" + memory_table(r) + "\n" + candidate_table(r, all) +
         std::to_string(r.candidates.size()) + " candidates in " + fixed_text(r.planning_s, 2) + " s" +
         (all ? "" : "; --explain shows all") + "\n";
}

std::vector<std::string> words_of_cut(const Cut& cut) {
  return {"--partition", to_string(cut.mesh.partition), "--replicas",      std::to_string(cut.mesh.replicas),
          "--recompute", recompute_name(cut.recompute), "--thinnest-slab", std::to_string(cut.thinnest_slab)};
}

/// Suggests the command that explains the memory of the plan; of data the training that was planned.
std::vector<std::string> next_command(const std::vector<std::string>& words, const Options& o, const Cut& cut) {
  NextCommand how{.name = {"explain", "--stage", "memory"}, .flags = {"--explain"}, .options = kCutOptions};
  std::vector<std::string> size;
  if (!o.data.empty()) {
    how.name = {"train", o.data.string(), "-o", "run"};
    how.flags.insert(o.data.string());
    how.options.insert({"--channels", "--classes", "--prefer"});
    if (o.settings.is_said("size") && model_named(o.model.models, o.model.model)->data != kClassLabels) {
      how.options.insert("--size");
      size = {"--crop", o.size};
    }
  }
  std::vector<std::string> next = next_words(words, how);
  for (const auto& more : {size, words_of_cut(cut)}) next.insert(next.end(), more.begin(), more.end());
  return next;
}

/// Returns the step of a training on the data, with the given settings of the model, the batch and the size.
PlannedTraining planned_training(const Options& o, const Context& context) {
  // of this machine, or replaced by the plan
  std::set<std::string> not_of_model = {"partition", "cores", "size", "device", "host-memory", "memory", "prefer"};
  for (const std::string& key : tpu_config_keys()) not_of_model.insert(key);
  TrainSettings train;
  train.options.work = o.data;
  for (const Settings::Entry& entry : o.settings.entries())
    if (entry.is_said() && !not_of_model.contains(entry.name()))
      train.settings.say(Layer::kCommandLine, entry.name(), entry.words);
  PlannedTraining planned =
      plan_training(train, o.model.given, {.threads = context.threads, .host_budget_bytes = o.plan.host_budget_bytes},
                    *context.progress);
  if (o.settings.is_said("size"))
    planned.extents = extents_from_text(o.size, planned.spec.spatial_axes(), planned.extents[0]);
  return planned;
}

/// "for 9 cases: ...; memory of this machine: 12.00 GiB\n".
std::string data_text(const Options& o, const PlannedTraining& planned) {
  std::string text = to_text(planned);
  if (o.is_here() && o.plan.host_budget_bytes > 0)
    text += "; memory of this machine: " + bytes_text(o.plan.host_budget_bytes);
  return text + "\n";
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("data", o->data,
                 "What a training is planned for, as train takes it: sizes, channels, classes and batch are then those "
                 "of `voxshard train DATA` where they are not given, and without --device the plan is for the memory "
                 "of this machine")
      ->type_name(kPathType);
  add_model_settings(app, *o);
  o->plan.device = "tpu-v3";
  add_size_settings(app, *o, "Spatial size, D x H x W (or H x W)", "Samples of a step over all replicas");
  app.add_flag("--explain", o->explain, "Every candidate with its reason");
  return [o](const Context& context) {
    o->model.partition.clear();
    const std::int64_t cores = std::exchange(o->model.cores, 0);  // here a limit, not a check of the partition
    std::optional<PlannedTraining> training;
    if (!o->data.empty()) training = planned_training(*o, context);
    const ModelSpec spec = training ? training->spec : model_spec(o->model, o->batch);
    o->model.cores = cores;
    if (o->is_here()) {
      o->plan.device.clear();
      if (o->plan.host_budget_bytes == 0) o->plan.host_budget_bytes = training->left_bytes;
    }
    announce(o->plan, o->model, spec, o->batch, *context.progress, true);
    PlanOptions options = plan_options(plan_request(o->plan, o->model), spec, planning(context), false);
    options.extents = training ? training->extents : o->extents(spec);
    options.for_run = o->is_here();
    if (training) options.optimizer = training->optimizer;
    const PlanReport report = run_plan(options, *context.progress);
    Outcome outcome{.json = to_json(report, o->explain),
                    .text = report_text(report, o->explain),
                    .next = next_command(context.words, *o, report.chosen().cut)};
    if (training) outcome.json["data"] = to_json(*training), outcome.text = data_text(*o, *training) + outcome.text;
    return outcome;
  };
}

}  // namespace

Command plan_command() {
  return {"plan",
          "Chooses the grid by the memory of a core and the step time on a device, and says why not the others.",
          "voxshard plan --model unet3d --size 256x256x256 --batch 4 --device tpu-v3 --cores 16 --explain\n  "
          "voxshard plan work",
          add};
}

}  // namespace voxshard
