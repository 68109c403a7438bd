#include "apps/plan_args.h"

#include <CLI/CLI.hpp>

#include "apps/resume_args.h"
#include "apps/task_args.h"
#include "libcore/base/text.h"
#include "libcore/ranks/transport.h"
#include "pipelines/profile/device_advice.h"

namespace voxshard {

void add_plan_options(CLI::App& app, PlanArgs& args, ModelArgs& model) {
  const std::string group = "Plan (--partition auto)";
  const auto take = [&args, &model](std::string& name) {
    args.asked_device = name;
    model.fits_replicas = is_auto_device(name);
    if (model.fits_replicas) {
      const FoundDevice found = found_device(name);
      name = found.name, args.device_note = found.note;
    }
    model.slice_cores = name.empty() ? 0 : device_from_name(name).cores.value_or(0);
    return std::string();
  };
  app.add_option(
         "--device", args.device,
         "Prices steps: host, tpu-v2, tpu-v3, a slice like tpu-v3-32, or a device file; auto or auto:NAME: the same where "
         "it is there, else this machine; default: host once voxshard doctor has measured it, else tpu-v3. A TPUConfig "
         "without --cores runs on all cores of the slice")
      ->transform(CLI::Validator(take, ""))
      ->type_name(kDeviceType)
      ->group(group);
  add_memory_option(app, "--host-memory", args.host_memory_bytes, "Budget of this process, like 21GiB: of all cores together, and in training of all that it takes; default there: what the machine has free")->group(group);
  app.add_option("--prefer", args.prefer, "Of what fits: the fastest, or the fewest cores")
      ->check(one_of({"fastest", "fewest"}))->capture_default_str()->group(group);
}

PlanOptions plan_options(const PlanArgs& a, const ModelArgs& model, const ModelSpec& spec, const Context& context, bool exactly) {
  if (model.cores < 0)
    throw Error(ErrorKind::kConfig, "[config] --cores is " + std::to_string(model.cores) + "; expected 1 or more, or 0 for those of the device");
  std::string device = a.device;
  if (device.empty() && !is_host_measured()) {
    device = "tpu-v3";
    if (const std::string problem = host_device_problem(); !problem.empty()) context.progress->warn(problem);
    context.progress->log("this machine was not measured yet (voxshard doctor): grids are compared by their time on " + device);
  }
  return {.spec = spec,
          .device = device_from_name(device.empty() ? "host" : device),
          .cores = model.cores,
          .exactly = exactly && model.cores > 0,
          .core_budget_bytes = core_budget_bytes(model),
          .host_budget_bytes = a.host_memory_bytes,
          .preference = a.prefer == "fewest" ? Preference::kFewestCores : Preference::kFastest,
          .threads = context.threads,
          .ranks = context.transport != nullptr ? context.transport->ranks() : 1};
}

void announce(const PlanArgs& args, const ModelArgs& model, const ModelSpec& spec, std::int64_t batch, const Context& context,
              bool planned) {
  if (args.asked_device.empty()) return;
  Progress& progress = *context.progress;
  const Mesh& mesh = spec.cut.mesh;
  progress.log(running_on(args.device.empty() ? NamedDevice{} : device_from_name(args.device), mesh,
                          !planned && !is_auto(model)));
  if (!args.device_note.empty()) progress.warn(args.device_note);
  if (planned || is_auto(model) || !model.fits_replicas) return;
  if (const std::int64_t wanted = wanted_replicas(model, spec); wanted > mesh.replicas)
    progress.warn("the batch " + std::to_string(batch) + " is no multiple of " + std::to_string(wanted) + " replicas: " +
                  std::to_string(mesh.replicas) + " run, " + std::to_string((wanted - mesh.replicas) * mesh.cores_per_replica()) +
                  " cores stand idle; a batch of " + std::to_string(ceil_div(batch, wanted) * wanted) + " would use them");
}

bool is_auto(const ModelArgs& model) { return model.partition == "auto"; }

ModelSpec planned_spec(const PlanArgs& args, const ModelArgs& model, const ModelSpec& spec, const Shape& extents,
                       const OptimizerOptions& optimizer, const Context& context) {
  if (!is_auto(model)) return spec;
  PlanOptions options = plan_options(args, model, spec, context, true);
  options.extents = extents;
  options.optimizer = optimizer;
  options.for_run = true;
  const PlanReport report = run_plan(options, *context.progress);
  const Candidate& c = report.chosen();
  context.progress->log("planned partition " + to_string(c.cut.mesh.partition) + ", " + std::to_string(c.cut.mesh.replicas) +
                        " replicas, recompute " + recompute_name(c.cut.recompute) + ", thinnest slab " +
                        std::to_string(c.cut.thinnest_slab) + ": " + bytes_text(c.core_bytes) + " per core, " +
                        bytes_text(c.all_bytes) + (options.ranks > 1 ? " in a process" : " in all"));
  return with_plan(spec, c);
}

}  // namespace voxshard
