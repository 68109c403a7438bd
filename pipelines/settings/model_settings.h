// Which model, at which precision, cut how, as settings: shared by train, plan, verify, bench and explain.
//
//   ModelSettings model;
//   settings.add(model_rows(model, false));       // "model", "base-filters", ..., "partition", the fields of TPUConfig
//   ModelSpec spec = model_spec(model, batch);
#pragma once

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/settings/setting.h"
#include "pipelines/settings/tpu_settings.h"

namespace voxshard {

struct ModelSettings {
  ModelTable models = model_table();
  std::string model = models.front()->name;
  std::map<std::string, FieldValue> given;  // of the model's config, by the setting's name
  std::int64_t cores = 0, replicas = 1;
  std::int64_t slice_cores =
      0;                       // of the slice that {device} names; the system of a TPUConfig where {cores} is not given
  bool fits_replicas = false;  // {device} auto: where the batch is no multiple of the replicas, as many as share it
  std::string precision = "bf16", norm_scope, loss_scope, partition;  // empty: not cut
  std::string recompute, convolution = "fast";                        // recompute empty: what is usual for the model
  std::int64_t thinnest_slab = 0;
  std::int64_t core_budget_bytes = 0;  // 0: no limit
  TpuSettings tpu;

  /// True when the partition is to be planned.
  bool is_planned() const { return partition == "auto"; }
};

/// A number of bytes, such as 8GiB. `bytes` stays as it is where nobody says one.
Setting memory_row(const std::string& name, std::int64_t& bytes, const std::string& help,
                   const std::string& group = "");

/// `fixed_data`: the channels and classes come from a data set, not from settings.
std::vector<Setting> model_rows(ModelSettings& settings, bool fixed_data);
/// True for a field of other models that the chosen one lacks.
bool is_of_another_model(const ModelSettings& settings, const std::string& name);

/// `batch`: samples of a step, which the replicas of a TPUConfig must share evenly.
/// Errors: kConfig for a partition of the wrong rank, entries below 1, or a product that is not {cores}; for a setting
/// of another model; for a TPUConfig that breaks a condition, or that is given beside {partition} or other {replicas}.
ModelSpec model_spec(const ModelSettings& settings, std::int64_t batch);
/// The replicas that were asked for, whatever the batch.
std::int64_t wanted_replicas(const ModelSettings& settings, const ModelSpec& spec);

}  // namespace voxshard
