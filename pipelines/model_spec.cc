#include "pipelines/model_spec.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/ops/op_table.h"
#include "pipelines/tpu_config_model.h"

namespace voxshard {
namespace {

template <class Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array kLosses = {Named<LossKind>{"cross_entropy", LossKind::kCrossEntropy},
                                Named<LossKind>{"adaptive_dice32", LossKind::kAdaptiveDice32},
                                Named<LossKind>{"dice_ce", LossKind::kDiceCE}};
constexpr std::array kNorms = {Named<NormKind>{"batch", NormKind::kBatch}, Named<NormKind>{"instance", NormKind::kInstance},
                               Named<NormKind>{"none", NormKind::kNone}};
constexpr std::array kPrecisions = {Named<DType>{"bf16", DType::kBF16}, Named<DType>{"f32", DType::kF32}};

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
  throw Error(ErrorKind::kConfig, std::string("[config] ") + what + " \"" + std::string(name) + "\" is not known; expected " + names);
}

}  // namespace

const char* loss_name(LossKind loss) { return name_of(kLosses, loss); }
LossKind loss_from_name(std::string_view name) { return value_of(kLosses, name, "the loss"); }
const char* norm_name(NormKind norm) { return name_of(kNorms, norm); }
NormKind norm_from_name(std::string_view name) { return value_of(kNorms, name, "the norm"); }
DType precision_from_name(std::string_view name) { return value_of(kPrecisions, name, "the precision"); }

nlohmann::ordered_json to_json(const ModelSpec& spec) {
  return {{"model", spec.unet.spatial_axes == 3 ? "unet3d" : "unet2d"},
          {"base_filters", spec.unet.base_filters},
          {"depth", spec.unet.depth},
          {"channels", spec.unet.channels},
          {"classes", spec.unet.classes},
          {"norm", norm_name(spec.unet.norm)},
          {"slope", spec.unet.slope},
          {"deconvolution", spec.unet.deconvolution},
          {"loss", loss_name(spec.loss)},
          {"precision", dtype_name(spec.precision)},
          {"partition", to_string(spec.partition)},
          {"replicas", spec.replicas},
          {"norm_scope", spec.norm_over_replica ? "replica" : "all"},
          {"recompute", recompute_name(spec.recompute)},
          {"thinnest_slab", spec.cut.thinnest_slab},
          {"inputs", to_json(spec.cut.inputs)}};
}

