// The names of a spec's choices, and the spec as JSON and back.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pipelines/runs/model_spec.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array kLosses = {Named<LossKind>{"cross_entropy", LossKind::kCrossEntropy},
                                Named<LossKind>{"adaptive_dice32", LossKind::kAdaptiveDice32},
                                Named<LossKind>{"dice_ce", LossKind::kDiceCE}};
constexpr std::array kNorms = {Named<NormKind>{"batch", NormKind::kBatch},
                               Named<NormKind>{"instance", NormKind::kInstance},
                               Named<NormKind>{"none", NormKind::kNone}};
constexpr std::array kPrecisions = {Named<DType>{"bf16", DType::kBF16}, Named<DType>{"f32", DType::kF32}};
constexpr std::array kBackbones = {Named<Backbone>{"resnet18", Backbone::kResNet18},
                                   Named<Backbone>{"resnet50", Backbone::kResNet50}};
constexpr std::array kVariants = {Named<RetinaNetVariant>{"detection", RetinaNetVariant::kDetection},
                                  Named<RetinaNetVariant>{"legacy", RetinaNetVariant::kLegacy}};

template <class Table, class Value>
const char* name_of(const Table& table, Value value) {
  for (const auto& row : table)
    if (row.value == value) return row.name;
  return "?";
}

template <class Table>
auto value_of(const Table& table, std::string_view name, const char* what) {
  std::string names;
  for (const auto& row : table) {
    if (name == row.name) return row.value;
    names += std::string(names.empty() ? "" : ", ") + row.name;
  }
  throw Error(ErrorKind::kConfig,
              std::string("[config] ") + what + " \"" + std::string(name) + "\" is not known; expected " + names);
}

Json to_json(const UNetConfig& unet, LossKind loss) {
  return {{"base_filters", unet.base_filters},   {"depth", unet.depth},
          {"channels", unet.channels},           {"classes", unet.classes},
          {"norm", norm_name(unet.norm)},        {"slope", unet.slope},
          {"deconvolution", unet.deconvolution}, {"loss", loss_name(loss)}};
}

Json to_json(const RetinaNetConfig& net) {
  return {{"backbone", backbone_name(net.backbone)},
          {"variant", variant_name(net.variant)},
          {"base_filters", net.filters},
          {"pyramid_filters", net.pyramid_filters},
          {"channels", net.channels},
          {"classes", net.classes},
          {"norm_momentum", net.norm_momentum}};
}

void read_unet(const nlohmann::json& json, ModelSpec& spec) {
  spec.unet.base_filters = json.at("base_filters");
  spec.unet.depth = json.at("depth");
  spec.unet.channels = json.at("channels");
  spec.unet.classes = json.at("classes");
  spec.unet.norm = norm_from_name(json.at("norm").get<std::string>());
  spec.unet.slope = json.at("slope");
  spec.unet.deconvolution = json.at("deconvolution");
  spec.loss = loss_from_name(json.at("loss").get<std::string>());
}

void read_retinanet(const nlohmann::json& json, RetinaNetConfig& net) {
  net.backbone = backbone_from_name(json.at("backbone").get<std::string>());
  net.variant = variant_from_name(json.at("variant").get<std::string>());
  net.filters = json.at("base_filters");
  net.pyramid_filters = json.at("pyramid_filters");
  net.channels = json.at("channels");
  net.classes = json.at("classes");
  net.norm_momentum = json.at("norm_momentum");
}

using Kind = InputPlacement::Kind;

struct NamedKind {
  const char* name;
  Kind kind;
};

constexpr std::array kPlacementNames = {NamedKind{"replicated", Kind::kReplicated}, NamedKind{"first core", Kind::kFirstCore},
                                        NamedKind{"where divisible", Kind::kWhereDivisible}};

Json to_json(const std::vector<PlacedInput>& inputs) {
  Json json = Json::object();
  for (const auto& [name, placement] : inputs) {
    const auto known = std::ranges::find(kPlacementNames, placement.kind, &NamedKind::kind);
    json[name] = known == kPlacementNames.end() ? to_string(placement.grid) : known->name;
  }
  return json;
}

