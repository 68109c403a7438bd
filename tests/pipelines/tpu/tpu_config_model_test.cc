// From a TPUConfig to mesh and placements; a model cut that way computes what the uncut one does.
#include "pipelines/tpu/tpu_config_model.h"

#include <nlohmann/json.hpp>

#include "pipelines/commands/run_verify.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using Kind = InputPlacement::Kind;

ModelSpec applied(const json& config, std::int64_t cores, ModelSpec spec = {}) {
  apply(tpu_config_from_json(config), {.cores = cores}, {1, 16, 16, 16, 1}, spec);
  return spec;
}

json dims(const std::string& text, int cores) {
  return {{"input_partition_dims", text}, {"num_cores_per_replica", cores}};
}

TEST(TpuConfigModel, TheImagesDimsAreThePartition) {
  const ModelSpec spec = applied(dims("[[1, 4, 1, 1, 1], [1, 4, 1, 1]]", 4), 8);
  EXPECT_EQ(spec.cut.mesh.partition, (Dims{1, 4, 1, 1, 1}));
  EXPECT_EQ(spec.cut.mesh.replicas, 2);
  EXPECT_TRUE(spec.cut.inputs.empty()) << "labels are cut like the image";
  EXPECT_EQ(applied(dims("[{image: [1, 1, 2, 2, 1]}, {labels: [1, 1, 2, 2, 1]}]", 4), 4).cut.mesh.partition,
            (Dims{1, 1, 2, 2, 1}));
  EXPECT_EQ(applied({{"input_partition_dims", {1, 8, 1, 1, 1}}}, 8).cut.mesh.partition, (Dims{1, 8, 1, 1, 1}));
}

TEST(TpuConfigModel, LabelsLieAsWritten) {
  const auto labels = [](const std::string& text) {
    return *applied(dims("[[1, 4, 1, 1, 1], " + text + "]", 4), 4).cut.placement_of("labels");
  };
  EXPECT_EQ(labels("None").kind, Kind::kReplicated);
  EXPECT_EQ(labels("[1, 1, 1, 1]").kind, Kind::kFirstCore);
  EXPECT_EQ(labels("[1, 2, 2, 1]"), (InputPlacement{.grid = {1, 2, 2, 1, 1}}));
}

TEST(TpuConfigModel, AnUncutImageLeavesTheCoresToTheLabelsOrInARow) {
  ModelSpec spec = applied(dims("[{image: None}, [1, 1, 4, 1]]", 4), 4);
  EXPECT_EQ(spec.cut.mesh.partition, (Dims{1, 1, 4, 1, 1}));
  EXPECT_EQ(spec.cut.placement_of("image")->kind, Kind::kReplicated);
  EXPECT_EQ(spec.cut.placement_of("labels"), nullptr);
  spec = applied(dims("[[1, 1, 1, 1, 1], None]", 4), 4);
  EXPECT_EQ(spec.cut.mesh.partition, (Dims{1, 4, 1, 1, 1}));
  EXPECT_EQ(spec.cut.placement_of("image")->kind, Kind::kFirstCore);
  EXPECT_EQ(spec.cut.placement_of("labels")->kind, Kind::kReplicated);
}

TEST(TpuConfigModel, ADetectorsLabelsAreAllItsTargets) {
  const auto placed = [](const std::string& text) {
    ModelSpec spec = retinanet_spec({});
    apply(tpu_config_from_json(dims(text, 8)), {.cores = 16}, {1, 64, 64, 3}, spec);
    EXPECT_EQ(spec.cut.mesh.partition, (Dims{1, 4, 2, 1}));
    EXPECT_EQ(spec.cut.mesh.replicas, 2);
    EXPECT_EQ(spec.cut.inputs.size(), 10u) << "classes and boxes of five levels";
    return spec.cut.placement_of("box_targets/7")->kind;
  };
  EXPECT_EQ(placed("[[1, 4, 2, 1], None]"), Kind::kReplicated);
  EXPECT_EQ(placed("[[1, 4, 2, 1], [1, 4, 2, 1]]"), Kind::kWhereDivisible);
  EXPECT_EQ(placed("[[1, 4, 2, 1], [1, 1, 1, 1]]"), Kind::kFirstCore);
  ModelSpec spec = retinanet_spec({});
  expect_error(ErrorKind::kConfig, "cut as its image", [&] {
    apply(tpu_config_from_json(dims("[[1, 4, 2, 1], [1, 2, 4, 1]]", 8)), {.cores = 8}, {1, 64, 64, 3}, spec);
  });
}