ModelSpec model_spec_from_json(const nlohmann::json& json) {
  const std::string broken = "[checkpoint] its description of the model is broken: ";
  try {
    ModelSpec spec;
    const auto model = json.at("model").get<std::string>();
    if (model != "unet3d" && model != "unet2d") throw Error(ErrorKind::kCheckpoint, broken + "the model \"" + model + "\" is not known");
    spec.unet.spatial_axes = model == "unet2d" ? 2 : 3;
    spec.unet.base_filters = json.at("base_filters");
    spec.unet.depth = json.at("depth");
    spec.unet.channels = json.at("channels");
    spec.unet.classes = json.at("classes");
    spec.unet.norm = norm_from_name(json.at("norm").get<std::string>());
    spec.unet.slope = json.at("slope");
    spec.unet.deconvolution = json.at("deconvolution");
    spec.loss = loss_from_name(json.at("loss").get<std::string>());
    spec.precision = precision_from_name(json.at("precision").get<std::string>());
    spec.partition = partition_from_text(json.at("partition").get<std::string>(), spec.unet.spatial_axes + 2);
    spec.replicas = json.at("replicas");
    spec.norm_over_replica = json.at("norm_scope") == "replica";
    spec.recompute = recompute_from_name(json.value("recompute", "none"));
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
  for (const char* key : {"loss", "precision", "partition", "replicas", "norm_scope", "recompute", "thinnest_slab", "inputs"}) json.erase(key);
  return json.dump();
}

Graph build_graph(const ModelSpec& spec, const Shape& extents, Phase phase, DType dtype) {
  SegmentationOptions options{.batch = extents[0],
                              .dtype = dtype,
                              .loss = spec.loss,
                              .training = phase == Phase::kTrain,
                              .norm_replicas = spec.norm_over_replica && phase == Phase::kTrain ? spec.replicas : 1};
  for (int a = 1; a < extents.rank(); ++a) options.size.push_back(extents[a]);
  return build_unet(spec.unet, options, op_table());
}

SessionOptions session_options(const ModelSpec& spec, const BudgetOptions& budget) {
  return {.factory =
              [spec](const Shape& extents, Phase phase) {
                return with_recomputation(build_graph(spec, extents, phase, spec.precision), op_table(), spec.recompute);
              },
          .mesh = spec.mesh(),
          .cut = spec.cut,
          .core_budget_bytes = budget.core_bytes,
          .host_budget_bytes = budget.host_bytes,
          .optimizer_bytes = budget.optimizer_bytes};
}

Dims partition_from_text(std::string_view text, int rank) {
  constexpr std::int64_t kMostCores = 4096;  // a whole TPU v4 pod; far more than one machine emulates in useful time
  const Dims partition = parse_partition(text, rank);
  std::int64_t cores = 1;
  for (auto parts : partition) {
    if (parts > kMostCores / cores)
      throw Error(ErrorKind::kConfig, "[partition] \"" + std::string(text) + "\" asks for more than " + std::to_string(kMostCores) + " cores");
    cores *= parts;
  }
  return partition;
}

Shape extents_from_text(std::string_view size, int spatial_axes, std::int64_t batch) {
  constexpr std::int64_t kMostVoxels = std::int64_t{1} << 40;  // products with channels and bytes stay far from overflow
  Shape extents{batch};
  std::int64_t voxels = std::max<std::int64_t>(1, batch);
  std::size_t begin = 0;
  while (begin <= size.size()) {
    const std::size_t end = std::min(size.find('x', begin), size.size());
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(size.data() + begin, size.data() + end, value);
    if (error != std::errc() || stop != size.data() + end || value < 1 || extents.rank() > spatial_axes)
      throw Error(ErrorKind::kConfig, "[config] the size \"" + std::string(size) + "\" should be " +
                                          std::to_string(spatial_axes) + " positive whole numbers like " +
                                          (spatial_axes == 3 ? "128x128x128 (D H W)" : "512x512 (H W)"));
    if (value > kMostVoxels / voxels)
      throw Error(ErrorKind::kConfig, "[config] the size \"" + std::string(size) + "\" is more than 2^40 voxels in all");
    voxels *= value;
    extents.push_back(value);
    begin = end + 1;
  }
  if (extents.rank() != spatial_axes + 1)
    throw Error(ErrorKind::kConfig, "[config] the size \"" + std::string(size) + "\" should have " +
                                        std::to_string(spatial_axes) + " numbers");
  return extents;
}

std::int64_t bytes_from_text(std::string_view text) {
  constexpr std::array kUnits = {Named<double>{"", 1.0},          Named<double>{"B", 1.0},
                                 Named<double>{"KiB", 0x1p10},    Named<double>{"MiB", 0x1p20},
                                 Named<double>{"GiB", 0x1p30},    Named<double>{"TiB", 0x1p40}};
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (error == std::errc() && std::isfinite(value))
    for (const auto& row : kUnits)
      if (unit == row.name && value * row.value >= 1 && value * row.value < 0x1p63) return static_cast<std::int64_t>(value * row.value);
  throw Error(ErrorKind::kConfig, "[config] the memory \"" + std::string(text) + "\" should be a number with a unit, like 1500MiB or 2GiB");
}

nlohmann::ordered_json memory_json(const Executable& executable, int workers, std::int64_t optimizer_bytes) {
  nlohmann::ordered_json cores = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < executable.memory.arenas.size(); ++c) cores.push_back(executable.core_bytes(c, optimizer_bytes));
  return {{"bytes_per_core", cores},
          {"arenas_bytes", executable.memory.all_arena_bytes()},
          {"process_bytes", executable.memory.process.bytes + executable.memory.parameter_bytes +
                                executable.kernels.total_packed_bytes() + optimizer_bytes},
          {"workspace_bytes", workers * executable.kernels.workspace_bytes},
          {"host_bytes", executable.host_bytes(workers, optimizer_bytes)}};
}

}  // namespace voxshard
