#include "pipelines/commands/run_explain.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/text.h"
#include "pipelines/emulation/explain_passes.h"
#include "pipelines/emulation/tpu_fit.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

/// True when the model's loss is computed per sample, whatever its scope.
bool loss_sees_each_sample(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    const auto* attrs = std::get_if<SegmentationAttrs>(&node.attrs);
    return attrs != nullptr && is_per_sample(attrs->loss);
  });
}

/// Returns the scope of the first of these ops in the graph: "norms: sums over 16 cores and 4 of 32 samples"; empty
/// when there is none.
std::string sums_text(const Graph& graph, const char* what, const std::vector<std::string>& ops, const Mesh& mesh) {
  for (const Node& node : graph.nodes()) {
    if (std::ranges::count(ops, node.op) == 0) continue;
    const auto [groups, batch] = std::visit(
        []<class Attrs>(const Attrs& a) -> std::pair<std::int64_t, std::int64_t> {
          if constexpr (requires { a.groups, a.batch; }) return {a.groups, a.batch};
          return {1, 1};
        },
        node.attrs);
    const std::int64_t cores = groups % mesh.replicas == 0 ? mesh.cores_per_replica() : mesh.cores();
    return std::string(what) + ": sums over " + std::to_string(cores) + " of " + std::to_string(mesh.cores()) +
           " cores and " + std::to_string(batch / groups) + " of " + std::to_string(batch) + " samples\n";
  }
  return {};
}

/// Returns the configuration, one field per line, including defaults; then the scope of norms and losses.
std::string config_text(const ModelSpec& spec, const Shape& extents) {
  nlohmann::ordered_json json = to_json(spec);
  for (const ConfigField& row : spec.model->fields)  // also fields that checkpoints leave out
    std::visit([&](const auto& value) { json[row.name] = value; }, row.get(spec.config));
  const Graph graph = build_graph(spec, extents, Phase::kTrain, spec.precision);
  json["loss_scope"] = loss_sees_each_sample(graph) ? "each sample" : spec.loss_over_replica ? "replica" : "all";
  std::string text;
  for (const auto& [name, value] : json.items()) text += name + " = " + value.dump() + "\n";
  return text + "batch = " + std::to_string(extents[0]) + "\n" +
         sums_text(graph, "norms", {"moment_sums"}, spec.cut.mesh) +
         sums_text(graph, "loss", {"segmentation_sums", "detection_sums"}, spec.cut.mesh);
}

std::string passes_of(const ModelSpec& spec, const Shape& extents, const std::string& name) {
  const auto device = name == "host" ? nullptr : device_from_name(name).device;
  if (device == nullptr || device->tpu() == nullptr)
    throw Error(ErrorKind::kConfig, "[explain] the passes of a cut are those of a TPU; \"" + name +
                                        "\" is none: name one with {device}, like tpu-v3, or leave it out");
  const Graph graph = build_graph(spec, extents, Phase::kTrain, spec.precision);
  const Lowered lowered = lower_for_tpu(graph, spec.cut, OptimizerKind::kAdam, *device->tpu()).lowered;
  return passes_text(lowered.program, device->price(lowered.program, op_table(), {}), device->name());
}

}  // namespace

std::string run_explain(const ModelSpec& spec, const Shape& extents, const std::string& stage,
                        const std::string& device) {
  if (stage == "config") return config_text(spec, extents);
  if (stage == "passes") return passes_of(spec, extents, device);
  if (stage == "graph")
    return to_text(verified(build_graph(spec, extents, Phase::kPredict, spec.precision), op_table()));
  const Graph graph = build_graph(spec, extents, Phase::kTrain, spec.precision);
  if (stage == "grad") return to_text(verified(step_graph(graph, op_table(), spec.cut.recompute), op_table()));
  if (stage == "program") return to_text(lower_verified(graph, op_table(), spec.cut, {}).program);
  if (stage == "memory") {
    const Executable executable = lower(graph, op_table(), spec.cut, {});
    return to_text(executable.program, executable.memory);
  }
  throw Error(ErrorKind::kConfig, "[explain] the stage \"" + stage +
                                      "\" is not known; expected config, graph, grad, program, memory, passes");
}

}  // namespace voxshard
