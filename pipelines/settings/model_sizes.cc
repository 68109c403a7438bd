#include "pipelines/settings/model_sizes.h"

#include <algorithm>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

/// U-Nets on volumes. From 500 to 2000 steps 32 cases of head and neck CT gained at most 0.02 of Dice (data/README.md).
ModelSizes sizes_of_unets() {
  ModelSizes sizes{.sizes = {}, .wanted_steps = 1500};
  for (const std::int64_t filters : {32, 24, 16, 8})
    sizes.sizes.push_back({std::to_string(filters) + " filters", {{"base-filters", filters}}});
  return sizes;
}

/// Detectors on images: the reference, then narrower ones on the smaller backbone. In the same time 5000 steps of 32
/// and 64 filters find much more blood cells than 1560 of 64 and 128, 1692 at least as much as 2304 of 16 and 32
/// (data/README.md).
ModelSizes sizes_of_detectors() {
  ModelSizes sizes{.sizes = {}, .wanted_steps = 2000};
  const auto add = [&](const char* backbone, std::int64_t filters, std::int64_t pyramid) {
    sizes.sizes.push_back(
        {std::string(backbone) + " of " + std::to_string(filters) + " and " + std::to_string(pyramid) + " filters",
         {{"backbone", std::string(backbone)}, {"base-filters", filters}, {"pyramid-filters", pyramid}}});
  };
  add("resnet50", 64, 256), add("resnet18", 64, 128), add("resnet18", 32, 64), add("resnet18", 16, 32);
  return sizes;
}

/// Returns the floating point operations of a forward pass.
double forward_flops(const Graph& graph) {
  double flops = 0;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role != Role::kOp) continue;
    const std::vector<TensorType> inputs = graph.input_types(id);
    flops += work_of(op_table().at(node.op), {node.attrs, inputs, node.type}, Box::whole(node.type.shape)).flops;
  }
  return flops;
}

}  // namespace

bool ModelSizes::sets(const std::string& option) const {
  return !sizes.empty() &&
         std::ranges::count(sizes.front().options, option, &decltype(ModelSize::options)::value_type::first) > 0;
}

const ModelSizes& sizes_of(const Model& model) {
  static const ModelSizes kNone, kUNets = sizes_of_unets(), kDetectors = sizes_of_detectors();
  const ModelSizes& sizes = model.data == kBoxes                                    ? kDetectors
                            : model.data == kVoxelLabels && model.spatial_axes == 3 ? kUNets
                                                                                    : kNone;
  const auto has = [&](const auto& option) {
    return std::ranges::count(model.fields, option.first, &ConfigField::option_name) > 0;
  };
  return !sizes.sizes.empty() && std::ranges::all_of(sizes.sizes.front().options, has) ? sizes : kNone;
}

double step_seconds(ModelSpec spec, const ModelSize& size, const Shape& extents, int threads) {
  constexpr double kFlops_s = 3e11;  // of a thread, with transformed tiles or AMX
  for (const auto& [option, value] : size.options)
    for (const ConfigField& field : spec.model->fields)
      if (field.option_name() == option) spec.set(field.name, value);
  return 3 * forward_flops(build_graph(spec, extents, Phase::kPredict, spec.precision)) / (kFlops_s * threads);
}

}  // namespace voxshard
