// voxshard plan: chooses a grid and prices it before the run.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/command.h"
#include "apps/model_command.h"
#include "apps/words/next_words.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

struct Options : ModelCommand {
  Options() : ModelCommand("128x128x128") {}
  bool explain = false;
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

/// Suggests the command that explains the memory of the plan.
std::vector<std::string> next_command(const std::vector<std::string>& words, const Cut& cut) {
  auto next =
      next_words(words, {.name = {"explain", "--stage", "memory"}, .flags = {"--explain"}, .options = kCutOptions});
  next.insert(next.end(),
              {"--partition", to_string(cut.mesh.partition), "--replicas", std::to_string(cut.mesh.replicas),
               "--recompute", recompute_name(cut.recompute), "--thinnest-slab", std::to_string(cut.thinnest_slab)});
  return next;
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_settings(app, *o);
  o->plan.device = "tpu-v3";
  add_size_settings(app, *o, "Spatial size, D x H x W (or H x W)", "Samples of a step over all replicas");
  app.add_flag("--explain", o->explain, "Every candidate with its reason");
  return [o](const Context& context) {
    o->model.partition.clear();
    const std::int64_t cores = std::exchange(o->model.cores, 0);  // here a limit, not a check of the partition
    const ModelSpec spec = model_spec(o->model, o->batch);
    o->model.cores = cores;
    announce(o->plan, o->model, spec, o->batch, *context.progress, true);
    PlanOptions options = plan_options(plan_request(o->plan, o->model), spec, planning(context), false);
    options.extents = o->extents(spec);
    const PlanReport report = run_plan(options, *context.progress);
    return Outcome{.json = to_json(report, o->explain),
                   .text = report_text(report, o->explain),
                   .next = next_command(context.words, report.chosen().cut)};
  };
}

}  // namespace

Command plan_command() {
  return {"plan",
          "Chooses the grid by the memory of a core and the step time on a device, and says why not the others.",
          "voxshard plan --model unet3d --size 256x256x256 --batch 4 --device tpu-v3 --cores 16 --explain", add};
}

}  // namespace voxshard
