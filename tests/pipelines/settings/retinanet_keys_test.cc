// The keys of the reference RetinaNet as options; what is fixed or has no counterpart is refused by name.
#include "pipelines/settings/retinanet_keys.h"

#include "io/files/config_file.h"
#include "pipelines/settings/key_uses.h"
#include "pipelines/settings/original_keys.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

json retinanet_options(const std::string& text) { return with_option_names(json::parse(text)).values; }

TEST(RetinaNetKeys, BecomeOptions) {
  EXPECT_EQ(
      retinanet_options(
          R"({"image_size": 1024, "resnet_depth": 50, "num_classes": 90, "use_bfloat16": true, "input_rand_hflip": false,
                        "train_scale_min": 0.8, "train_scale_max": 1.2, "momentum": 0.9, "train_batch_size": 32})"),
      json::parse(
          R"({"model": "retinanet", "variant": "legacy", "size": "1024x1024", "output-size": "1024x1024", "foreground": 0, "backbone": "resnet50",
                            "classes": 90, "precision": "bf16", "mirror": 0.0, "scale": [0.8, 1.2], "momentum": 0.9,
                            "train_batch_size": 32, "optimizer": "sgd", "weight-decay": 0.0001})"));
}

TEST(RetinaNetKeys, TheScheduleIsInEpochsAndTheRateGrowsWithTheBatch) {
  const json o = retinanet_options(
      R"({"learning_rate": 0.08, "lr_warmup_init": 0.008, "lr_warmup_epoch": 1.0, "first_lr_drop_epoch": 8.0,
                             "second_lr_drop_epoch": 11.0, "num_epochs": 15, "num_examples_per_epoch": 120000, "train_batch_size": 128})");
  EXPECT_EQ(o.at("steps"), 14062);
  EXPECT_EQ(o.at("learning-rate"), 0.16);
  EXPECT_EQ(o.at("warmup-steps"), 937);
  EXPECT_EQ(o.at("warmup-rate"), 0.008);
  EXPECT_EQ(o.at("schedule"), "steps");
  EXPECT_EQ(o.at("lr-steps"), json({7500, 10312}));
  const json usual = retinanet_options(R"({"first_lr_drop_epoch": 8.0})");
  EXPECT_EQ(usual.at("lr-steps"), json({15000, 20625})) << "as published for a batch of 64";
  EXPECT_EQ(usual.at("train_batch_size"), 64);
}

TEST(RetinaNetKeys, TheScheduleIsThatOfTheBatchUnderEitherName) {
  const std::string keys =
      R"("learning_rate": 0.08, "first_lr_drop_epoch": 8, "second_lr_drop_epoch": 11, "num_epochs": 15})";
  const json ours = retinanet_options(R"({"batch": 32, )" + keys),
             theirs = retinanet_options(R"({"train_batch_size": 32, )" + keys);
  EXPECT_EQ(ours.at("lr-steps"), json({30000, 41250})) << "15000 and 20625 of a batch of 64, twice";
  EXPECT_EQ(ours.at("learning-rate"), 0.04);
  EXPECT_EQ(ours.at("steps"), 56250);
  EXPECT_FALSE(ours.contains("train_batch_size"));
  for (const char* option : {"lr-steps", "learning-rate", "steps"}) EXPECT_EQ(ours.at(option), theirs.at(option));
}

TEST(RetinaNetKeys, WithoutItsKeysThereIsNoSchedule) {
  const json o = retinanet_options(R"({"image_size": 640, "resnet_depth": 50})");
  for (const char* option : {"lr-steps", "schedule", "steps", "warmup-steps", "warmup-rate", "learning-rate", "scale",
                             "input_partition_dims", "num_cores_per_replica"})
    EXPECT_FALSE(o.contains(option)) << option;
}

TEST(RetinaNetKeys, OfThePublishedRunAreTheExampleConfig) {
  const json o = retinanet_options(
      R"({"image_size": 640, "resnet_depth": 50, "num_cores": 8, "train_batch_size": 64, "momentum": 0.9,
      "learning_rate": 0.08, "lr_warmup_init": 0.008, "lr_warmup_epoch": 1.0, "first_lr_drop_epoch": 8.0,
      "second_lr_drop_epoch": 11.0, "num_examples_per_epoch": 120000, "num_epochs": 15})");
  json example = read_config(std::filesystem::path(VOXSHARD_SOURCE_DIR) / "data/configs/retinanet_r50_legacy.toml");
  EXPECT_EQ(example.at("replicas"), o.at("num_shards"));
  EXPECT_EQ(example.at("batch"), o.at("train_batch_size"));
  for (const char* of_tpu_config : {"replicas", "norm-scope", "batch", "preset"}) example.erase(of_tpu_config);
  for (const auto& [option, value] : example.items()) {
    ASSERT_TRUE(o.contains(option)) << option;
    EXPECT_EQ(o.at(option), value) << option;
  }
  for (const auto& [option, value] : o.items())
    EXPECT_TRUE(example.contains(option) || option == "num_shards" || option == "train_batch_size" ||
                option == "cores" || option == "size")
        << option << " is " << value;
}