TEST(TpuConfigModel, OneCorePerReplicaIsNotCut) {
  const ModelSpec spec = applied(dims("[[1], None]", 1), 2);
  EXPECT_EQ(spec.cut.mesh.partition, Dims::filled(5, 1));
  EXPECT_EQ(spec.cut.mesh.replicas, 2);
  EXPECT_TRUE(spec.cut.inputs.empty());
}

TEST(TpuConfigModel, WithoutDimsThePartitionStays) {
  ModelSpec cut;
  cut.cut.mesh.partition = {1, 2, 2, 1, 1};
  EXPECT_EQ(applied({{"num_cores_per_replica", 4}}, 8, cut).cut.mesh.replicas, 2);
  EXPECT_EQ(applied({{"num_shards", 4}}, 16, cut).cut.mesh.replicas, 4);
  EXPECT_FALSE(decides_mesh(tpu_config_from_json({{"iterations_per_loop", 8}, {"train_batch_size", 8}})));
  expect_error(ErrorKind::kConfig,
               "num_cores_per_replica is 8, but the samples are cut over 4; say how with input_partition_dims", [&] {
                 applied({{"num_cores_per_replica", 8}}, 8, cut);
               });
}

TEST(TpuConfigModel, ChannelsAreNeverCut) {
  expect_error(ErrorKind::kConfig, "cuts the channel axis of \"image\" in 2",
               [] { applied(dims("[[1, 2, 1, 1, 2], None]", 4), 4); });
  expect_error(ErrorKind::kConfig, "cuts the channel axis of \"labels\"",
               [] { applied(dims("[[1, 4, 1, 1, 1], [1, 1, 1, 1, 4]]", 4), 4); });
}

TEST(TpuConfigModel, PlacementsComeBackFromJson) {
  const std::vector<PlacedInput> inputs = {{"boxes", {.grid = {1, 2, 2, 1}}},
                                           {"image", {.kind = Kind::kReplicated}},
                                           {"labels", {.kind = Kind::kFirstCore}}};
  ModelSpec spec;
  spec.cut.inputs = inputs;
  EXPECT_EQ(model_spec_from_json(to_json(spec)).cut, spec.cut);
  EXPECT_EQ(architecture_text(spec), architecture_text(ModelSpec{})) << "where inputs lie decides no tensor";
}

TEST(TpuConfigModel, ComputesTheSameWhereverTheInputsLie) {
  for (const char* text : {"[[1, 4, 1, 1, 1]]", "[[1, 4, 1, 1, 1], [1]]", "[[1, 2, 2, 1, 1], [1, 1, 1, 4]]",
                           "[[1, 4, 1, 1, 1], [1, 4, 1, 1]]", "[[2, 2, 1, 1, 1], None]",
                           "[{image: None}, [1, 4, 1, 1]]", "[[1], None]", "[[1], [1, 2, 2, 1, 1]]"}) {
    ModelSpec spec;
    spec.as<UNetConfig>() = {.base_filters = 2, .depth = 2};
    spec.precision = DType::kF32;
    NoProgress quiet;
    const ModelSpec cut = applied(dims(text, 4), 8, spec);
    const auto report = run_verify({.spec = cut, .extents = {4, 9, 6, 5}}, {quiet, {.threads = 2}});
    EXPECT_TRUE(report.equal()) << text << ": " << report.first_difference->layer << " "
                                << report.first_difference->what;
    EXPECT_GT(report.layers, 20) << text;
  }
}

}  // namespace
}  // namespace voxshard
