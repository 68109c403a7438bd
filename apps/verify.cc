// voxshard verify: compares the partitioned model with the uncut one.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <sstream>

#include "apps/command.h"
#include "apps/model_command.h"
#include "apps/run_context.h"
#include "apps/setting_args.h"
#include "apps/terminal/exit_code.h"
#include "apps/words/next_words.h"
#include "pipelines/commands/run_verify.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

struct Options : ModelCommand {
  Options() : ModelCommand("48x40x56") {}
  std::uint64_t seed = 0;
  std::string oracle = "sampled";
};

std::string significant(double value) {
  std::ostringstream out;
  out << std::setprecision(3) << value;
  return out.str();
}

/// Returns the place of a difference: " on core 3 of rank 1 on node-b".
std::string place_text(const LayerDifference& difference) {
  const std::string core = difference.core < 0 ? "" : " on core " + std::to_string(difference.core);
  if (difference.rank.empty()) return core;
  return core + (core.empty() ? " on " : " of ") + difference.rank;
}

std::string report_text(const VerifyReport& r) {
  const LayerReport& k = r.kernels;
  std::string text;
  if (k.compared > 0)
    text = std::to_string(k.compared) + " kernels against the slow ones (" + std::to_string(k.sampled) +
           " by sums of their channels and single voxels): largest difference " + std::to_string(k.widest_ratio) +
           " of what is allowed\n" + std::to_string(r.optimizers.compared) +
           " updates by optimizers against the slow ones: largest difference " +
           std::to_string(r.optimizers.widest_ratio) + " of what is allowed\n";
  std::string grids;
  for (const GridReport& grid : r.grids) grids += (grids.empty() ? "" : ", ") + to_string(grid.mesh.partition);
  text += std::to_string(r.layers) + " layer results over " + grids + ": " + std::to_string(r.bit_equal) +
          " equal to the bit, " + std::to_string(r.within_tolerance) + " sums within tolerance\n" +
          std::to_string(r.tensors) +
          " tensors end to end (loss, gradients, weights after a step of SGD): largest difference " +
          std::to_string(r.end_to_end_ratio) + " of what is allowed\n";
  if (r.grids.size() == 1 && r.grids.front().mesh.cores() == 1)
    text += "nothing was cut: the network was compared with itself\n";
  if (r.equal()) {
    const std::vector<std::string> names = r.not_checked();
    return text + verdict(r) + (names.empty() ? "" : "; not checked: " + joined(names, ", ")) + "\n";
  }
  for (const GridReport& grid : r.grids)
    if (const auto& d = grid.report.first_difference)
      return text + "DIFFERENT over " + to_string(grid.mesh.partition) + ", first at " + d->layer + " (" + d->what +
             ")" + place_text(*d) + ": " + significant(d->difference) + ", allowed " + significant(d->tolerance) + "\n";
  return text;
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  add_model_settings(app, *o);
  add_size_settings(app, *o, "Spatial size, D x H x W (or H x W)", "Samples");
  app.add_option("--seed", o->seed, "Seed of weights and inputs")->check(number_in(kSeeds))->capture_default_str();
  app.add_option("--oracle", o->oracle,
                 "What the uncut network's kernels are compared with: slow ones, of large layers by sums of their "
                 "channels over "
                 "all voxels (sampled), on all (reference), or nothing (fast)")
      ->capture_default_str();
  return [o](const Context& context) {
    VerifyOptions options{
        .spec = model_spec(o->model, o->batch), .seed = o->seed, .oracle = oracle_from_name(o->oracle)};
    announce(o->plan, o->model, options.spec, o->batch, *context.progress);
    options.extents = o->extents(options.spec);
    options.spec =
        broadcast_spec(*context.transport, [&] { return o->planned(options.spec, options.extents, {}, context); });
    if (o->model.partition.empty() && o->model.tpu.input_partition_dims.empty() && options.spec.cut.mesh.cores() == 1)
      options.grids = grids_to_verify(options.extents);
    const VerifyReport report =
        run_verify(options, run_context(context, {.host_budget_bytes = o->plan.host_budget_bytes}));
    return Outcome{.json = to_json(report),
                   .text = report_text(report),
                   .exit_code = report.equal() ? kExitOk : kExitMismatch,
                   .next = next_words(context.words, {.name = {"bench", "step"}, .options = {"--seed"}})};
  };
}

}  // namespace

Command verify_command() {
  return {.name = "verify",
          .summary =
              "Shows that a partitioned model computes what the uncut one does, layer by layer and end to end; without "
              "--partition over several grids. Of several ranks each holds and runs the whole uncut model, and its "
              "cores of the "
              "partitioned one.",
          .example =
              "voxshard verify --model unet3d --size 48x40x56 --base-filters 8 --partition 1x2x2x2x1 --json\n  "
              "mpirun -n 4 --bind-to none voxshard verify --model unet3d --size 48x40x56 --base-filters 8 --partition "
              "1x2x2x2x1 --json",
          .add = add,
          .ranks = true};
}

}  // namespace voxshard
