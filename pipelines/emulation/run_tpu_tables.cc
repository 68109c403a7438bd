#include "pipelines/emulation/run_tpu_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "pipelines/emulation/explain_passes.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

/// The reference U-Net of the published configurations: base 32, batch norm per replica, adaptive Dice, bf16.
ModelSpec unet3d(std::int64_t replicas, const Dims& partition) {
  ModelSpec spec{.norm_over_replica = true, .loss_over_replica = true, .cut = {.mesh = {replicas, partition}}};
  spec.as<UNetConfig>() = {.base_filters = 32,
                           .depth = 4,
                           .channels = 1,
                           .classes = 3,
                           .norm = NormKind::kBatch,
                           .loss = LossKind::kAdaptiveDice32};
  return spec;
}

/// The reference RetinaNet: ResNet-50, 91 classes, batch norm per replica, bf16.
ModelSpec retinanet(std::int64_t replicas, const Dims& partition) {
  ModelSpec spec = retinanet_spec({});
  spec.cut.mesh = {replicas, partition}, spec.norm_over_replica = spec.loss_over_replica = true;
  return spec;
}

std::string text(const char* format, double a, double b = 0) {
  char line[384];
  std::snprintf(line, sizeof line, format, a, b);
  return line;
}

double seconds_of(const Price& busy, const char* resource) {
  const std::string name = resource;
  if (name == "matrix") return busy.matrix_s;
  if (name == "vector") return busy.vector_s;
  if (name == "memory") return busy.memory_s;
  if (name == "passes") return busy.pass_s;
  return name == "links" ? busy.link_s : busy.overhead_s;
}

std::string bound_by(const StepPrice& price) {
  if (price.feed_s >= price.device_s) return "feed";
  constexpr const char* kResources[] = {"matrix", "vector", "memory", "links", "passes", "overhead"};
  return *std::max_element(std::begin(kResources), std::end(kResources),
                           [&](auto a, auto b) { return seconds_of(price.busy, a) < seconds_of(price.busy, b); });
}

const TpuSpec& tpu_of(const Device& device) {
  ensure(device.tpu() != nullptr, "published steps are of TPUs");
  return *device.tpu();
}

EmulatedStep emulate(const PlannedStep& step, const TpuSpec& device, const std::vector<PlannedStep>& steps) {
  EmulatedStep e{
      .recompute = step.recompute, .price = price_of(step, device), .published_seconds = step.published_seconds};
  TpuSpec without = device;
  for (const Figure& figure : device.figures) {
    if (std::find(figure.fitted_to.begin(), figure.fitted_to.end(), step.name) == figure.fitted_to.end()) continue;
    without = refit(without, figure, steps, step.name);
    e.fitted.push_back(figure.key);
  }
  e.leave_one_out_seconds = e.fitted.empty() ? e.price.step_s : price_of(step, without).step_s;
  e.bound_by = bound_by(e.price);
  e.core_bytes = step.core_bytes;
  e.kept_core_bytes = step.kept_core_bytes;
  e.usable_bytes = device.usable_bytes();
  return e;
}

TpuWays ways(const PublishedStep& of, const Shape& extents, const std::vector<Dims>& partitions,
             const TpuSpec& device) {
  TpuWays result{.model = of.spec.model_name(), .extents = to_string(extents)};
  Cut cut = of.spec.cut;
  for (const Dims& partition : partitions) {
    cut.mesh = {1, partition};
    ModelSpec spec = of.spec;
    spec.cut = cut;
    const Graph graph = build_graph(spec, extents, Phase::kTrain, spec.precision);
    const Lowered lowered = lower_for_tpu(graph, cut, of.optimizer, device).lowered;
    StepPrice price = TpuDevice(device).price(lowered.program, op_table(), {});
    const double one = result.rows.empty() ? price.device_s : result.rows.front().price.device_s;
    const double efficiency = one / price.device_s / static_cast<double>(cut.mesh.cores());
    const std::int64_t core_bytes = lowered.bytes.widest_core();
    result.rows.push_back({partition, std::move(price), efficiency, core_bytes, core_bytes <= device.usable_bytes()});
  }
  return result;
}

TpuAssumption assume(const std::string& what, const TpuSpec& device, bool other_programs,
                     const std::vector<PlannedStep>& as_is) {
  std::vector<PlannedStep> planned;
  if (other_programs)
    for (const PublishedStep& row : published_steps()) planned.push_back(plan_step(row, device));
  const std::vector<PlannedStep>& steps = other_programs ? planned : as_is;
  const TpuSpec fitted = refit_all(device, steps);
  TpuAssumption result{.what = what};
  for (const PlannedStep& step : steps) {
    result.residuals.push_back(price_of(step, device).step_s / step.published_seconds - 1);
    result.refitted_residuals.push_back(price_of(step, fitted).step_s / step.published_seconds - 1);
    result.fits = result.fits && step.recompute == Recompute::kNone && step.core_bytes <= device.usable_bytes();
  }
  for (const Figure& figure : device.figures)
    if (figure.kind == "fitted")
      result.refitted +=
          (result.refitted.empty() ? "" : ", ") + figure.key + text(" %.0f ", value_of(fitted, figure)) + figure.unit;
  return result;
}

