#include "pipelines/settings/model_settings.h"

#include <algorithm>

#include "pipelines/tpu/tpu_config_model.h"

namespace voxshard {
namespace {

constexpr const char* kModelGroup = "Model";

SettingValue setting_value(const FieldValue& value) {
  return std::visit([](const auto& one) { return SettingValue(one); }, value);
}

FieldValue field_value(const SettingValue& value) {
  return std::visit(
      []<class T>(const T& one) -> FieldValue {
        if constexpr (std::is_constructible_v<std::string, T> || std::is_same_v<T, bool> ||
                      std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>)
          return one;
        else
          throw Error(ErrorKind::kInternal, "[config] no field of a model is a list");
      },
      value);
}

/// A model field as a setting that is shared by all models with a field of this name.
struct SharedField {
  ConfigField row;                  // field of the last of these models
  std::vector<std::string> groups;  // groups of these models
  std::string first, usual;         // "32" and "32, of RetinaNet 64": groups that differ from the first
  FieldValue like;                  // a value of the type that users give
};

std::vector<SharedField> shared_fields(const ModelTable& models) {
  std::vector<SharedField> fields;
  for (const auto& model : models)
    for (const ConfigField& row : model->fields) {
      auto it = std::ranges::find(fields, row.option_name(), [](const SharedField& f) { return f.row.option_name(); });
      if (it == fields.end()) it = fields.insert(fields.end(), SharedField{});
      if (std::ranges::count(it->groups, model->group) > 0) continue;
      it->row = row;
      const std::string said = row.said(model->config).empty() ? "none" : row.said(model->config);
      if (it->groups.empty()) it->first = it->usual = said;
      if (said != it->first) it->usual += ", of " + model->group + " " + said;
      it->like = row.words.empty() ? row.get(model->config) : std::string();
      it->groups.push_back(model->group);
    }
  return fields;
}

/// Returns the given value, else that of the chosen model; `like` when the model has no such field.
SettingValue field_now(const ModelSettings& s, const std::string& name, const FieldValue& like) {
  if (const auto given = s.given.find(name); given != s.given.end()) return setting_value(given->second);
  for (const auto& model : s.models)
    if (model->name == s.model)
      for (const ConfigField& row : model->fields)
        if (row.option_name() == name)
          return setting_value(std::holds_alternative<std::string>(like) ? row.said(model->config)
                                                                         : row.get(model->config));
  return setting_value(like);
}

Setting field_row(ModelSettings& s, const SharedField& field) {
  const std::string name = field.row.option_name();
  const bool shared = field.groups.size() > 1;
  Setting row{
      .name = name,
      .help = field.row.help + (shared ? "; default: " + field.usual : ""),
      .group = shared ? kModelGroup : field.groups.front(),
      .value = Setting::Access{.get = [&s, name, like = field.like] { return field_now(s, name, like); },
                               .set = [&s, name](const SettingValue& value) { s.given[name] = field_value(value); }},
      .tells_default = false,
      .usual = shared ? "" : field.usual};
  for (const auto& [word, value] : field.row.words) row.choices.push_back(word);
  return row;
}

}  // namespace

Setting memory_row(const std::string& name, std::int64_t& bytes, const std::string& help, const std::string& group) {
  const auto read = [&bytes, name](const std::string& text) {
    try {
      bytes = bytes_from_text(text);
    } catch (Error& e) {
      e.add_context("{" + name + "}");
      throw;
    }
  };
  return {name, help, group, read};
}

bool is_of_another_model(const ModelSettings& s, const std::string& name) {
  bool of_any = false;
  for (const auto& model : s.models) {
    const bool has = std::ranges::count(model->fields, name, &ConfigField::option_name) > 0;
    if (has && model->name == s.model) return false;
    of_any = of_any || has;
  }
  return of_any;
}

std::vector<Setting> model_rows(ModelSettings& s, bool fixed_data) {
  const std::string cut = "Cores and memory";
  const std::vector<std::string> scopes = {"all", "replica"};
  std::vector<std::string> names, recomputes;
  for (const auto& model : s.models) names.push_back(model->name);
  for (Recompute recompute : kRecomputeChoices) recomputes.push_back(recompute_name(recompute));
  std::vector<Setting> rows = {
      {"model",
       "A U-Net over volumes or images, RetinaNet over images, or a classifier of images, volumes or clips",
       kModelGroup,
       &s.model,
       {},
       names}};
  for (const SharedField& field : shared_fields(s.models))
    if (!fixed_data || !field.row.of_data) rows.push_back(field_row(s, field));
  for (Setting& row : std::vector<Setting>{
           {"precision", "bf16 (products accumulate in f32) or f32", kModelGroup, &s.precision},
           {"convolution",
            "fast: also by transforms of tiles (Winograd), which round otherwise; exact: sums of the products alone",
            kModelGroup,
            &s.convolution,
            {},
            {std::begin(kConvolutionNames), std::end(kConvolutionNames)}},
           {"partition",
            "Cores per tensor axis, N D H W C (of images N H W C): 1x2x2x2x1 cuts a volume over 8; auto: planned; "
            "default: not cut",
            cut, &s.partition},
           {.name = "cores",
           .help = "Check that the partition (times the replicas) uses this many cores",
           .group = cut,
           .value = &s.cores,
           .tells_default = false},
           {"replicas", "Data-parallel copies of the partition, each with its part of the batch", cut, &s.replicas},
           {"norm-scope",
            "all: batch norm over the whole batch; replica: over each replica's part; default: all, with a TPUConfig "
            "replica",
            cut,
            &s.norm_scope,
            {},
            scopes},
           {"loss-scope",
            "all: sums of the loss (Dice) over the whole batch; replica: over each replica's part, then their mean; "
            "default: as {norm-scope}",
            cut,
            &s.loss_scope,
            {},
            scopes},
           {"recompute",
            "What the backward pass makes again instead of keeping: none, norms, upsampling (and norms), levels (all "
            "but skips); default: norms, of "
            "RetinaNet none",
            cut,
            &s.recompute,
            {},
            recomputes},
           {"thinnest-slab", "Deep levels whose parts have fewer planes are cut over fewer cores; 0: never", cut,
            &s.thinnest_slab, NumberRange{0, 1 << 20}},
           memory_row("memory", s.core_budget_bytes,
                      "Budget of one core, like 2GiB; a plan over it is refused before it starts", cut)})
    rows.push_back(std::move(row));
  for (Setting& row : tpu_rows(s.tpu)) rows.push_back(std::move(row));
  return rows;
}

namespace {

constexpr std::int64_t kMostCores = 4096;

/// Returns the chosen model with the given fields set. A setting of another model is refused: it would have no effect.
ModelSpec with_config(const ModelSettings& s) {
  ModelSpec spec = usual_spec(model_named(s.models, s.model));
  for (const auto& [name, value] : s.given)
    if (std::ranges::count(spec.model->fields, name, &ConfigField::option_name) == 0)
      throw Error(ErrorKind::kConfig, "[config] {" + name + "} is not an option of " + s.model + "; leave it out");
  for (const ConfigField& row : spec.model->fields)
    if (const auto given = s.given.find(row.option_name()); given != s.given.end())
      row.set(spec.config, row.meant(given->second));
  return spec;
}

/// Returns the largest number of replicas, at most `wanted`, that share a batch evenly.
std::int64_t fitting_replicas(std::int64_t wanted, std::int64_t batch) {
  std::int64_t replicas = std::max<std::int64_t>(1, std::min(wanted, batch));
  while (batch % replicas != 0) --replicas;
  return replicas;
}

void apply_tpu_config(const ModelSettings& s, std::int64_t batch, ModelSpec& spec) {
  const TpuConfig config = tpu_config(s.tpu, batch);
  if (!decides_mesh(config)) return;
  if (s.cores > kMostCores)
    throw Error(ErrorKind::kConfig,
                "[config] {cores} is " + std::to_string(s.cores) + "; expected at most " + std::to_string(kMostCores));
  const auto counted = [](std::int64_t number) {
    return std::min(std::max<std::int64_t>(number, 1), kMostCores);
  };  // check() refuses the rest
  const std::int64_t per_replica =
      counted(config.num_cores_per_replica.value_or(element_count(spec.cut.mesh.partition)));
  const std::int64_t given_cores = s.cores != 0 ? s.cores : s.slice_cores;
  SystemCores system{.cores = given_cores != 0 ? given_cores
                                               : per_replica * counted(config.num_shards.value_or(s.replicas))};
  if (s.fits_replicas && s.cores == 0 && !config.num_shards && system.cores % per_replica == 0)
    system.cores = per_replica * fitting_replicas(system.cores / per_replica, batch);
  if (config.input_partition_dims && !s.partition.empty())
    throw Error(ErrorKind::kConfig, "[tpu_config] {partition} " + s.partition +
                                        " and input_partition_dims both say how samples are cut; give one of them");
  const Shape image = Dims::filled(spec.spatial_axes() + 2, 1);  // only the number of axes matters here
  apply(config, system, image, spec);
  if (s.replicas != 1 && s.replicas != spec.cut.mesh.replicas)
    throw Error(ErrorKind::kConfig, "[tpu_config] {replicas} is " + std::to_string(s.replicas) + ", but " +
                                        std::to_string(system.cores) + " cores in replicas of " +
                                        std::to_string(spec.cut.mesh.cores_per_replica()) + " make " +
                                        std::to_string(spec.cut.mesh.replicas) + "; leave {replicas} out");
}

/// The original trains each replica by itself and adds up the gradients: norms and losses never leave a replica.
void take_scopes(const ModelSettings& s, std::int64_t batch, ModelSpec& spec) {
  const std::string usual = decides_mesh(tpu_config(s.tpu, batch)) ? "replica" : "all";
  const std::string& norm = s.norm_scope.empty() ? usual : s.norm_scope;
  spec.norm_over_replica = norm == "replica";
  spec.loss_over_replica = (s.loss_scope.empty() ? norm : s.loss_scope) == "replica";
}

}  // namespace

std::int64_t wanted_replicas(const ModelSettings& s, const ModelSpec& spec) {
  const TpuConfig config = tpu_config(s.tpu, 0);
  const std::int64_t given_cores = s.cores != 0 ? s.cores : s.slice_cores;
  if (!decides_mesh(config) || config.num_shards || given_cores == 0) return config.num_shards.value_or(s.replicas);
  return given_cores / spec.cut.mesh.cores_per_replica();
}

ModelSpec model_spec(const ModelSettings& s, std::int64_t batch) {
  ModelSpec spec = with_config(s);
  spec.precision = precision_from_name(s.precision);
  const int rank = spec.spatial_axes() + 2;
  spec.cut.mesh.partition =
      s.partition.empty() || s.is_planned() ? Dims::filled(rank, 1) : partition_from_text(s.partition, rank);
  if (s.replicas < 1 || s.replicas > kMostCores)
    throw Error(ErrorKind::kConfig, "[config] {replicas} must be 1 to 4096, got " + std::to_string(s.replicas));
  spec.cut.mesh.replicas = s.replicas;
  take_scopes(s, batch, spec);
  if (!s.recompute.empty()) spec.cut.recompute = recompute_from_name(s.recompute);
  spec.cut.thinnest_slab = s.thinnest_slab;
  spec.cut.convolution = convolution_from_name(s.convolution);
  if (s.fits_replicas) spec.cut.mesh.replicas = fitting_replicas(s.replicas, batch);
  apply_tpu_config(s, batch, spec);
  const std::int64_t cores = spec.cut.mesh.cores();
  if (!s.is_planned() && s.cores != 0 && s.cores != cores)
    throw Error(ErrorKind::kConfig, "[partition] the product of partition " + to_string(spec.cut.mesh.partition) +
                                        " and " + std::to_string(spec.cut.mesh.replicas) + " replicas is " +
                                        std::to_string(cores) + ", but {cores} says " + std::to_string(s.cores) +
                                        "; make them equal");
  return spec;
}

}  // namespace voxshard
