#include "apps/model_args.h"

#include <CLI/CLI.hpp>

#include "pipelines/tpu_config_model.h"

namespace voxshard {

void add_model_options(CLI::App& app, ModelArgs& a, bool fixed_data) {
  const std::string model = "Model", cut = "Cores and memory";
  app.add_option("--model", a.model, "The reference U-Net, over volumes or images")
      ->check(CLI::IsMember({"unet3d", "unet2d"}))->capture_default_str()->group(model);
  app.add_option("--base-filters", a.base_filters, "Filters of the first convolution; doubled per level")
      ->capture_default_str()->group(model);
  app.add_option("--depth", a.depth, "Levels")->capture_default_str()->group(model);
  if (!fixed_data) {
    app.add_option("--channels", a.channels, "Image channels")->capture_default_str()->group(model);
    app.add_option("--classes", a.classes, "Classes, background included")->capture_default_str()->group(model);
  }
  app.add_option("--norm", a.norm, "batch, instance or none")->capture_default_str()->group(model);
  app.add_option("--activation", a.activation, "relu or leaky_relu (slope 0.01)")
      ->check(CLI::IsMember({"relu", "leaky_relu"}))->capture_default_str()->group(model);
  app.add_option("--up", a.up, "deconvolution, or nearest up-sampling")
      ->check(CLI::IsMember({"deconvolution", "nearest"}))->capture_default_str()->group(model);
  app.add_option("--loss", a.loss, "dice_ce, cross_entropy or adaptive_dice32")->capture_default_str()->group(model);
  app.add_option("--precision", a.precision, "bf16 (products accumulate in f32) or f32")->capture_default_str()->group(model);
  app.add_option("--partition", a.partition, "Cores per tensor axis, N D H W C: 1x2x2x2x1 cuts a volume over 8; auto: planned; default: not cut")
      ->group(cut);
  app.add_option("--cores", a.cores, "Check that the partition (times the replicas) uses this many cores")->group(cut);
  app.add_option("--replicas", a.replicas, "Data-parallel copies of the partition, each with its part of the batch")
      ->capture_default_str()->group(cut);
  app.add_option("--norm-scope", a.norm_scope, "all: batch norm over the whole batch; replica: over each replica's part")
      ->check(CLI::IsMember({"all", "replica"}))->capture_default_str()->group(cut);
  app.add_option("--recompute", a.recompute,
                 "What the backward pass makes again instead of keeping: norms, upsampling (and norms), levels (all but skips)")
      ->check(CLI::IsMember({"none", "norms", "upsampling", "levels"}))->capture_default_str()->group(cut);
  app.add_option("--thinnest-slab", a.thinnest_slab,
                 "Deep levels whose parts have fewer planes are cut over fewer cores; 0: never")
      ->check(CLI::Range(0, 1 << 20))->capture_default_str()->group(cut);
  app.add_option("--memory", a.memory, "Budget of one core, like 2GiB; a plan over it is refused before it starts")->group(cut);
  add_tpu_options(app, a.tpu);
}

namespace {

constexpr std::int64_t kMostCores = 4096;

void apply_tpu_config(const ModelArgs& a, std::int64_t batch, ModelSpec& spec) {
  const TpuConfig config = tpu_config(a.tpu, batch);
  if (!decides_mesh(config)) return;
  if (a.cores > kMostCores)
    throw Error(ErrorKind::kConfig, "[config] --cores is " + std::to_string(a.cores) + "; expected at most " + std::to_string(kMostCores));
  const auto counted = [](std::int64_t number) { return std::min(std::max<std::int64_t>(number, 1), kMostCores); };  // check() refuses the rest
  const std::int64_t per_replica = counted(config.num_cores_per_replica.value_or(element_count(spec.partition)));
  const SystemCores system{.cores = a.cores != 0 ? a.cores : per_replica * counted(config.num_shards.value_or(a.replicas))};
  if (config.input_partition_dims && !a.partition.empty())
    throw Error(ErrorKind::kConfig, "[tpu_config] --partition " + a.partition +
                                        " and input_partition_dims both say how samples are cut; give one of them");
  const Shape image = Dims::filled(spec.unet.spatial_axes + 2, 1);  // of its extents only their number matters here
  apply(config, system, image, spec);
  if (a.replicas != 1 && a.replicas != spec.replicas)
    throw Error(ErrorKind::kConfig, "[tpu_config] --replicas is " + std::to_string(a.replicas) + ", but " +
                                        std::to_string(system.cores) + " cores in replicas of " +
                                        std::to_string(spec.mesh().cores_per_replica()) + " make " +
                                        std::to_string(spec.replicas) + "; leave --replicas out");
}

}  // namespace

ModelSpec model_spec(const ModelArgs& a, std::int64_t batch) {
  ModelSpec spec;
  spec.unet = {.spatial_axes = a.model == "unet2d" ? 2 : 3,
               .base_filters = a.base_filters,
               .depth = a.depth,
               .channels = a.channels,
               .classes = a.classes,
               .norm = norm_from_name(a.norm),
               .slope = a.activation == "leaky_relu" ? 0.01 : 0.0,
               .deconvolution = a.up == "deconvolution"};
  spec.loss = loss_from_name(a.loss);
  spec.precision = precision_from_name(a.precision);
  const int rank = spec.unet.spatial_axes + 2;
  spec.partition = a.partition.empty() || a.partition == "auto" ? Dims::filled(rank, 1) : partition_from_text(a.partition, rank);
  if (a.replicas < 1 || a.replicas > 4096) throw Error(ErrorKind::kConfig, "[config] --replicas must be 1 to 4096, got " + std::to_string(a.replicas));
  spec.replicas = a.replicas;
  spec.norm_over_replica = a.norm_scope == "replica";
  spec.recompute = recompute_from_name(a.recompute);
  spec.cut.thinnest_slab = a.thinnest_slab;
  apply_tpu_config(a, batch, spec);
  const std::int64_t cores = spec.mesh().cores();
  if (a.partition != "auto" && a.cores != 0 && a.cores != cores)
    throw Error(ErrorKind::kConfig, "[partition] the product of partition " + to_string(spec.partition) + " and " +
                                        std::to_string(spec.replicas) + " replicas is " + std::to_string(cores) +
                                        ", but --cores says " + std::to_string(a.cores) + "; make them equal");
  return spec;
}

std::int64_t core_budget_bytes(const ModelArgs& a) { return a.memory.empty() ? 0 : bytes_from_text(a.memory); }

}  // namespace voxshard