constexpr const char* kPaddedProducts = "samples that do not fill the 8 sublanes cost products too, not memory alone";

/// Prices the rows under alternatives to the assumptions about the compiler.
std::vector<TpuAssumption> assumptions(const TpuSpec& device, const std::vector<PlannedStep>& steps) {
  constexpr std::int64_t kAny = 1'000'000;
  std::vector<TpuAssumption> result;
  for (const std::int64_t tensors : {std::int64_t{1}, std::int64_t{3}, kAny}) {
    TpuSpec other = device;
    other.fused_tensors = tensors;
    result.push_back(assume("fusions read " +
                                (tensors == kAny ? "any number of" : "at most " + std::to_string(tensors)) +
                                " tensors, not " + std::to_string(device.fused_tensors),
                            other, true, steps));
  }
  TpuSpec unmasked = device;
  unmasked.masks_padding = false;
  result.push_back(assume("zero padding of even parts is not masked", unmasked, false, steps));
  TpuSpec both = device, neither = device;
  both.samples_pad_products = true, neither.samples_pad_memory = false;
  result.push_back(assume(kPaddedProducts, both, false, steps));
  result.push_back(
      assume("samples that do not fill the 8 sublanes cost neither memory nor products", neither, false, steps));
  return result;
}

void note_fitted_constants(TpuTables& tables, const TpuSpec& device, const std::vector<PlannedStep>& steps) {
  for (const Figure& figure : device.figures)
    if (figure.kind == "fitted")
      tables.fitted_constants.push_back({device.name, figure, value_of(refit(device, figure, steps, ""), figure)});
}

double voxels(const PublishedStep& row) { return static_cast<double>(element_count(row.extents)); }
double cores(const PublishedStep& row) { return static_cast<double>(row.spec.cut.mesh.cores()); }

/// Returns the speed per core of row `b` relative to row `a`, from their seconds.
double efficiency(const PublishedStep& a, double a_seconds, const PublishedStep& b, double b_seconds) {
  return voxels(b) / voxels(a) * a_seconds / b_seconds / (cores(b) / cores(a));
}

/// Adds the discrepancies that the table leaves unexplained about two rows of one model.
void compare_rows(const TpuTableRow& a, const TpuTableRow& b, std::vector<std::string>& lines) {
  if (a.published.spec.model_name() != b.published.spec.model_name()) return;
  const double published = efficiency(a.published, a.published.seconds, b.published, b.published.seconds);
  const double emulated = efficiency(a.published, a.emulated.price.step_s, b.published, b.emulated.price.step_s);
  lines.push_back(a.published.name + " and " + b.published.name +
                  text(": the published times keep %.0f %% of the speed per core, the emulated ones %.0f %%",
                       100 * published, 100 * emulated) +
                  text(" (cut / uncut off by %+.1f %%)", 100 * (published / emulated - 1)));
}

/// Returns the text on the layout used for pricing: a choice, since its opposite is far off the rows with 4 samples per
/// core.
std::string padding_line(const TpuTables& tables) {
  const auto other = std::find_if(tables.assumptions.begin(), tables.assumptions.end(),
                                  [](const TpuAssumption& a) { return a.what == kPaddedProducts; });
  ensure(other != tables.assumptions.end(), "the padding of products is among the assumptions");
  return "4 samples in 8 sublanes cost memory twice over, by the padding rule of convolutions, which is documented; "
         "that products "
         "are spared is chosen, because of these rows: were it otherwise, " +
         tables.rows[0].published.name + " and " + tables.rows[1].published.name +
         text(" would be %.2f and %.2f times what is published", 1 + other->residuals[0], 1 + other->residuals[1]);
}