TEST(RetinaNetKeys, AModeIsNotedAndDecidesNothing) {
  for (const char* mode : {"train", "train_and_eval", "eval"}) {
    const OptionValues o = with_option_names({{"mode", mode}});
    EXPECT_EQ(o.values, json::object());
    EXPECT_EQ(o.notes,
              std::vector<std::string>{"[config] mode has no effect: what a file is for is said by the subcommand"});
  }
}

TEST(RetinaNetKeys, SpatialPartitionIsOnlyCutWhereItIsAskedFor) {
  EXPECT_EQ(retinanet_options(R"({"use_spatial_partition": true})").at("input_partition_dims"), "[1, 4, 2, 1]")
      << "the flags' defaults";
  EXPECT_EQ(retinanet_options(R"({"use_spatial_partition": true})").at("num_cores_per_replica"), 8);
  const json uncut = retinanet_options(
      R"({"use_spatial_partition": false, "num_cores": 8, "num_cores_per_replica": 8, "input_partition_dims": [1, 4, 2, 1]})");
  EXPECT_FALSE(uncut.contains("input_partition_dims"));
  EXPECT_EQ(uncut.at("num_shards"), 8);
}

TEST(RetinaNetKeys, WhatIsFixedIsTakenWithTheReferencesValueOnly) {
  retinanet_options(
      R"({"min_level": 3, "max_level": 7, "num_scales": 3, "aspect_ratios": [[1.0, 1.0], [1.4, 0.7], [0.7, 1.4]], "anchor_scale": 4.0,
              "is_training_bn": true, "skip_crowd_during_training": true, "alpha": 0.25, "gamma": 1.5, "delta": 0.1, "box_loss_weight": 50.0})");
  for (const auto& [text, piece] : std::vector<std::pair<std::string, std::string>>{
           {R"({"max_level": 8})", "max_level is 8; expected 7: the pyramid has levels 3 to 7"},
           {R"({"aspect_ratios": [[1, 1]]})",
            "aspect_ratios is [[1,1]]; expected [[1, 1], [1.4, 0.7], [0.7, 1.4]]: anchors"},
           {R"({"is_training_bn": false})", "is_training_bn is false; expected true: norms always learn"},
           {R"({"gamma": 2})", "gamma is 2; expected 1.5: the loss is the reference's"},
           {R"({"resnet_depth": 101})", "resnet_depth is 101; expected 18, 34 or 50"},
           {R"({"image_size": 600})", "image_size is 600; expected a multiple of 128"},
           {R"({"image_size": "640"})", "expected a multiple of 128"},
           {R"({"resnet_checkpoint": "gs://x"})",
            "resnet_checkpoint is \"gs://x\"; expected nothing: weights of other programs"},
           {R"({"hparams": "gamma=2"})", "write its values as keys of this file"},
           {R"({"mode": "serve"})", "mode is \"serve\"; expected train, train_and_eval or eval"},
           {R"({"train_scale_min": 1.2})", "train_scale_min is 1.2; expected at most train_scale_max, which is 1"},
           {R"({"train_scale_max": 0.5})", "train_scale_max is 0.5; expected at least train_scale_min, which is 1"},
           {R"({"use_spatial_partition": 1})", "use_spatial_partition is 1; expected true or false"},
           {R"({"lr_warmup_epoch": -1})", "lr_warmup_epoch is -1; expected a number of"},
           {R"({"num_epochs": 0})", "num_epochs is 0; expected a positive whole number"},
           {R"({"dtype": "float16"})", "dtype is \"float16\"; expected bfloat16 or float32"}})
    expect_error(ErrorKind::kConfig, piece, [&, text = text] { retinanet_options(text); });
}

TEST(KeyUses, SayWhatEachKeyDecides) {
  std::map<std::string, KeyUse> uses;
  for (
      KeyUse& use : key_uses(json::parse(
          R"({"train_batch_size": 16, "train_item_count": 1600, "train_epochs": 3, "num_base_filters": 16, "gamma": 1.5,
                                              "dropout_rate": 0.5, "train_steps": null, "seed": 7, "use_spatial_partition": false, "input_partition_dims": [1, 4, 2, 1],
                                              "tpu_config": {"num_shards": 2}})")))
    uses.emplace(use.key, use);
  EXPECT_EQ(uses.at("num_base_filters").effect, "base-filters = 16");
  EXPECT_EQ(uses.at("train_batch_size").options.at("steps"), 300) << "an epoch has 100 steps";
  EXPECT_EQ(uses.at("train_batch_size").options.at("train_batch_size"), 16);
  EXPECT_EQ(uses.at("dropout_rate").effect, "no effect: the reference model never uses it");
  EXPECT_EQ(uses.at("gamma").effect, "as always here");
  EXPECT_EQ(uses.at("train_steps").effect, "not set");
  EXPECT_EQ(uses.at("seed").effect, "seed = 7");
  EXPECT_EQ(uses.at("use_spatial_partition").effect, "without input_partition_dims");
  EXPECT_EQ(uses.at("tpu_config.num_shards").options, json({{"num_shards", 2}}));
}

}  // namespace
}  // namespace voxshard
