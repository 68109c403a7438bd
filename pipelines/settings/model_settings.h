// Settings of the model, its precision and its partition: shared by train, plan, verify, bench and explain.
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
  std::map<std::string, FieldValue> given;  // given fields of the model's config, by the setting's name
  std::int64_t cores = 0, replicas = 1;
  std::int64_t slice_cores = 0;  // cores of the slice that {device} names; used for a TPUConfig without {cores}
  bool fits_replicas = false;    // {device} auto: the number of replicas is lowered until they share the batch evenly
  std::string precision = "bf16", norm_scope, loss_scope, partition;  // empty partition: not cut
  std::string recompute, convolution = "fast";                        // empty recompute: the model's default
  std::int64_t thinnest_slab = 0;
  std::int64_t core_budget_bytes = 0;  // 0: no limit
  TpuSettings tpu;

  /// True when the partition is to be planned.
  bool is_planned() const { return partition == "auto"; }
};

/// Returns the row of a number of bytes, such as 8GiB. `bytes` is unchanged when the setting is not given.
Setting memory_row(const std::string& name, std::int64_t& bytes, const std::string& help,
                   const std::string& group = "");

/// Returns the rows of these settings. `fixed_data`: the channels and classes come from a data set, not from settings.
std::vector<Setting> model_rows(ModelSettings& settings, bool fixed_data);
/// Returns true for a field of other models that the chosen one lacks.
bool is_of_another_model(const ModelSettings& settings, const std::string& name);

/// Returns the model of the settings. `batch`: samples per step, which the replicas of a TPUConfig must share evenly.
/// Errors: kConfig for a partition of the wrong rank, entries below 1, or a product that is not {cores}; for a setting
/// of another model; for a TPUConfig that breaks a condition, or that is given beside {partition} or other {replicas}.
ModelSpec model_spec(const ModelSettings& settings, std::int64_t batch);
/// Returns the number of replicas that was requested, independent of the batch.
std::int64_t wanted_replicas(const ModelSettings& settings, const ModelSpec& spec);

}  // namespace voxshard
