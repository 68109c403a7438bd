#include "apps/model_args.h"

#include <CLI/CLI.hpp>

#include "pipelines/tpu/tpu_config_model.h"

namespace voxshard {

void add_model_options(CLI::App& app, ModelArgs& a, bool fixed_data) {
  const std::string model = "Model", cut = "Cores and memory", unet = "U-Net", retinanet = "RetinaNet";
  app.add_option("--model", a.model, "The reference U-Net, over volumes or images, or RetinaNet over images")
      ->check(CLI::IsMember({"unet3d", "unet2d", "retinanet"}))->capture_default_str()->group(model);
  app.add_option("--base-filters", a.base_filters, "Filters of the first convolution, doubled per level; default: 32, of RetinaNet 64")
      ->group(model);
  if (!fixed_data) {
    app.add_option("--channels", a.channels, "Image channels; default: 1, of RetinaNet 3")->group(model);
    app.add_option("--classes", a.classes, "Classes, background included (but for --variant legacy); default: 3, of RetinaNet 91 or 90")
        ->group(model);
  }
  app.add_option("--depth", a.depth, "Levels")->capture_default_str()->group(unet);
  app.add_option("--norm", a.norm, "batch, instance or none")->capture_default_str()->group(unet);
  app.add_option("--activation", a.activation, "relu or leaky_relu (slope 0.01)")
      ->check(CLI::IsMember({"relu", "leaky_relu"}))->capture_default_str()->group(unet);
  app.add_option("--up", a.up, "deconvolution, or nearest up-sampling")
      ->check(CLI::IsMember({"deconvolution", "nearest"}))->capture_default_str()->group(unet);
  app.add_option("--loss", a.loss, "dice_ce, cross_entropy or adaptive_dice32")->capture_default_str()->group(unet);
  app.add_option("--backbone", a.backbone, "resnet50 or resnet18")->capture_default_str()->group(retinanet);
  app.add_option("--variant", a.variant, "detection or legacy: which of the two reference models (anchors, classes, first kernels)")
      ->capture_default_str()->group(retinanet);
  app.add_option("--pyramid-filters", a.pyramid_filters, "Filters of the feature pyramid and the heads")
      ->capture_default_str()->group(retinanet);
  app.add_option("--norm-momentum", a.norm_momentum, "Of the running statistics; lower for runs of a few hundred steps")
      ->capture_default_str()->group(retinanet);
  app.add_option("--precision", a.precision, "bf16 (products accumulate in f32) or f32")->capture_default_str()->group(model);
  app.add_option("--partition", a.partition, "Cores per tensor axis, N D H W C (of images N H W C): 1x2x2x2x1 cuts a volume over 8; auto: planned; default: not cut")
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

/// Options that a model does not have must not be given: they would silently do nothing.
void refuse_options_of_another_model(const ModelArgs& a) {
  const ModelArgs usual;
  const bool detects = a.model == "retinanet";
  const auto refuse_if = [&](bool given, const char* option) {
    if (given) throw Error(ErrorKind::kConfig, std::string("[config] ") + option + " is not an option of " + a.model + "; leave it out");
  };
  refuse_if(detects && a.depth != usual.depth, "--depth");
  refuse_if(detects && a.norm != usual.norm, "--norm");
  refuse_if(detects && a.activation != usual.activation, "--activation");
  refuse_if(detects && a.up != usual.up, "--up");
  refuse_if(detects && a.loss != usual.loss, "--loss");
  refuse_if(!detects && a.backbone != usual.backbone, "--backbone");
  refuse_if(!detects && a.variant != usual.variant, "--variant");
  refuse_if(!detects && a.pyramid_filters != usual.pyramid_filters, "--pyramid-filters");
  refuse_if(!detects && a.norm_momentum != usual.norm_momentum, "--norm-momentum");
}

ModelSpec unet_of(const ModelArgs& a) {
  const UNetConfig reference;
  ModelSpec spec;
  spec.unet = {.spatial_axes = a.model == "unet2d" ? 2 : 3,
               .base_filters = a.base_filters.value_or(reference.base_filters),
               .depth = a.depth,
               .channels = a.channels.value_or(reference.channels),
               .classes = a.classes.value_or(reference.classes),
               .norm = norm_from_name(a.norm),
               .slope = a.activation == "leaky_relu" ? 0.01 : 0.0,
               .deconvolution = a.up == "deconvolution"};
  spec.loss = loss_from_name(a.loss);
  return spec;
}

ModelSpec retinanet_of(const ModelArgs& a) {
  const RetinaNetConfig reference;
  const RetinaNetVariant variant = variant_from_name(a.variant);
  return retinanet_spec({.backbone = backbone_from_name(a.backbone),
                         .variant = variant,
                         .channels = a.channels.value_or(reference.channels),
                         .classes = a.classes.value_or(reference.classes - (variant == RetinaNetVariant::kLegacy ? 1 : 0)),
                         .filters = a.base_filters.value_or(reference.filters),
                         .pyramid_filters = a.pyramid_filters,
                         .norm_momentum = a.norm_momentum});
}

void apply_tpu_config(const ModelArgs& a, std::int64_t batch, ModelSpec& spec) {
  const TpuConfig config = tpu_config(a.tpu, batch);
  if (!decides_mesh(config)) return;
  if (a.cores > kMostCores)
    throw Error(ErrorKind::kConfig, "[config] --cores is " + std::to_string(a.cores) + "; expected at most " + std::to_string(kMostCores));
  const auto counted = [](std::int64_t number) { return std::min(std::max<std::int64_t>(number, 1), kMostCores); };  // check() refuses the rest
  const std::int64_t per_replica = counted(config.num_cores_per_replica.value_or(element_count(spec.cut.mesh.partition)));
  const std::int64_t told = a.cores != 0 ? a.cores : a.slice_cores;
  const SystemCores system{.cores = told != 0 ? told : per_replica * counted(config.num_shards.value_or(a.replicas))};
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

}  // namespace

ModelSpec model_spec(const ModelArgs& a, std::int64_t batch) {
  refuse_options_of_another_model(a);
  ModelSpec spec = a.model == "retinanet" ? retinanet_of(a) : unet_of(a);
  spec.precision = precision_from_name(a.precision);
  const int rank = spec.spatial_axes() + 2;
  spec.cut.mesh.partition = a.partition.empty() || a.partition == "auto" ? Dims::filled(rank, 1) : partition_from_text(a.partition, rank);
  if (a.replicas < 1 || a.replicas > 4096) throw Error(ErrorKind::kConfig, "[config] --replicas must be 1 to 4096, got " + std::to_string(a.replicas));
  spec.cut.mesh.replicas = a.replicas;
  spec.norm_over_replica = a.norm_scope == "replica";
  spec.cut.recompute = recompute_from_name(a.recompute);
  spec.cut.thinnest_slab = a.thinnest_slab;
  apply_tpu_config(a, batch, spec);
  const std::int64_t cores = spec.cut.mesh.cores();
  if (a.partition != "auto" && a.cores != 0 && a.cores != cores)
    throw Error(ErrorKind::kConfig, "[partition] the product of partition " + to_string(spec.cut.mesh.partition) + " and " +
                                        std::to_string(spec.cut.mesh.replicas) + " replicas is " + std::to_string(cores) +
                                        ", but --cores says " + std::to_string(a.cores) + "; make them equal");
  return spec;
}

std::int64_t core_budget_bytes(const ModelArgs& a) { return a.memory.empty() ? 0 : bytes_from_text(a.memory); }

}  // namespace voxshard
