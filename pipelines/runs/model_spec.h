// Which model is trained, at which precision, cut how: what a checkpoint must agree on, and what the engine needs to build
// a session. Stored as JSON in run.json and in each checkpoint.
//
//   ModelSpec spec{.unet = {.base_filters = 8}, .cut = {.mesh = {.partition = {1, 2, 2, 2, 1}}}};
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

enum class ModelKind { kUNet, kRetinaNet };

struct ModelSpec {
  ModelKind kind = ModelKind::kUNet;
  UNetConfig unet;                    // 3 spatial axes: unet3d, 2: unet2d
  RetinaNetConfig retinanet;          // what counts when `kind` says so; norm and loss are then its own
  LossKind loss = LossKind::kDiceCE;  // of a U-Net
  DType precision = DType::kBF16;     // of activations and products; sums and weights are f32 or wider
  bool norm_over_replica = false;     // batch norm per replica instead of over the whole batch
  Cut cut = {.mesh = {.partition = {1, 1, 1, 1, 1}}};

  int spatial_axes() const { return kind == ModelKind::kRetinaNet ? 2 : unet.spatial_axes; }
  bool detects() const { return kind == ModelKind::kRetinaNet; }
  std::int64_t channels() const { return detects() ? retinanet.channels : unet.channels; }
  /// "unet3d", "unet2d", "retinanet".
  const char* model_name() const;
};

/// The same placement for all of a detector's targets, which a TPUConfig knows as one tensor.
std::vector<PlacedInput> placed_targets(const InputPlacement& placement);

/// A detector on one core, its targets placed as the original places them (InputPlacement::Kind::kWhereDivisible).
ModelSpec retinanet_spec(const RetinaNetConfig& config);

const char* loss_name(LossKind loss);            // "cross_entropy", "adaptive_dice32", "dice_ce"
LossKind loss_from_name(std::string_view name);  // Errors: kConfig lists the names
const char* norm_name(NormKind norm);            // "batch", "instance", "none"
NormKind norm_from_name(std::string_view name);
DType precision_from_name(std::string_view name);  // "bf16", "f32"
const char* backbone_name(Backbone backbone);      // "resnet18", "resnet50"
Backbone backbone_from_name(std::string_view name);
const char* variant_name(RetinaNetVariant variant);  // "detection", "legacy"
RetinaNetVariant variant_from_name(std::string_view name);

nlohmann::ordered_json to_json(const ModelSpec& spec);
/// Errors: kCheckpoint names what is missing or wrong.
ModelSpec model_spec_from_json(const nlohmann::json& json);

/// The part of the spec that decides which tensors a checkpoint has, as text; equal texts fit each other.
std::string architecture_text(const ModelSpec& spec);

/// The training graph up to its loss, or the prediction graph, for `extents` (N and the spatial axes).
Graph build_graph(const ModelSpec& spec, const Shape& extents, Phase phase, DType dtype);

/// How a session lowers the model for the sizes that it meets. `target`: this host's, with the workers that will run it.
Session::Lower lowering_of(const ModelSpec& spec, const Budget& budget, const Target& target);

/// parse_partition for at most 4096 cores in all. Errors: kConfig.
Dims partition_from_text(std::string_view text, int rank);
/// How many entries a partition as text has: for one whose model is not known yet.
int partition_rank(std::string_view text);

/// "128x96x128" -> {1, 128, 96, 128} with `batch`. Errors: kConfig for anything else than `spatial_axes` positive numbers
/// of at most 2^40 voxels in all.
Shape extents_from_text(std::string_view size, int spatial_axes, std::int64_t batch);
/// "512MiB", "2GiB", "1500000000" -> bytes, at least 1. Errors: kConfig.
std::int64_t bytes_from_text(std::string_view text);

/// What a run takes: for reports and logs.
nlohmann::ordered_json memory_json(const Footprint& bytes);

}  // namespace voxshard
