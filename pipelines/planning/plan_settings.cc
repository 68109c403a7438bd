#include "pipelines/planning/plan_settings.h"

#include "libcore/base/text.h"
#include "pipelines/profile/device_advice.h"

namespace voxshard {

std::vector<Setting> plan_rows(PlanSettings& plan, ModelSettings& model) {
  const std::string group = "Plan ({partition} auto)";
  const auto named_device = [&plan, &model](const std::string& word) {
    std::string name = word;
    plan.asked_device = word;
    model.fits_replicas = is_auto_device(name);
    if (model.fits_replicas) {
      const FoundDevice found = found_device(name);
      name = found.name, plan.device_note = found.note;
    }
    model.slice_cores = name.empty() ? 0 : device_from_name(name).cores.value_or(0);
    return name;
  };
  return {{.name = "device",
           .help = "Prices steps: host, tpu-v2, tpu-v3, a slice like tpu-v3-32, or a device file; auto or auto:NAME: "
                   "the same where "
                   "it is there, else this machine; default: host once voxshard doctor has measured it, else tpu-v3. A "
                   "TPUConfig "
                   "without {cores} runs on all cores of the slice",
           .group = group,
           .value = &plan.device,
           .tells_default = false,
           .type = "DEVICE",
           .meaning = named_device,
           .kept = absolute_device_name},
          memory_row("host-memory", plan.host_budget_bytes,
                     "Budget of this process, like 21GiB: of all cores together, and in training of all that it takes; "
                     "default there: what the "
                     "machine has free",
                     group),
          {"prefer", "Of what fits: the fastest, or the fewest cores", group, &plan.prefer, {}, {"fastest", "fewest"}}};
}

PlanRequest plan_request(const PlanSettings& plan, const ModelSettings& model) {
  return {.device = plan.device,
          .prefer = plan.prefer,
          .cores = model.cores,
          .core_budget_bytes = model.core_budget_bytes,
          .host_budget_bytes = plan.host_budget_bytes};
}

PlanOptions plan_options(const PlanRequest& request, const ModelSpec& spec, const Planning& planning, bool exactly) {
  if (request.cores < 0)
    throw Error(ErrorKind::kConfig, "[config] {cores} is " + std::to_string(request.cores) +
                                        "; expected 1 or more, or 0 for those of the device");
  std::string device = request.device;
  if (device.empty() && !is_host_measured()) {
    device = "tpu-v3";
    if (const std::string problem = host_device_problem(); !problem.empty()) planning.progress->warn(problem);
    planning.progress->log("this machine was not measured yet (voxshard doctor): grids are compared by their time on " +
                           device);
  }
  return {.spec = spec,
          .device = device_from_name(device.empty() ? "host" : device),
          .cores = request.cores,
          .exactly = exactly && request.cores > 0,
          .core_budget_bytes = request.core_budget_bytes,
          .host_budget_bytes = request.host_budget_bytes,
          .advises = planning.advises,
          .preference = request.prefer == "fewest" ? Preference::kFewestCores : Preference::kFastest,
          .threads = planning.threads,
          .ranks = planning.ranks};
}

ModelSpec planned_spec(const PlanRequest& request, const ModelSpec& spec, const Shape& extents,
                       const OptimizerOptions& optimizer, const Planning& planning) {
  PlanOptions options = plan_options(request, spec, planning, true);
  options.extents = extents;
  options.optimizer = optimizer;
  options.for_run = true;
  const PlanReport report = run_plan(options, *planning.progress);
  const Candidate& c = report.chosen();
  planning.progress->log("planned partition " + to_string(c.cut.mesh.partition) + ", " +
                         std::to_string(c.cut.mesh.replicas) + " replicas, recompute " +
                         recompute_name(c.cut.recompute) + ", thinnest slab " + std::to_string(c.cut.thinnest_slab) +
                         ": " + bytes_text(c.core_bytes) + " per core, " + bytes_text(c.all_bytes) +
                         (options.ranks > 1 ? " in a process" : " in all"));
  return with_plan(spec, c);
}

ModelSpec planned_spec(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec,
                       const Shape& extents, const OptimizerOptions& optimizer, const Planning& planning) {
  return model.is_planned() ? planned_spec(plan_request(plan, model), spec, extents, optimizer, planning) : spec;
}

void announce(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec, std::int64_t batch,
              Progress& progress, bool planned) {
  if (plan.asked_device.empty()) return;
  const Mesh& mesh = spec.cut.mesh;
  progress.log(running_on(plan.device.empty() ? NamedDevice{} : device_from_name(plan.device), mesh,
                          !planned && !model.is_planned()));
  if (!plan.device_note.empty()) progress.warn(plan.device_note);
  if (planned || model.is_planned() || !model.fits_replicas) return;
  if (const std::int64_t wanted = wanted_replicas(model, spec); wanted > mesh.replicas)
    progress.warn("the batch " + std::to_string(batch) + " is no multiple of " + std::to_string(wanted) +
                  " replicas: " + std::to_string(mesh.replicas) + " run, " +
                  std::to_string((wanted - mesh.replicas) * mesh.cores_per_replica()) +
                  " cores stand idle; a batch of " + std::to_string(ceil_div(batch, wanted) * wanted) +
                  " would use them");
}

std::vector<Setting> trace_rows(TraceSettings& trace) {
  const std::string group = "Profile";
  return {{.name = "trace",
           .help = "Write a profile for Perfetto or chrome://tracing: what each worker did when, and with {device} of "
                   "a TPU its "
                   "emulated clock",
           .group = group,
           .value = &trace.file,
           .of_one_call = true},
          {.name = "trace-steps",
           .help = "Steps in the profile, from the first on",
           .group = group,
           .value = &trace.steps,
           .range = NumberRange{1, 1000},
           .of_one_call = true}};
}

TraceOptions trace_options(const TraceSettings& trace, const std::string& device) {
  TraceOptions options{.file = trace.file, .steps = trace.steps};
  if (!trace.file.empty() && !device.empty() && device != "host") options.device = device_from_name(device).device;
  return options;
}

}  // namespace voxshard
