#include "pipelines/settings/model_sizes.h"

#include <algorithm>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

/// U-Nets on volumes. In an hour on 40 cases of head and neck CT one network of 32 filters predicted no worse than
/// three of 16; from 500 to 2000 steps 32 cases gained at most 0.02 of Dice (data/README.md).
ModelSizes sizes_of_unets() {
  constexpr std::int64_t kLearned = 1500;
  ModelSizes sizes;
  for (const std::int64_t filters : {32, 24, 16, 8})
    sizes.sizes.push_back({.text = std::to_string(filters) + " filters",
                           .options = {{"base-filters", filters}},
                           .wanted_steps = kLearned});
  return sizes;
}

/// Detectors on images: the reference, then narrower ones on the smaller backbone. In the same time 5000 steps of 32
/// and 64 filters find much more blood cells than 1560 of 64 and 128, 1692 at least as much as 2304 of 16 and 32, and
/// 900 of 32 and 64 find flies tightly (data/README.md).
ModelSizes sizes_of_detectors() {
  ModelSizes sizes;
  const auto add = [&](const char* backbone, std::int64_t filters, std::int64_t pyramid, std::int64_t wanted_steps) {
    sizes.sizes.push_back(
        {.text =
             std::string(backbone) + " of " + std::to_string(filters) + " and " + std::to_string(pyramid) + " filters",
         .options = {{"backbone", std::string(backbone)}, {"base-filters", filters}, {"pyramid-filters", pyramid}},
         .wanted_steps = wanted_steps});
  };
  add("resnet50", 64, 256, 10000), add("resnet18", 64, 128, 5000), add("resnet18", 32, 64, 1000);
  add("resnet18", 16, 32, 1000);
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
