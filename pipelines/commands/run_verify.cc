#include "pipelines/commands/run_verify.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

void add(VerifyReport& total, const GridReport& grid) {
  const EquivalenceReport& r = grid.report;
  if (!total.first_difference) total.first_difference = r.first_difference;
  total.kernels = r.kernels;
  total.optimizers = r.optimizers;
  total.layers += r.layers;
  total.bit_equal += r.bit_equal;
  total.within_tolerance += r.within_tolerance;
  total.widest_ratio = std::max(total.widest_ratio, r.widest_ratio);
  total.loss_uncut = r.loss_uncut, total.loss_cut = r.loss_cut, total.loss_higher = r.loss_higher;
  if (r.condition) total.condition = r.condition;
  total.end_to_end_ratio = std::max(total.end_to_end_ratio, r.end_to_end_ratio);
  total.end_to_end_relative = std::max(total.end_to_end_relative, r.end_to_end_relative);
  total.tensors += r.tensors;
  total.grids.push_back(grid);
}

nlohmann::ordered_json first_difference_json(const EquivalenceReport& report) {
  if (!report.first_difference) return nullptr;
  const LayerDifference& first = *report.first_difference;
  nlohmann::ordered_json json = {
      {"layer", first.layer}, {"what", first.what}, {"difference", first.difference}, {"allowed", first.tolerance}};
  if (first.core >= 0) json["core"] = first.core;
  if (!first.rank.empty()) json["rank"] = first.rank;
  return json;
}

/// Returns the names as an array, also when there are none.
nlohmann::ordered_json names_json(const std::vector<std::string>& names) {
  return names.empty() ? nlohmann::ordered_json::array() : nlohmann::ordered_json(names);
}

nlohmann::ordered_json number_json(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace

std::string verdict(const EquivalenceReport& report) {
  if (!report.equal()) return "different";
  return report.not_checked().empty() ? "equal" : "equal as far as checked";
}

std::vector<Dims> grids_to_verify(const Shape& extents) {
  const int axes = extents.axes() + 1;
  const auto grid = [&](std::int64_t batch, std::int64_t first, std::int64_t between, std::int64_t last) {
    Dims parts = Dims::filled(axes, 1);
    parts[0] = std::min(batch, extents[0]);
    for (int a = 1; a < extents.axes(); ++a)
      parts[a] = std::min(a == 1 ? first : a + 1 == extents.axes() ? last : between, extents[a]);
    return parts;
  };
  std::vector<Dims> grids;
  for (const Dims& parts : {grid(1, 2, 1, 1), grid(1, 2, 2, 2), grid(1, 3, 1, 2), grid(2, 2, 1, 1)})
    if (element_count(parts) > 1 && std::find(grids.begin(), grids.end(), parts) == grids.end()) grids.push_back(parts);
  if (grids.empty())
    throw Error(ErrorKind::kConfig, "[partition] nothing of " + to_string(extents) + " can be cut; give a larger size");
  return grids;
}

VerifyReport run_verify(const VerifyOptions& options, const RunContext& context) {
  const ModelSpec& spec = options.spec;
  // The uncut network that keeps every value takes most memory. The budget is checked before anything of this size is
  // made.
  const Cut whole{.mesh = {.partition = Dims::filled(spec.cut.mesh.partition.axes(), 1)},
                  .recompute = spec.cut.recompute,
                  .convolution = spec.cut.convolution};
  require_within(context.step_budget(), build_graph(spec, options.extents, Phase::kTrain, spec.precision), op_table(),
                 whole, {.keep_all = true});
  Equivalence uncut(
      {.factory = [&](DType dtype) { return build_graph(spec, options.extents, Phase::kTrain, dtype); },
       .dtype = spec.precision,
       .cut = spec.cut,
       .oracle = options.oracle,
       .seed = options.seed,
       .transport = &context.transport(),
       .progress = [&](const std::string& stage, std::int64_t done, std::int64_t total,
                       const std::string& layer) { context.progress().update(stage, done, total, layer); }},
      context.pool());
  VerifyReport total;
  for (const Dims& parts : options.grids.empty() ? std::vector<Dims>{spec.cut.mesh.partition} : options.grids) {
    Cut cut = spec.cut;
    cut.mesh.partition = parts;
    add(total, {cut.mesh, uncut.check(cut)});
  }
  // What the checks keep beside the step is in no plan: a peak over the budget is said.
  context.memory().report(base_plan(context.base_bytes()), context.progress());
  return total;
}

nlohmann::ordered_json to_json(const VerifyReport& report) {
  nlohmann::ordered_json grids = nlohmann::ordered_json::array();
  for (const auto& [mesh, r] : report.grids)
    grids.push_back({{"partition", to_string(mesh.partition)},
                     {"replicas", mesh.replicas},
                     {"equal", r.equal()},
                     {"first_difference", first_difference_json(r)}});
  return {
      {"equal", report.equal()},
      {"verdict", verdict(report)},
      {"not_checked", names_json(report.not_checked())},
      {"first_difference", first_difference_json(report)},
      {"kernels",
       {{"compared", report.kernels.compared},
        {"by_sums_of_channels", report.kernels.sampled},
        {"left_out", names_json(report.kernels.left_out)},
        {"widest_ratio", report.kernels.widest_ratio}}},
      {"optimizers", {{"compared", report.optimizers.compared}, {"widest_ratio", report.optimizers.widest_ratio}}},
      {"layers",
       {{"compared", report.layers},
        {"bit_equal", report.bit_equal},
        {"within_tolerance", report.within_tolerance},
        {"widest_ratio", report.widest_ratio}}},
      {"end_to_end",
       {{"tensors", report.tensors},
        {"loss_uncut", report.loss_uncut},
        {"loss_partitioned", report.loss_cut},
        {"loss_higher_precision", number_json(report.loss_higher)},
        {"condition", number_json(report.condition)},
        {"widest_ratio", report.end_to_end_ratio},
        {"widest_relative", report.end_to_end_relative}}},
      {"grids", grids},
      {"tolerance",
       {{"kernels",
         "rounding of the result to its type + 8 x epsilon of f32 x sqrt(products) x sum of |products|; of long sums 8 "
         "x "
         "epsilon x (length x addend + sqrt(length) x sum); of other formulas 64 x epsilon x largest; of a sum of "
         "channels "
         "6 x the root of their squares"},
        {"layers",
         "0 where no sum is cut or reordered; else 8 x epsilon x length of the sum x size of an addend (f64 sums: "
         "length^1.5)"},
        {"end_to_end",
         "8 x epsilon of f32 x sqrt(length of the longest sum) of the size of the layer's weight gradient; where "
         "products "
         "were reordered at least 8 x what the uncut run changes by when every parameter moves by the roundings of a "
         "sum in f32; + "
         "2^-20 of that size"}}}};
}

}  // namespace voxshard
