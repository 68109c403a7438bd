// The trained model as JSON and back, and the texts of the command line for sizes and memory.
#include "pipelines/model_runs/model_spec.h"

#include <nlohmann/json.hpp>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

ModelSpec unusual() {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 6,
                           .depth = 3,
                           .channels = 2,
                           .classes = 5,
                           .norm = NormKind::kInstance,
                           .slope = 0.01,
                           .deconvolution = false,
                           .loss = LossKind::kAdaptiveDice32};
  spec.precision = DType::kF32;
  spec.cut.mesh.partition = {1, 3, 1, 2, 1}, spec.cut.mesh.replicas = 2, spec.norm_over_replica = true;
  return spec;
}

ModelSpec detector() {
  ModelSpec spec = retinanet_spec({.backbone = Backbone::kResNet18,
                                   .variant = RetinaNetVariant::kLegacy,
                                   .channels = 1,
                                   .classes = 7,
                                   .filters = 8,
                                   .pyramid_filters = 16,
                                   .norm_momentum = 0.9});
  spec.cut.mesh.partition = {1, 4, 2, 1};
  return spec;
}

TEST(ModelSpec, ComesBackFromJson) {
  ModelSpec flat = usual_spec(model_named(model_table(), "unet2d"));
  flat.cut.mesh.partition = {1, 2, 2, 1}, flat.as<UNetConfig>().norm = NormKind::kNone;
  for (const ModelSpec& spec : {ModelSpec{}, unusual(), flat, detector(), retinanet_spec({})}) {
    const ModelSpec back = model_spec_from_json(to_json(spec));
    EXPECT_EQ(back.model, spec.model);
    EXPECT_EQ(back.cut.inputs, spec.cut.inputs);
    EXPECT_EQ(back.cut.mesh.partition, spec.cut.mesh.partition);
    EXPECT_EQ(to_json(back), to_json(spec));
  }
}

TEST(ModelSpec, TheConvolutionIsKept) {
  ModelSpec spec = unusual();
  nlohmann::json json = to_json(spec);
  EXPECT_EQ(model_spec_from_json(json).cut.convolution, Convolution::kFast);
  spec.cut.convolution = Convolution::kExact;
  EXPECT_EQ(model_spec_from_json(to_json(spec)).cut.convolution, Convolution::kExact);
  json["convolution"] = "sloppy";
  expect_error(ErrorKind::kCheckpoint, "expected fast, exact", [&] { model_spec_from_json(json); });
}

TEST(ModelSpec, WhateverIsBrokenInACheckpointIsACheckpointError) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"base_filters", "many"},
                                                                                      {"norm", "loud"},
                                                                                      {"loss", "l2"},
                                                                                      {"precision", "f8"},
                                                                                      {"partition", "1x2"},
                                                                                      {"model", "resnet"}}) {
    nlohmann::json json = to_json(unusual());
    json[key] = value;
    expect_error(ErrorKind::kCheckpoint, "", [&] { model_spec_from_json(json); });
    json.erase(key);
    expect_error(ErrorKind::kCheckpoint, key, [&] { model_spec_from_json(json); });
  }
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{{"backbone", "vgg"},
                                                                                      {"variant", 3},
                                                                                      {"replicas", 0},
                                                                                      {"replicas", 1000000000000},
                                                                                      {"thinnest_slab", -1},
                                                                                      {"pyramid_filters", "many"},
                                                                                      {"partition", "1x2x2x1x1"}}) {
    nlohmann::json json = to_json(detector());
    json[key] = value;
    expect_error(ErrorKind::kCheckpoint, "", [&] { model_spec_from_json(json); });
  }
}

TEST(ModelSpec, EachKindBuildsItsOwnGraphForBothPhases) {
  ModelSpec spec = detector();
  for (Phase phase : {Phase::kTrain, Phase::kPredict}) {
    const Graph graph = build_graph(spec, {2, 40, 56}, phase, DType::kF32);
    EXPECT_EQ(graph.node(graph.find("image")).type.shape, (Shape{2, 40, 56, 1}));
    EXPECT_EQ(graph.outputs.contains("class_logits/7"), true);
    EXPECT_EQ(graph.outputs.contains("loss"), phase == Phase::kTrain);
  }
  EXPECT_EQ(spec.model_name(), "retinanet");
  EXPECT_EQ(spec.spatial_axes(), 2);
  EXPECT_TRUE(build_graph(unusual(), {2, 8, 8, 8}, Phase::kPredict, DType::kF32).outputs.contains("logits"));
}

TEST(ModelSpec, TheArchitectureIsWhatDecidesTheTensors) {
  ModelSpec cut = unusual();
  cut.cut.mesh = {.partition = {1, 1, 1, 1, 1}}, cut.precision = DType::kBF16;
  EXPECT_EQ(architecture_text(cut), architecture_text(unusual()));
  cut.as<UNetConfig>().base_filters = 8;
  EXPECT_NE(architecture_text(cut), architecture_text(unusual()));
  ModelSpec whole = detector();
  whole.cut = {.mesh = {.partition = {1, 1, 1, 1}}}, whole.as<RetinaNetConfig>().norm_momentum = 0.5;
  EXPECT_EQ(architecture_text(whole), architecture_text(detector()));
  whole.as<RetinaNetConfig>().backbone = Backbone::kResNet50;
  EXPECT_NE(architecture_text(whole), architecture_text(detector()));
}

