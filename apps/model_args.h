// The options that say which model, at which precision, cut how; shared by train, verify, bench and explain.
#pragma once

#include <string>
#include <vector>

#include "apps/tpu_args.h"
#include "pipelines/runs/model_spec.h"

namespace CLI {
class App;
}

namespace voxshard {

struct ModelArgs {
  ModelTable models = model_table();
  std::string model = models.front()->name;
  std::vector<std::pair<std::string, FieldValue>> given;  // of the model's config, by the option's name
  std::int64_t cores = 0, replicas = 1;
  std::int64_t slice_cores = 0;  // of the slice that --device names; the system of a TPUConfig where --cores is not given
  bool fits_replicas = false;    // --device auto: where the batch is no multiple of the replicas, as many as share it
  std::string precision = "bf16", norm_scope, loss_scope, partition;  // empty: not cut
  std::string recompute, convolution = "fast";  // recompute empty: what is usual for the model
  std::int64_t thinnest_slab = 0;
  std::int64_t memory_bytes = 0;              // per core; 0: no limit
  TpuArgs tpu;
};

/// `fixed_data`: the channels and classes come from a data set, not from options.
void add_model_options(CLI::App& app, ModelArgs& args, bool fixed_data);
/// `batch`: samples of a step, which the replicas of a TPUConfig must share evenly.
/// Errors: kConfig for a partition of the wrong rank, entries below 1, or a product that is not --cores; for an option of
/// another model; for a TPUConfig that breaks a condition, or that is given beside --partition or other --replicas.
ModelSpec model_spec(const ModelArgs& args, std::int64_t batch);
/// The replicas that were asked for, whatever the batch.
std::int64_t wanted_replicas(const ModelArgs& args, const ModelSpec& spec);
/// `batch` and --size, `size`; where it was not given and the model has only one, that. Errors: as extents_from_text.
Shape sized_extents(const CLI::App& app, const std::string& size, const ModelSpec& spec, std::int64_t batch);
inline std::int64_t core_budget_bytes(const ModelArgs& args) { return args.memory_bytes; }

}  // namespace voxshard
