// The specification of a model: architecture, precision and partition. A checkpoint must agree with it, and the engine
// builds a session from it. Stored as JSON in run.json and in each checkpoint.
//
//   ModelSpec spec{.cut = {.mesh = {.partition = {1, 2, 2, 2, 1}}}};   // the first model of the table
//   spec.set("base_filters", std::int64_t{8});
//   ModelSpec detector = retinanet_spec({.backbone = Backbone::kResNet18, .classes = 4});
//   Session session(op_table(), lowering_of(spec, {}, {}), pool);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "libcore/graph/recompute.h"
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"
#include "libcore/planner/budget.h"
#include "libcore/runtime/session.h"

namespace voxshard {

struct ModelSpec {
  std::shared_ptr<const Model> model = model_table().front();
  std::any config = model->config;  // the model's own config struct
  DType precision = DType::kBF16;   // for activations and products; sums and weights are f32 or wider
  bool norm_over_replica = false;   // true: batch norm per replica instead of over the whole batch
  bool loss_over_replica = false;   // true: the loss is the mean of the losses of the replicas
  Cut cut = {.mesh = {.partition = {1, 1, 1, 1, 1}}};

  int spatial_axes() const { return model->spatial_axes; }
  const std::string& model_name() const { return model->name; }
  /// The extents of a prediction are rounded up to a multiple of this number.
  std::int64_t multiple() const { return model->multiple != nullptr ? model->multiple(config) : 1; }
  /// The config as its own type. Requires that it has this type.
  template <class Config>
  Config& as() {
    return std::any_cast<Config&>(config);
  }
  template <class Config>
  const Config& as() const {
    return std::any_cast<const Config&>(config);
  }
  /// Sets a field by its name. Errors: kConfig for one that the model lacks or that is out of its limits.
  void set(std::string_view field, const FieldValue& value);
  /// The value of a field. Errors: kConfig for one that the model lacks.
  FieldValue get(std::string_view field) const;
};

/// Returns the same placement for all targets of a model, which a TPUConfig treats as one tensor.
std::vector<PlacedInput> placed_targets(const Model& model, const InputPlacement& placement);

/// Returns a model with its default values on one core, with targets placed as in the original
/// (InputPlacement::Kind::kWhereDivisible).
ModelSpec usual_spec(const std::shared_ptr<const Model>& model);
ModelSpec retinanet_spec(const RetinaNetConfig& config);

DType precision_from_name(std::string_view name);          // "bf16", "f32". Errors: kConfig lists the names
Convolution convolution_from_name(std::string_view name);  // "fast", "exact". Errors: kConfig lists the names

nlohmann::ordered_json to_json(const ModelSpec& spec);
/// Errors: kCheckpoint names what is missing or wrong.
ModelSpec model_spec_from_json(const nlohmann::json& json, const ModelTable& models = model_table());

/// Returns the part of the spec that decides which tensors a checkpoint has, as text; specs with equal texts are
/// compatible.
std::string architecture_text(const ModelSpec& spec);

/// Builds the training graph up to its loss, the prediction graph, or the evaluation graph, whose loss is the mean over
/// the replicas, for `extents` (N and the spatial axes).
Graph build_graph(const ModelSpec& spec, const Shape& extents, Phase phase, DType dtype);

/// Returns the function with which a session lowers the model for each new size. `target`: this host, with the workers
/// that will run it.
Session::Lower lowering_of(const ModelSpec& spec, const Budget& budget, const Target& target);

/// parse_partition for at most 4096 cores in all. Errors: kConfig.
Dims partition_from_text(std::string_view text, int rank);
/// Returns the number of entries in a partition text, for use before the model is known.
int partition_rank(std::string_view text);

/// "128x96x128" -> {1, 128, 96, 128} for `batch` 1. Errors: kConfig for anything but `spatial_axes` positive numbers
/// of at most 2^40 voxels in all.
Shape extents_from_text(std::string_view size, int spatial_axes, std::int64_t batch);
/// "512MiB", "2GiB", "1500000000" -> bytes, at least 1. Errors: kConfig.
std::int64_t bytes_from_text(std::string_view text);

/// Returns the memory of a run, for reports and logs.
nlohmann::ordered_json memory_json(const Footprint& bytes);

}  // namespace voxshard
