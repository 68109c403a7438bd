// A spec as JSON and back.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pipelines/model_runs/model_spec.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

Json config_json(const ModelSpec& spec, bool only_shapes) {
  Json json = {{"model", spec.model_name()}};
  for (const ConfigField& row : spec.model->fields)
    if (row.shapes || !only_shapes)
      std::visit([&](const auto& value) { json[row.name] = value; }, row.get(spec.config));
  return json;
}

FieldValue value_of(const nlohmann::json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

const char* scope_name(bool over_replica) { return over_replica ? "replica" : "all"; }

using Kind = InputPlacement::Kind;

constexpr std::int64_t kMostReplicas = 4096;  // as on the command line

constexpr std::array<std::string_view, 4> kPlacements = {"", "replicated", "first core", "where divisible"};  // by Kind

Json to_json(const std::vector<PlacedInput>& inputs) {
  Json json = Json::object();
  for (const auto& [name, placement] : inputs)
    json[name] = placement.kind == Kind::kCut ? to_string(placement.grid)
                                              : kPlacements[static_cast<std::size_t>(placement.kind)];
  return json;
}

std::vector<PlacedInput> inputs_from_json(const nlohmann::json& json) {
  std::vector<PlacedInput> inputs;
  for (const auto& [name, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    InputPlacement& placement = inputs.emplace_back(PlacedInput{name, {}}).placement;
    const auto known = std::ranges::find(kPlacements, text);
    if (!text.empty() && known != kPlacements.end())
      placement.kind = static_cast<Kind>(known - kPlacements.begin());
    else
      placement.grid = parse_partition(text, partition_rank(text));
  }
  return inputs;
}

}  // namespace

DType precision_from_name(std::string_view name) {
  for (const DType dtype : {DType::kBF16, DType::kF32})
    if (name == dtype_name(dtype)) return dtype;
  refuse_name("the precision", name, {"bf16", "f32"});
}

Convolution convolution_from_name(std::string_view name) {
  for (const Convolution choice : kConvolutionChoices)
    if (name == kConvolutionNames[static_cast<std::size_t>(choice)]) return choice;
  refuse_name("the convolution", name, {std::begin(kConvolutionNames), std::end(kConvolutionNames)});
}

Json to_json(const ModelSpec& spec) {
  Json json = config_json(spec, false);
  json.update({{"precision", dtype_name(spec.precision)},
               {"partition", to_string(spec.cut.mesh.partition)},
               {"replicas", spec.cut.mesh.replicas},
               {"norm_scope", scope_name(spec.norm_over_replica)},
               {"loss_scope", scope_name(spec.loss_over_replica)},
               {"recompute", recompute_name(spec.cut.recompute)},
               {"thinnest_slab", spec.cut.thinnest_slab},
               {"convolution", kConvolutionNames[static_cast<std::size_t>(spec.cut.convolution)]},
               {"inputs", to_json(spec.cut.inputs)}});
  return json;
}

ModelSpec model_spec_from_json(const nlohmann::json& json, const ModelTable& models) {
  const std::string broken = "[checkpoint] its description of the model is broken: ";
  try {
    ModelSpec spec = usual_spec(model_named(models, json.at("model").get<std::string>()));
    for (const ConfigField& row : spec.model->fields)
      if (!row.newer || json.contains(row.name)) row.set(spec.config, value_of(json.at(row.name)));
    spec.precision = precision_from_name(json.at("precision").get<std::string>());
    spec.cut.mesh.partition = partition_from_text(json.at("partition").get<std::string>(), spec.spatial_axes() + 2);
    spec.cut.mesh.replicas = json.at("replicas");
    if (spec.cut.mesh.replicas < 1 || spec.cut.mesh.replicas > kMostReplicas)
      throw Error(ErrorKind::kCheckpoint, "replicas is " + std::to_string(spec.cut.mesh.replicas));
    spec.norm_over_replica = json.at("norm_scope") == "replica";
    spec.loss_over_replica = json.at("loss_scope") == "replica";
    spec.cut.recompute = recompute_from_name(json.at("recompute").get<std::string>());
    spec.cut.thinnest_slab = json.at("thinnest_slab");
    spec.cut.convolution = convolution_from_name(json.at("convolution").get<std::string>());
    if (spec.cut.thinnest_slab < 0) throw Error(ErrorKind::kCheckpoint, "thinnest_slab is below 0");
    spec.cut.inputs = inputs_from_json(json.at("inputs"));
    return spec;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  } catch (const Error& e) {  // from a name or a partition
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  }
}

std::string architecture_text(const ModelSpec& spec) { return config_json(spec, true).dump(); }

}  // namespace voxshard
