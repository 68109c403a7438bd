#include "apps/model_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/task_args.h"
#include "apps/terminal/flags.h"
#include "pipelines/tpu/tpu_config_model.h"

namespace voxshard {
namespace {

constexpr const char* kModelGroup = "Model";

/// A field as an option, which all models that have one of that name share.
struct FieldOption {
  ConfigField row;                  // of the last of them
  std::vector<std::string> groups;  // of models
  std::string first, usual;         // "32" and "32, of RetinaNet 64": groups that differ from the first
  FieldValue like;                  // of the type that users say
};

std::vector<FieldOption> field_options(const ModelTable& models) {
  std::vector<FieldOption> options;
  for (const auto& model : models)
    for (const ConfigField& row : model->fields) {
      auto it = std::ranges::find(options, row.option_name(), [](const FieldOption& o) { return o.row.option_name(); });
      if (it == options.end()) it = options.insert(options.end(), FieldOption{});
      if (std::ranges::count(it->groups, model->group) > 0) continue;
      it->row = row;
      const std::string said = row.said(model->config).empty() ? "none" : row.said(model->config);
      if (it->groups.empty()) it->first = it->usual = said;
      if (said != it->first) it->usual += ", of " + model->group + " " + said;
      it->like = row.words.empty() ? row.get(model->config) : std::string();
      it->groups.push_back(model->group);
    }
  return options;
}

void add_config_options(CLI::App& app, ModelArgs& a, bool fixed_data) {
  for (const FieldOption& o : field_options(a.models)) {
    if (fixed_data && o.row.of_data) continue;
    const std::string name = o.row.option_name();
    const bool shared = o.groups.size() > 1;
    const std::string help = with_flags(o.row.help + (shared ? "; default: " + o.usual : ""));
    CLI::Option* option = std::visit([&]<class Value>(const Value&) {
      return app.add_option_function<Value>("--" + name, [&a, name](const Value& value) { a.given.emplace_back(name, value); }, help);
    }, o.like);
    std::vector<std::string> words;
    for (const auto& [word, value] : o.row.words) words.push_back(word);
    if (!words.empty()) option->check(one_of(words));
    if (!shared) option->default_str(o.usual);
    option->group(shared ? kModelGroup : o.groups.front().c_str());
  }
}

}  // namespace

void add_model_options(CLI::App& app, ModelArgs& a, bool fixed_data) {
  const std::string cut = "Cores and memory";
  std::vector<std::string> names, recomputes;
  for (const auto& model : a.models) names.push_back(model->name);
  for (Recompute recompute : kRecomputeChoices) recomputes.push_back(recompute_name(recompute));
  app.add_option("--model", a.model, "A U-Net over volumes or images, RetinaNet over images, or a classifier of images, volumes or clips")
      ->check(one_of(names))->capture_default_str()->group(kModelGroup);
  add_config_options(app, a, fixed_data);
  app.add_option("--precision", a.precision, "bf16 (products accumulate in f32) or f32")->capture_default_str()->group(kModelGroup);
  app.add_option("--convolution", a.convolution,
                 "fast: also by transforms of tiles (Winograd), which round otherwise; exact: sums of the products alone")
      ->check(one_of({std::begin(kConvolutionNames), std::end(kConvolutionNames)}))
      ->capture_default_str()->group(kModelGroup);
  app.add_option("--partition", a.partition, "Cores per tensor axis, N D H W C (of images N H W C): 1x2x2x2x1 cuts a volume over 8; auto: planned; default: not cut")
      ->group(cut);
  app.add_option("--cores", a.cores, "Check that the partition (times the replicas) uses this many cores")->group(cut);
  app.add_option("--replicas", a.replicas, "Data-parallel copies of the partition, each with its part of the batch")
      ->capture_default_str()->group(cut);
  app.add_option("--norm-scope", a.norm_scope,
                 "all: batch norm over the whole batch; replica: over each replica's part; default: all, with a TPUConfig replica")
      ->check(one_of({"all", "replica"}))->group(cut);
  app.add_option("--loss-scope", a.loss_scope,
                 "all: sums of the loss (Dice) over the whole batch; replica: over each replica's part, then their mean; "
                 "default: as --norm-scope")
      ->check(one_of({"all", "replica"}))->group(cut);
  app.add_option("--recompute", a.recompute,
                 "What the backward pass makes again instead of keeping: none, norms, upsampling (and norms), levels (all but skips); "
                 "default: norms, of RetinaNet none")
      ->check(one_of(recomputes))->group(cut);
  app.add_option("--thinnest-slab", a.thinnest_slab,
                 "Deep levels whose parts have fewer planes are cut over fewer cores; 0: never")
      ->check(CLI::Range(0, 1 << 20))->capture_default_str()->group(cut);
  add_memory_option(app, "--memory", a.memory_bytes, "Budget of one core, like 2GiB; a plan over it is refused before it starts")->group(cut);
  add_tpu_options(app, a.tpu);
}

namespace {

constexpr std::int64_t kMostCores = 4096;

/// The chosen model with what was given of its config. An option of another model is refused: it would silently do nothing.
ModelSpec with_config(const ModelArgs& a) {
  ModelSpec spec = usual_spec(model_named(a.models, a.model));
  for (const auto& [name, value] : a.given)
    if (std::ranges::count(spec.model->fields, name, &ConfigField::option_name) == 0)
      throw Error(ErrorKind::kConfig, "[config] --" + name + " is not an option of " + a.model + "; leave it out");
  for (const ConfigField& row : spec.model->fields)
    for (const auto& [name, value] : a.given)
      if (name == row.option_name()) row.set(spec.config, row.meant(value));
  return spec;
}

/// The largest number of replicas, at most `wanted`, that share a batch evenly.
std::int64_t fitting_replicas(std::int64_t wanted, std::int64_t batch) {
  std::int64_t replicas = std::max<std::int64_t>(1, std::min(wanted, batch));
  while (batch % replicas != 0) --replicas;
  return replicas;
}

void apply_tpu_config(const ModelArgs& a, std::int64_t batch, ModelSpec& spec) {
  const TpuConfig config = tpu_config(a.tpu, batch);
  if (!decides_mesh(config)) return;
  if (a.cores > kMostCores)
    throw Error(ErrorKind::kConfig, "[config] --cores is " + std::to_string(a.cores) + "; expected at most " + std::to_string(kMostCores));
  const auto counted = [](std::int64_t number) { return std::min(std::max<std::int64_t>(number, 1), kMostCores); };  // check() refuses the rest
  const std::int64_t per_replica = counted(config.num_cores_per_replica.value_or(element_count(spec.cut.mesh.partition)));
  const std::int64_t told = a.cores != 0 ? a.cores : a.slice_cores;
  SystemCores system{.cores = told != 0 ? told : per_replica * counted(config.num_shards.value_or(a.replicas))};
  if (a.fits_replicas && a.cores == 0 && !config.num_shards && system.cores % per_replica == 0)
    system.cores = per_replica * fitting_replicas(system.cores / per_replica, batch);
  if (config.input_partition_dims && !a.partition.empty())
    throw Error(ErrorKind::kConfig, "[tpu_config] --partition " + a.partition +
                                        " and input_partition_dims both say how samples are cut; give one of them");
  const Shape image = Dims::filled(spec.spatial_axes() + 2, 1);  // of its extents only their number matters here
  apply(config, system, image, spec);
  if (a.replicas != 1 && a.replicas != spec.cut.mesh.replicas)
    throw Error(ErrorKind::kConfig, "[tpu_config] --replicas is " + std::to_string(a.replicas) + ", but " +
                                        std::to_string(system.cores) + " cores in replicas of " +
                                        std::to_string(spec.cut.mesh.cores_per_replica()) + " make " +
                                        std::to_string(spec.cut.mesh.replicas) + "; leave --replicas out");
}

/// The original trains each replica by itself and adds up the gradients: norms and losses never leave a replica.
void take_scopes(const ModelArgs& a, std::int64_t batch, ModelSpec& spec) {
  const std::string usual = decides_mesh(tpu_config(a.tpu, batch)) ? "replica" : "all";
  const std::string& norm = a.norm_scope.empty() ? usual : a.norm_scope;
  spec.norm_over_replica = norm == "replica";
  spec.loss_over_replica = (a.loss_scope.empty() ? norm : a.loss_scope) == "replica";
}

}  // namespace

std::int64_t wanted_replicas(const ModelArgs& a, const ModelSpec& spec) {
  const TpuConfig config = tpu_config(a.tpu, 0);
  const std::int64_t told = a.cores != 0 ? a.cores : a.slice_cores;
  if (!decides_mesh(config) || config.num_shards || told == 0) return config.num_shards.value_or(a.replicas);
  return told / spec.cut.mesh.cores_per_replica();
}

ModelSpec model_spec(const ModelArgs& a, std::int64_t batch) {
  ModelSpec spec = with_config(a);
  spec.precision = precision_from_name(a.precision);
  const int rank = spec.spatial_axes() + 2;
  spec.cut.mesh.partition = a.partition.empty() || a.partition == "auto" ? Dims::filled(rank, 1) : partition_from_text(a.partition, rank);
  if (a.replicas < 1 || a.replicas > 4096) throw Error(ErrorKind::kConfig, "[config] --replicas must be 1 to 4096, got " + std::to_string(a.replicas));
  spec.cut.mesh.replicas = a.replicas;
  take_scopes(a, batch, spec);
  if (!a.recompute.empty()) spec.cut.recompute = recompute_from_name(a.recompute);
  spec.cut.thinnest_slab = a.thinnest_slab;
  spec.cut.convolution = convolution_from_name(a.convolution);
  if (a.fits_replicas) spec.cut.mesh.replicas = fitting_replicas(a.replicas, batch);
  apply_tpu_config(a, batch, spec);
  const std::int64_t cores = spec.cut.mesh.cores();
  if (a.partition != "auto" && a.cores != 0 && a.cores != cores)
    throw Error(ErrorKind::kConfig, "[partition] the product of partition " + to_string(spec.cut.mesh.partition) + " and " +
                                        std::to_string(spec.cut.mesh.replicas) + " replicas is " + std::to_string(cores) +
                                        ", but --cores says " + std::to_string(a.cores) + "; make them equal");
  return spec;
}

Shape sized_extents(const CLI::App& app, const std::string& size, const ModelSpec& spec, std::int64_t batch) {
  const bool own = spec.model->size != nullptr && app.get_option("--size")->count() == 0;
  return extents_from_text(own ? to_string(spec.model->size(spec.config)) : size, spec.spatial_axes(), batch);
}

}  // namespace voxshard