TEST(ModelSpec, EveryNameOfAFieldComesBackAndAnotherIsRefused) {
  ModelSpec spec;
  for (const char* loss : {"cross_entropy", "adaptive_dice32", "dice_ce"}) {
    spec.set("loss", loss);
    EXPECT_EQ(to_json(spec).at("loss"), loss);
  }
  expect_error(ErrorKind::kConfig, "expected batch, instance, none", [&] { spec.set("norm", "loud"); });
  expect_error(ErrorKind::kConfig, "unet3d has no field backbone", [&] { spec.set("backbone", "resnet18"); });
  expect_error(ErrorKind::kConfig, "expected bf16, f32", [] { precision_from_name("f16"); });
}

TEST(ModelSpec, EveryFieldIsWrittenAndWithoutOneItIsRefused) {
  for (const auto& model : model_table()) {
    const ModelSpec spec = usual_spec(model);
    const auto json = nlohmann::json::parse(to_json(spec).dump());
    for (const ConfigField& row : model->fields) EXPECT_TRUE(json.contains(row.name)) << model->name << " " << row.name;
    EXPECT_EQ(to_json(model_spec_from_json(json)), to_json(spec));
    for (const auto& [key, value] : json.items()) {
      nlohmann::json lacking = json;
      lacking.erase(key);
      if (std::ranges::any_of(model->fields, [&](const ConfigField& row) { return row.newer && row.name == key; })) {
        EXPECT_EQ(to_json(model_spec_from_json(lacking)), to_json(spec)) << key;  // the checkpoint is from before it
        continue;
      }
      expect_error(ErrorKind::kCheckpoint, key, [&] { model_spec_from_json(lacking); });
    }
  }
}

TEST(ModelSpec, ScopesAndTheFieldsOfAVariantComeBack) {
  ModelSpec spec = usual_spec(model_named(model_table(), "retinanet"));
  spec.set("variant", "legacy");
  for (const bool norms : {false, true})
    for (const bool losses : {false, true}) {
      spec.norm_over_replica = norms, spec.loss_over_replica = losses;
      const ModelSpec read = model_spec_from_json(nlohmann::json::parse(to_json(spec).dump()));
      EXPECT_EQ(read.norm_over_replica, norms);
      EXPECT_EQ(read.loss_over_replica, losses);
      EXPECT_EQ(read.as<RetinaNetConfig>().decay, Decay::kAllButBackboneNorms);
      EXPECT_EQ(read.as<RetinaNetConfig>().frozen, Frozen::kStem);
      EXPECT_EQ(architecture_text(read), architecture_text(spec));
    }
}

TEST(BytesFromText, ReadsUnits) {
  EXPECT_EQ(bytes_from_text("1500000000"), 1500000000);
  EXPECT_EQ(bytes_from_text("1B"), 1);
  EXPECT_EQ(bytes_from_text("512MiB"), std::int64_t{512} << 20);
  EXPECT_EQ(bytes_from_text("1.5GiB"), std::int64_t{3} << 29);
}

TEST(BytesFromText, RefusesWhatIsNoBudget) {
  for (const char* text : {"", "GiB", "0", "-1GiB", "1GB", "2 GiB", "nan", "inf", "0.4", "1e30GiB", "9000000TiB"})
    expect_error(ErrorKind::kConfig, text, [&] { bytes_from_text(text); });
}

TEST(ExtentsFromText, ReadsTheBatchAndTheSize) {
  EXPECT_EQ(extents_from_text("128x96x64", 3, 2), (Shape{2, 128, 96, 64}));
  EXPECT_EQ(extents_from_text("512x256", 2, 1), (Shape{1, 512, 256}));
}

TEST(ExtentsFromText, RefusesWhatIsNoSize) {
  for (const char* text : {"", "16", "16x16", "16x16x16x16", "16x16x", "x16x16", "16x0x16", "16x-4x16", "16x16x1.5",
                           "16,16,16", "axbxc", "99999999999999999999x1x1", "99999999x99999999x99999999"})
    expect_error(ErrorKind::kConfig, text, [&] { extents_from_text(text, 3, 1); });
}

TEST(PartitionFromText, RefusesMoreCoresThanCanBeEmulated) {
  EXPECT_EQ(partition_from_text("1x2x2x2x1", 5), (Dims{1, 2, 2, 2, 1}));
  for (const char* text : {"1x5000x1x1x1", "1x99999999999x99999999x99999999x1"})
    expect_error(ErrorKind::kConfig, "4096", [&] { partition_from_text(text, 5); });
}

}  // namespace
}  // namespace voxshard