std::vector<std::string> unexplained(const TpuTables& tables) {
  std::vector<std::string> lines;
  for (const TpuTableRow& row : tables.rows) {
    const EmulatedStep& e = row.emulated;
    std::string line = row.published.name +
                       text(": off by %+.1f %%, by %+.1f %%", 100 * e.residual(), 100 * e.leave_one_out_residual()) +
                       " with " + joined(e.fitted, " and ") + " fitted without it";
    if (e.recompute != Recompute::kNone)
      line += std::string("; it fits when ") + recompute_name(e.recompute) +
              " are made again for the backward pass, which is assumed";
    const Price& busy = e.price.busy;
    line += text("; products %.2f s and memory %.2f s, which overlap inside an instruction only, ", busy.matrix_s,
                 busy.memory_s) +
            text("links %.2f s, passes %.2f s", busy.link_s, busy.pass_s);
    lines.push_back(line);
  }
  for (std::size_t i = 1; i < tables.rows.size(); ++i) compare_rows(tables.rows[i - 1], tables.rows[i], lines);
  const bool waits = std::any_of(tables.rows.begin(), tables.rows.end(),
                                 [](const TpuTableRow& r) { return r.emulated.bound_by == "feed"; });
  lines.push_back(std::string(waits ? "hosts: a row waits for them" : "hosts: no row waits for them") +
                  text("; any rate of unpacking above %.0f MB/s a host gives the same table, and no row tells the rate",
                       tables.least_unpack_bytes_s / 1e6));
  lines.push_back(padding_line(tables));
  lines.push_back(
      "neither how many rows a tile serves nor why a pass moves less than half of what the memory could is derived "
      "from hardware, only that one "
      "number of each serves both models; changes of "
      "layout between what is kept (smallest tiles) and what products read are not priced");
  lines.push_back(
      "the optimizer's update is no instruction of the program and is not priced (about a millisecond of memory "
      "traffic for the U-Net)");
  return lines;
}

}  // namespace

std::span<const PublishedStep> published_steps() {
  static const std::vector<PublishedStep> rows = {
      {.name = "unet3d-128-v3-8",
       .spec = unet3d(8, {1, 1, 1, 1, 1}),
       .extents = {32, 128, 128, 128},
       .device = "tpu-v3-8",
       .seconds = 3.428,
       .source = "Cloud TPU documentation, spatial partitioning, 3D U-Net table"},
      {.name = "unet3d-256-v3-128",
       .spec = unet3d(8, {1, 16, 1, 1, 1}),
       .extents = {32, 256, 256, 256},
       .device = "tpu-v3-128",
       .seconds = 3.02,
       .source = "the same table, corrected",
       .correction =
           "the published table prints 2560x2560 on v3-64 with 64 cores beside these seconds, a paste from the "
           "RetinaNet table; the announcement (256^3, 128 cores) and the published configuration "
           "v3-128_256x256x256 agree on this row, and 64 cores would each be 14 % faster than one without a cut"},
      {.name = "retinanet-1280-v3-8",
       .spec = retinanet(8, {1, 1, 1, 1}),
       .extents = {64, 1280, 1280},
       .optimizer = OptimizerKind::kSgd,
       .device = "tpu-v3-8",
       .seconds = 0.910,
       .source = "Cloud TPU documentation, spatial partitioning, RetinaNet table"},
      {.name = "retinanet-2560-v3-64",
       .spec = retinanet(8, {1, 4, 2, 1}),
       .extents = {64, 2560, 2560},
       .optimizer = OptimizerKind::kSgd,
       .device = "tpu-v3-64",
       .seconds = 0.822,
       .source = "the same table, 8-way"}};
  return rows;
}

TpuTables run_tpu_tables(Progress& progress) {
  TpuTables tables;
  const auto rows = published_steps();
  const std::shared_ptr<const Device> device = device_from_name("tpu-v3").device;
  std::vector<PlannedStep> steps;
  for (const PublishedStep& row : rows) {
    steps.push_back(plan_step(row, tpu_of(*device)));
    progress.update("tpu-tables", static_cast<std::int64_t>(steps.size()), static_cast<std::int64_t>(rows.size()),
                    row.name);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    tables.rows.push_back({rows[i], emulate(steps[i], tpu_of(*device), steps)});
  note_fitted_constants(tables, tpu_of(*device), steps);
  const TpuSpec& tpu = tpu_of(*device);
  tables.ways = {
      ways(rows[1], {4, 256, 256, 256},
           {{1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {1, 4, 1, 1, 1}, {1, 8, 1, 1, 1}, {1, 16, 1, 1, 1}}, tpu),
      ways(rows[3], {8, 2560, 2560}, {{1, 1, 1, 1}, {1, 2, 1, 1}, {1, 2, 2, 1}, {1, 4, 2, 1}, {1, 4, 4, 1}}, tpu)};
  tables.assumptions = assumptions(tpu, steps);
  for (const PlannedStep& step : steps)
    tables.least_unpack_bytes_s = std::max(tables.least_unpack_bytes_s, least_unpack_bytes_s(step, tpu));
  tables.unexplained = unexplained(tables);
  return tables;
}

}  // namespace voxshard