std::vector<PlacedInput> inputs_from_json(const nlohmann::json& json) {
  std::vector<PlacedInput> inputs;
  for (const auto& [name, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    InputPlacement& placement = inputs.emplace_back(PlacedInput{name, {}}).placement;
    const auto known = std::ranges::find(kPlacementNames, text, &NamedKind::name);
    if (known != kPlacementNames.end())
      placement.kind = known->kind;
    else
      placement.grid = parse_partition(text, static_cast<int>(std::count(text.begin(), text.end(), 'x')) + 1);
  }
  return inputs;
}

}  // namespace

const char* loss_name(LossKind loss) { return name_of(kLosses, loss); }
LossKind loss_from_name(std::string_view name) { return value_of(kLosses, name, "the loss"); }
const char* norm_name(NormKind norm) { return name_of(kNorms, norm); }
NormKind norm_from_name(std::string_view name) { return value_of(kNorms, name, "the norm"); }
DType precision_from_name(std::string_view name) { return value_of(kPrecisions, name, "the precision"); }
const char* backbone_name(Backbone backbone) { return name_of(kBackbones, backbone); }
Backbone backbone_from_name(std::string_view name) { return value_of(kBackbones, name, "the backbone"); }
const char* variant_name(RetinaNetVariant variant) { return name_of(kVariants, variant); }
RetinaNetVariant variant_from_name(std::string_view name) { return value_of(kVariants, name, "the variant"); }

const char* ModelSpec::model_name() const {
  if (detects()) return "retinanet";
  return unet.spatial_axes == 3 ? "unet3d" : "unet2d";
}

Json to_json(const ModelSpec& spec) {
  Json json = {{"model", spec.model_name()}};
  json.update(spec.detects() ? to_json(spec.retinanet) : to_json(spec.unet, spec.loss));
  json.update({{"precision", dtype_name(spec.precision)},
               {"partition", to_string(spec.cut.mesh.partition)},
               {"replicas", spec.cut.mesh.replicas},
               {"norm_scope", spec.norm_over_replica ? "replica" : "all"},
               {"recompute", recompute_name(spec.cut.recompute)},
               {"thinnest_slab", spec.cut.thinnest_slab},
               {"inputs", to_json(spec.cut.inputs)}});
  return json;
}

ModelSpec model_spec_from_json(const nlohmann::json& json) {
  const std::string broken = "[checkpoint] its description of the model is broken: ";
  try {
    ModelSpec spec;
    const auto model = json.at("model").get<std::string>();
    if (model != "unet3d" && model != "unet2d" && model != "retinanet")
      throw Error(ErrorKind::kCheckpoint, broken + "the model \"" + model + "\" is not known");
    spec.kind = model == "retinanet" ? ModelKind::kRetinaNet : ModelKind::kUNet;
    spec.unet.spatial_axes = model == "unet2d" ? 2 : 3;
    if (spec.detects())
      read_retinanet(json, spec.retinanet);
    else
      read_unet(json, spec);
    spec.precision = precision_from_name(json.at("precision").get<std::string>());
    spec.cut.mesh.partition = partition_from_text(json.at("partition").get<std::string>(), spec.spatial_axes() + 2);
    spec.cut.mesh.replicas = json.at("replicas");
    spec.norm_over_replica = json.at("norm_scope") == "replica";
    spec.cut.recompute = recompute_from_name(json.value("recompute", "none"));
    spec.cut.thinnest_slab = json.value("thinnest_slab", std::int64_t{0});
    spec.cut.inputs = inputs_from_json(json.value("inputs", nlohmann::json::object()));
    return spec;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::kCheckpoint, broken + e.what());
  } catch (const Error& e) {  // a name or a partition
    throw Error(ErrorKind::kCheckpoint, e.kind() == ErrorKind::kCheckpoint ? e.what() : broken + e.what());
  }
}

std::string architecture_text(const ModelSpec& spec) {
  auto json = to_json(spec);
  for (const char* key : {"loss", "norm_momentum", "precision", "partition", "replicas", "norm_scope", "recompute",
                          "thinnest_slab", "inputs"})
    json.erase(key);
  return json.dump();
}

}  // namespace voxshard
