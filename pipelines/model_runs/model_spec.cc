#include "pipelines/model_runs/model_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/ops/op_table.h"

namespace voxshard {

std::vector<PlacedInput> placed_targets(const Model& model, const InputPlacement& placement) {
  std::vector<PlacedInput> placed;
  for (const std::string& name : model.targets) placed.push_back({name, placement});
  return placed;
}

ModelSpec usual_spec(const std::shared_ptr<const Model>& model) {
  return {.model = model,
          .cut = {.mesh = {.partition = Dims::filled(model->spatial_axes + 2, 1)},
                  .inputs = placed_targets(*model, {.kind = InputPlacement::Kind::kWhereDivisible}),
                  .recompute = model->recompute}};
}

ModelSpec retinanet_spec(const RetinaNetConfig& config) {
  ModelSpec spec = usual_spec(model_named(model_table(), "retinanet"));
  spec.config = config;
  return spec;
}

namespace {

/// Errors: kConfig.
const ConfigField& field_of(const Model& model, std::string_view name) {
  const auto row = std::ranges::find(model.fields, name, &ConfigField::name);
  if (row != model.fields.end()) return *row;
  throw Error(ErrorKind::kConfig, "[config] " + model.name + " has no field " + std::string(name));
}

}  // namespace

void ModelSpec::set(std::string_view name, const FieldValue& value) { field_of(*model, name).set(config, value); }

FieldValue ModelSpec::get(std::string_view name) const { return field_of(*model, name).get(config); }

Graph build_graph(const ModelSpec& spec, const Shape& extents, Phase phase, DType dtype) {
  const bool training = phase == Phase::kTrain, evaluating = phase == Phase::kEvaluate;
  const auto parts = [&](bool over_replica) { return over_replica ? spec.cut.mesh.replicas : 1; };
  Dims size;
  for (int a = 1; a < extents.axes(); ++a) size.push_back(extents[a]);
  return spec.model->build(spec.config,
                           {.batch = extents[0],
                            .size = size,
                            .dtype = dtype,
                            .training = training,
                            .evaluating = evaluating,
                            .norm_replicas = parts(spec.norm_over_replica && training),
                            .loss_replicas = parts(evaluating || (spec.loss_over_replica && training))},
                           op_table());
}

Session::Lower lowering_of(const ModelSpec& spec, const Budget& budget, const Target& target) {
  return [=](const Shape& extents, Phase phase) {
    return lower_within(budget, build_graph(spec, extents, phase, spec.precision), op_table(), spec.cut, target);
  };
}

Dims partition_from_text(std::string_view text, int rank) {
  constexpr std::int64_t kMostCores = 4096;  // a whole TPU v4 pod; far more than one machine emulates in useful time
  const Dims partition = parse_partition(text, rank);
  std::int64_t cores = 1;
  for (auto parts : partition) {
    if (parts > kMostCores / cores)
      throw Error(ErrorKind::kConfig, "[partition] \"" + std::string(text) + "\" asks for more than " +
                                          std::to_string(kMostCores) + " cores");
    cores *= parts;
  }
  return partition;
}

int partition_rank(std::string_view text) {
  return 1 + static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return c == 'x' || c == ','; }));
}

Shape extents_from_text(std::string_view size, int spatial_axes, std::int64_t batch) {
  constexpr std::int64_t kMostVoxels = std::int64_t{1}
                                       << 40;  // products with channels and bytes stay far from overflow
  Shape extents{batch};
  std::int64_t voxels = std::max<std::int64_t>(1, batch);
  std::size_t begin = 0;
  while (begin <= size.size()) {
    const std::size_t end = std::min(size.find('x', begin), size.size());
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(size.data() + begin, size.data() + end, value);
    if (error != std::errc() || stop != size.data() + end || value < 1 || extents.axes() > spatial_axes)
      throw Error(ErrorKind::kConfig, "[config] the size \"" + std::string(size) + "\" should be " +
                                          std::to_string(spatial_axes) + " positive whole numbers like " +
                                          (spatial_axes == 3 ? "128x128x128 (D H W)" : "512x512 (H W)"));
    if (value > kMostVoxels / voxels)
      throw Error(ErrorKind::kConfig,
                  "[config] the size \"" + std::string(size) + "\" is more than 2^40 voxels in all");
    voxels *= value;
    extents.push_back(value);
    begin = end + 1;
  }
  if (extents.axes() != spatial_axes + 1)
    throw Error(ErrorKind::kConfig, "[config] the size \"" + std::string(size) + "\" should have " +
                                        std::to_string(spatial_axes) + " numbers");
  return extents;
}

std::int64_t bytes_from_text(std::string_view text) {
  struct Unit {
    const char* name;
    double bytes;
  };
  constexpr std::array kUnits = {Unit{"", 1.0},       Unit{"B", 1.0},      Unit{"KiB", 0x1p10},
                                 Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (error == std::errc() && std::isfinite(value))
    for (const Unit& row : kUnits)
      if (unit == row.name && value * row.bytes >= 1 && value * row.bytes < 0x1p63)
        return static_cast<std::int64_t>(value * row.bytes);
  throw Error(ErrorKind::kConfig,
              "[config] the memory \"" + std::string(text) + "\" should be a number with a unit, like 1500MiB or 2GiB");
}

nlohmann::ordered_json memory_json(const Footprint& bytes) {
  nlohmann::ordered_json cores = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < bytes.arenas.size(); ++c) cores.push_back(bytes.core(c));
  return {{"bytes_per_core", cores},
          {"arenas_bytes", bytes.all_arenas()},
          {"process_bytes", bytes.shared()},
          {"workspace_bytes", bytes.workspaces},
          {"host_bytes", bytes.process()}};
}

}  // namespace voxshard
