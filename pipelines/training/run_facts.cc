#include "pipelines/training/run_facts.h"

#include <algorithm>

#include "io/system/machine.h"
#include "libcore/base/parallel.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "pipelines/profile/device_files.h"
#include "pipelines/training/train_memory.h"

namespace voxshard {
namespace {

/// The share of free memory that a plan may use; the rest is for reading and feeding.
constexpr double kShareOfFreeMemory = 0.8;
/// An average of the weights takes the same memory whatever its decay.
constexpr double kPlannedAverage = 0.99;

/// Returns the last rank, since no rank hosts more cores.
Ranks widest_share(const Transport& transport) {
  const int ranks = transport.ranks();
  return {.rank = ranks - 1, .ranks = ranks};
}

/// Returns a step in one precision, planned but not allocated. Errors: kBudget, kConfig.
Executable step_in(DType precision, const TrainOptions& o, const Shape& extents, const Budget& budget,
                   const RunContext& context) {
  ModelSpec spec = o.spec;
  spec.precision = precision;
  NoProgress quiet;  // this plan only tests that the step fits
  if (o.plan)
    spec = planned_spec(
        beside_held(*o.plan, context), spec, extents, o.optimizer,
        {.threads = context.threads(), .ranks = context.transport().ranks(), .progress = &quiet, .advises = false});
  return lower_within(budget, build_graph(spec, extents, Phase::kTrain, precision), op_table(), spec.cut,
                      {.optimizer_slots = Optimizer::slots(o.optimizer),
                       .keeps_average = o.optimizer.ema > 0,
                       .workers = context.threads(),
                       .ranks = widest_share(context.transport())});
}

/// Returns this machine's rates with this instruction set; null when there is no usable measurement.
std::shared_ptr<const Device> measured_host() {
  try {
    return host_device(hardware_workers());
  } catch (const Error&) {  // no home folder, or an unreadable file: `doctor` and {device} report details
    return nullptr;
  }
}

/// Returns the seconds of a step by those rates; nullopt when an op was not measured.
std::optional<double> seconds_on(const Device& device, const Executable& step) {
  try {
    return device.price(step.program, op_table(), {}).device_s;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kConfig) throw;
    return std::nullopt;
  }
}

/// True when a training with steps of these extents fits the memory, in f32 where the precision is not known yet.
bool whole_fits(TrainOptions o, const TrainingTask& task, const Shape& extents, bool precision,
                const RunContext& context) {
  if (precision) o.spec.precision = DType::kF32;
  try {
    return fits_memory(o, task, extents, context);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kConfig) throw;
    return false;  // the network cannot take volumes of these extents
  }
}

/// True when a training that keeps an average of its weights fits the memory in this precision.
bool average_fits(TrainOptions o, const TrainingTask& task, DType precision, const RunContext& context) {
  o.spec.precision = precision;
  return fits_memory(o, task, task.largest_extents(o.batch), context);
}

PrecisionFacts precision_facts(const TrainOptions& o, const Shape& extents, const RunContext& context) {
  PrecisionFacts facts{.multiplies_bf16 = cpu_has_native_bf16(), .instructions = kernel_instruction_set()};
  const auto device = measured_host();
  if (facts.multiplies_bf16 && device == nullptr) return facts;  // no further facts are needed
  std::optional<Executable> f32;
  try {
    f32 = step_in(DType::kF32, o, extents, context.step_budget(), context);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBudget) throw;
    facts.f32_fits = false, facts.f32_refusal = "it is over the budget";
    return facts;
  }
  const std::int64_t free = machine_facts(".").available_bytes / context.transport().ranks_here(),
                     needed = f32->bytes.process();
  if (free > 0 && static_cast<double>(needed) > kShareOfFreeMemory * static_cast<double>(free))
    facts.f32_fits = false,
    facts.f32_refusal = "it needs " + bytes_text(needed) + " of the " + bytes_text(free) + " that are free";
  if (device == nullptr) return facts;
  facts.f32_step_s = seconds_on(*device, *f32);
  facts.bf16_step_s = seconds_on(*device, step_in(DType::kBF16, o, extents, {}, context));
  return facts;
}

}  // namespace

std::string unseen_host() {
  try {
    return host_device_problem();
  } catch (const Error& e) {  // no home folder
    return e.what();
  }
}

RecipeFacts recipe_facts(const TrainOptions& options, const TrainingTask& task, const OpenChoices& open,
                         const RunContext& context) {
  TrainOptions o = options;
  ClassesOfCases classes = task.classes_of_cases();
  RecipeFacts facts{.data = std::string(o.spec.model->data),
                    .steps = o.steps,
                    .batch = o.batch,
                    .cases = task.training_cases(),
                    .partly_annotated = classes.partly_annotated,
                    .rarest_class = std::move(classes.rarest),
                    .cases_with_rarest = classes.cases_with_rarest,
                    .sided_classes = std::move(classes.sided),
                    .norm_samples = o.spec.norm_over_replica ? o.batch / o.spec.cut.mesh.replicas : o.batch,
                    .optimizer = o.optimizer.kind};
  for (const ConfigField& field : o.spec.model->fields) facts.fields.push_back(field.option_name());
  const std::optional<SampleSizes> sizes = task.sample_sizes(o.batch);
  const bool crops = sizes && sizes->largest_crop.axes() > 0;
  if (crops && open.whole_steps) {
    facts.whole_crops = sizes->whole_points / sizes->crop_points;
    if (whole_steps_pay(facts)) facts.whole_fits = whole_fits(o, task, sizes->largest_whole, open.precision, context);
  }
  if (open.average) {
    o.optimizer.ema = average_pays(facts) ? kPlannedAverage : 0;
    // Where the precision is open: in bf16 here, and below in f32 where that is chosen.
    if (o.optimizer.ema > 0 && !average_fits(o, task, open.precision ? DType::kBF16 : o.spec.precision, context))
      facts.average_fits = false, o.optimizer.ema = 0;
  }
  // Whole volumes that are chosen fit in f32 too, and those that were chosen for other facts do not count.
  if (open.precision)
    facts.precision =
        precision_facts(o, crops && open.whole_steps ? sizes->largest_crop : task.largest_extents(o.batch), context);
  const auto is_f32 = [](const Choice& c) { return c.option == "precision" && c.shown() == "f32"; };
  if (open.average && open.precision && o.optimizer.ema > 0 && std::ranges::any_of(recipe(facts), is_f32))
    facts.average_fits = average_fits(o, task, DType::kF32, context);
  return facts;
}

}  // namespace voxshard
