#include "apps/model_args.h"

#include <CLI/CLI.hpp>

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
  app.add_option("--partition", a.partition, "Cores per tensor axis, N D H W C: 1x2x2x2x1 cuts a volume over 8; default: not cut")
      ->group(cut);
  app.add_option("--cores", a.cores, "Check that the partition (times the replicas) uses this many cores")->group(cut);
  app.add_option("--replicas", a.replicas, "Data-parallel copies of the partition, each with its part of the batch")
      ->capture_default_str()->group(cut);
  app.add_option("--norm-scope", a.norm_scope, "all: batch norm over the whole batch; replica: over each replica's part")
      ->check(CLI::IsMember({"all", "replica"}))->capture_default_str()->group(cut);
  app.add_option("--memory", a.memory, "Budget of one core, like 2GiB; a plan over it is refused before it starts")->group(cut);
}

ModelSpec model_spec(const ModelArgs& a) {
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
  spec.partition = a.partition.empty() ? Dims::filled(rank, 1) : partition_from_text(a.partition, rank);
  if (a.replicas < 1 || a.replicas > 4096) throw Error(ErrorKind::kConfig, "[config] --replicas must be 1 to 4096, got " + std::to_string(a.replicas));
  spec.replicas = a.replicas;
  spec.norm_over_replica = a.norm_scope == "replica";
  const std::int64_t cores = spec.mesh().cores();
  if (a.cores != 0 && a.cores != cores)
    throw Error(ErrorKind::kConfig, "[partition] the product of partition " + to_string(spec.partition) + " and " +
                                        std::to_string(a.replicas) + " replicas is " + std::to_string(cores) +
                                        ", but --cores says " + std::to_string(a.cores) + "; make them equal");
  return spec;
}

std::int64_t core_budget_bytes(const ModelArgs& a) { return a.memory.empty() ? 0 : bytes_from_text(a.memory); }

}  // namespace voxshard
