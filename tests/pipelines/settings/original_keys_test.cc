// The keys of the reference models' config files as options, and the example configs in data/configs.
#include "pipelines/settings/original_keys.h"

#include "libcore/base/spelling.h"
#include "libcore/base/text.h"

#include "io/files/config_file.h"
#include "pipelines/tpu/tpu_config_model.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

json options_of(const std::string& text) { return with_option_names(json::parse(text)).values; }

TEST(ReferenceKeys, BecomeOptions) {
  EXPECT_EQ(
      options_of(R"({"num_base_filters": 16, "use_batch_norm": false, "deconvolution": false, "use_bfloat16": true,
                        "init_learning_rate": 0.0001, "num_channels": 1, "num_classes": 3, "depth": 4,
                        "train_steps": 10, "loss": "cross_entropy", "optimizer": "momentum", "momentum": 0.8})"),
      json::parse(R"({"base-filters": 16, "norm": "none", "up": "nearest", "precision": "bf16",
                            "learning-rate": 0.0001, "channels": 1, "classes": 3, "depth": 4,
                            "steps": 10, "loss": "cross_entropy", "optimizer": "sgd", "momentum": 0.8})"));
  EXPECT_EQ(options_of(R"({"optimizer": "sgd", "num_base_filters": 4})"),
            json::parse(R"({"optimizer": "sgd", "momentum": 0, "base-filters": 4})"))
      << "theirs is without";
  EXPECT_EQ(options_of(R"({"optimizer": "sgd"})"), json::parse(R"({"optimizer": "sgd"})")) << "ours";
  EXPECT_EQ(options_of(R"({"instance_normalization": true, "use_batch_norm": true})"),
            json::parse(R"({"norm": "instance"})"));
  EXPECT_EQ(options_of(R"({"instance_normalization": false, "use_batch_norm": true})"),
            json::parse(R"({"norm": "batch"})"));
  EXPECT_EQ(options_of(R"({"input_image_size": [128, 96, 64]})"),
            json::parse(R"({"size": "128x96x64", "crop": "128x96x64"})"));
  EXPECT_EQ(options_of(R"({"data_format": "channels_last", "eval_timeout": null, "train_steps": null})"),
            json::object());
}

TEST(ReferenceKeys, WhereNothingIsCutEachCoreIsAReplica) {
  EXPECT_EQ(options_of(R"({"num_cores": 8})"), json::parse(R"({"cores": 8, "num_shards": 8})"));
  EXPECT_EQ(options_of(R"({"num_cores": 8, "input_partition_dims": "None"})"),
            json::parse(R"({"cores": 8, "num_shards": 8})"));
  EXPECT_EQ(options_of(R"({"num_cores": 8, "input_partition_dims": "[1, 4, 1, 1, 1]"})"),
            json::parse(R"({"cores": 8, "input_partition_dims": "[1, 4, 1, 1, 1]"})"));
  EXPECT_EQ(options_of(R"({"num_cores": 8, "partition": "1x8x1x1x1"})"),
            json::parse(R"({"cores": 8, "partition": "1x8x1x1x1"})"));
}

TEST(ReferenceKeys, TheRateDecaysAsTheirsDoes) {
  EXPECT_EQ(options_of(R"({"lr_decay_steps": 31, "lr_decay_rate": 0.5})"),
            json::parse(R"({"lr-decay-steps": 31, "lr-decay-rate": 0.5, "schedule": "exponential"})"));
  OptimizerOptions rate{
      .learning_rate = 1e-4, .schedule = ScheduleKind::kExponential, .decay_rate = 0.5, .decay_steps = 31};
  EXPECT_DOUBLE_EQ(learning_rate_at(rate, 0, 310), 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(rate, 31, 310), 0.5e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(rate, 310, 310), 1e-4 / 1024) << "halved ten times";
  EXPECT_LT(learning_rate_at(rate, 30, 310), learning_rate_at(rate, 29, 310)) << "without stairs";
}

TEST(ReferenceKeys, EpochsAndItemsGiveTheSteps) {
  EXPECT_EQ(options_of(R"({"train_item_count": 1000, "train_epochs": 10, "train_batch_size": 32})"),
            json::parse(R"({"train_batch_size": 32, "steps": 310, "lr-decay-steps": 31, "schedule": "exponential"})"));
  EXPECT_EQ(options_of(R"({"train_item_count": 1000, "train_epochs": 10, "train_steps": 7})"),
            json::parse(R"({"steps": 7})"));
  for (const char* text :
       {R"({"train_epochs": 10, "train_batch_size": 32})", R"({"train_item_count": 1000, "train_batch_size": 32})"})
    EXPECT_EQ(options_of(text), options_of(R"({"train_item_count": 1000, "train_epochs": 10, "train_batch_size": 32})"))
        << "what is left out is unet_config.py's";
  EXPECT_EQ(
      options_of(R"({"init_learning_rate": 1e-4})"),
      json::parse(
          R"({"learning-rate": 1e-4, "train_batch_size": 8, "steps": 1250, "lr-decay-steps": 125, "schedule": "exponential"})"));
  EXPECT_EQ(OptimizerOptions().decay_rate, 0.5) << "as unet_config.py's lr_decay_rate";
  EXPECT_EQ(options_of(R"({"train_epochs": 10, "batch": 100})").at("steps"), 100);
  for (const char* text : {R"({"train_item_count": 3, "train_epochs": 1, "train_batch_size": 4})",
                           R"({"train_item_count": "many", "train_epochs": 1})"})
    expect_error(ErrorKind::kConfig, "train_item_count is", [&] { options_of(text); });
}

TEST(ReferenceKeys, KeysThatDecideNothingAreNoted) {
  const auto translated = with_option_names(json::parse(
      R"({"dropout_rate": 0.5, "num_segmentation_levels": 2, "use_index_label_in_train": true, "label_dtype": "float32",
                      "tpu_config": {"tpu": "my-tpu"}})"));
  EXPECT_EQ(translated.values, json::object());
  ASSERT_EQ(translated.notes.size(), 5u);
  EXPECT_EQ(translated.notes[0], "[config] dropout_rate has no effect: the reference model never uses it");
}

TEST(ReferenceKeys, ValuesThatMeanNothingHereAreRefused) {
  for (const auto& [text, piece] : std::vector<std::pair<std::string, std::string>>{
           {R"({"use_batch_norm": "yes"})", "use_batch_norm is \"yes\"; expected true or false"},
           {R"({"data_format": "channels_first"})", "expected channels_last"},
           {R"({"input_image_size": [128, 0, 128]})", "expected a list of extents"},
           {R"({"input_image_size": 128})", "expected a list of extents"},
           {R"({"tpu_config": 3})", "expected a section"}})
    expect_error(ErrorKind::kConfig, piece, [&, text = text] { options_of(text); });
}

TEST(TpuConfigSection, IsPutOverTheTopLevel) {
  EXPECT_EQ(options_of(R"({"train_batch_size": 4, "seed": 3, "tpu_config": {"train_batch_size": 8, "num_cores": 8,
                        "input_partition_dims": [[1, 8, 1, 1, 1], null], "num_cores_per_replica": 8}})"),
            json::parse(R"({"train_batch_size": 8, "seed": 3, "cores": 8, "num_cores_per_replica": 8,
                            "input_partition_dims": "[[1, 8, 1, 1, 1], None]"})"));
  EXPECT_EQ(options_of(R"({"tpu_config": {}})"), json::object());
  EXPECT_EQ(options_of(R"({"tpu_config": {"num_shards": null, "input_partition_dims": "None"}})"), json::object());
}

TEST(TpuConfigSection, RefusesAnotherKeyAndNamesTheNearest) {
  expect_error(ErrorKind::kConfig, "\"num_shard\" of tpu_config is not known; did you mean num_shards?",
               [] { options_of(R"({"tpu_config": {"num_shard": 2}})"); });
  expect_error(ErrorKind::kConfig, "did you mean input_partition_dims?",
               [] { options_of(R"({"tpu_config": {"input_partitions_dims": [1]}})"); });
}

TEST(TpuConfigSection, DimsBecomeTextInSectionsToo) {
  EXPECT_EQ(options_of(R"({"train": {"input_partition_dims": [[1, 4, 1, 1, 1], null]}})"),
            json::parse(R"({"train": {"input_partition_dims": "[[1, 4, 1, 1, 1], None]"}})"));
  EXPECT_EQ(options_of(R"({"input_partition_dims": [1, 8, 1, 1, 1]})"),
            json::parse(R"({"input_partition_dims": "[1, 8, 1, 1, 1]"})"));
}

TEST(NearestKey, HasTheFewestChangedLetters) {
  EXPECT_EQ(nearest_name("num_cores_per_replicas", tpu_config_keys()), "num_cores_per_replica");
  EXPECT_EQ(nearest_name("batch", {"bath", "patch", "latch"}), "bath");
  EXPECT_EQ(nearest_name("", {"abc", "de"}), "de");
}

/// Returns the model that a file in data/configs gives on the slice that its name states.
ModelSpec spec_of(const std::filesystem::path& file) {
  const json values = with_option_names(read_config(file)).values;
  json config = json::object();
  for (const auto& key : tpu_config_keys())
    if (values.contains(key)) config[key] = values[key];
  ModelSpec spec;
  const TpuConfig tpu = tpu_config_from_json(config);
  const SystemCores system{.cores = values.at("cores")};
  if (decides_mesh(tpu))
    apply(tpu, system, {1, 8, 8, 8, 1}, spec);
  else
    check(tpu, system);
  return spec;
}

TEST(ExampleConfigs, CutAsThePublishedOnesDo) {
  const std::filesystem::path folder = std::filesystem::path(VOXSHARD_SOURCE_DIR) / "data/configs";
  struct Published {
    const char* slice;
    Dims partition;
    std::int64_t replicas;
  };
  for (const auto& [slice, partition, replicas] :
       {Published{"v3-8_128x128x128_ce", {1, 8, 1, 1, 1}, 1}, Published{"v3-32_256x256x256_ce", {1, 16, 1, 1, 1}, 2},
        Published{"v3-32_256x256x256_dice", {1, 16, 1, 1, 1}, 2},
        Published{"v3-128_256x256x256_ce", {1, 16, 1, 1, 1}, 8},
        Published{"v3-128_256x256x256_dice", {1, 16, 1, 1, 1}, 8}}) {
    const ModelSpec spec = spec_of(folder / (std::string(slice) + ".toml"));
    EXPECT_EQ(spec.cut.mesh.partition, partition) << slice;
    EXPECT_EQ(spec.cut.mesh.replicas, replicas) << slice;
    EXPECT_TRUE(spec.cut.inputs.empty()) << slice << ": labels are cut with the image";
  }
  EXPECT_EQ(spec_of(folder / "v3-8_128x128x128_dice.toml").cut.mesh.replicas, 8);
  const ModelSpec nested = spec_of(folder / "labels_by_name.json");
  EXPECT_EQ(nested.cut.mesh.partition, (Dims{1, 2, 2, 1, 1}));
  EXPECT_EQ(nested.cut.placement_of("labels")->kind, InputPlacement::Kind::kFirstCore);
}

TEST(ExampleConfigs, HaveTheRateOfThePublishedOnesStepByStep) {
  struct Published {
    const char* file;
    double rate;
    std::int64_t batch, epoch;
  };
  for (const auto& [file, rate, batch, epoch] :
       {Published{"v3-8_128x128x128_ce", 1e-4, 16, 62}, Published{"v3-8_128x128x128_dice", 1e-4, 32, 31},
        Published{"v3-32_256x256x256_ce", 5e-5, 8, 125}, Published{"v3-32_256x256x256_dice", 5e-5, 8, 125},
        Published{"v3-128_256x256x256_ce", 1e-4, 32, 31}, Published{"v3-128_256x256x256_dice", 1e-4, 32, 31}}) {
    const json v =
        with_option_names(read_config(VOXSHARD_SOURCE_DIR "/data/configs/" + std::string(file) + ".toml")).values;
    EXPECT_EQ(v.at("optimizer"), "adam") << file;
    EXPECT_EQ(v.at("schedule"), "exponential") << file;
    EXPECT_EQ(v.at("train_batch_size"), batch) << file;
    EXPECT_EQ(v.at("steps"), 10 * epoch) << file
                                         << ": train_epochs epochs of train_item_count // train_batch_size steps";
    EXPECT_EQ(v.at("pool"), "valid") << file;
    const OptimizerOptions o{.learning_rate = v.at("learning-rate"),
                             .schedule = ScheduleKind::kExponential,
                             .decay_rate = v.at("lr-decay-rate"),
                             .decay_steps = v.at("lr-decay-steps")};
    for (const std::int64_t step : {std::int64_t{0}, epoch / 2, epoch, 3 * epoch + 5, 10 * epoch - 1})
      EXPECT_DOUBLE_EQ(learning_rate_at(o, step, 10 * epoch),
                       rate * std::pow(0.5, static_cast<double>(step) / static_cast<double>(epoch)))
          << file << " at " << step;
  }
}

// The schedule of models/official/retinanet: 15 epochs of 120,000 images, 0.08 * batch / 64, from 0.008 within the
// first epoch, a tenth from epoch 8 on and a hundredth from 11.
TEST(ExampleConfigs, TheLegacyRetinaNetHasThePublishedRatesAndSteps) {
  const json v = with_option_names(read_config(VOXSHARD_SOURCE_DIR "/data/configs/retinanet_r50_legacy.toml")).values;
  constexpr std::int64_t kEpoch = 120000 / 64;
  EXPECT_EQ(v.at("variant"), "legacy");
  EXPECT_EQ(v.at("backbone"), "resnet50");
  EXPECT_EQ(v.at("batch"), 64);
  EXPECT_EQ(v.at("steps"), 15 * kEpoch);
  EXPECT_EQ(v.at("warmup-steps"), kEpoch);
  EXPECT_EQ(v.at("optimizer"), "sgd");
  EXPECT_EQ(v.at("momentum"), 0.9);
  EXPECT_EQ(v.at("weight-decay"), 1e-4);
  EXPECT_EQ(v.at("schedule"), "steps");
  for (const char* implied : {"decay-on", "frozen"}) EXPECT_FALSE(v.contains(implied)) << implied << ": the variant's";
  const OptimizerOptions o{.kind = OptimizerKind::kSgd,
                           .learning_rate = v.at("learning-rate"),
                           .schedule = ScheduleKind::kSteps,
                           .decay_at = v.at("lr-steps"),
                           .step_factor = v.at("lr-step-factor"),
                           .warmup_steps = v.at("warmup-steps"),
                           .warmup_rate = v.at("warmup-rate")};
  for (const auto& [step, rate] : std::vector<std::pair<std::int64_t, double>>{{0, 0.008},
                                                                               {kEpoch / 5, 0.008 + 0.072 / 5},
                                                                               {kEpoch, 0.08},
                                                                               {8 * kEpoch - 1, 0.08},
                                                                               {8 * kEpoch, 0.008},
                                                                               {11 * kEpoch - 1, 0.008},
                                                                               {11 * kEpoch, 0.0008},
                                                                               {15 * kEpoch - 1, 0.0008}})
    EXPECT_NEAR(learning_rate_at(o, step, 15 * kEpoch), rate, 1e-12) << step;
}

// The schedule of models/official/resnet: 0.1 * batch / 256, within 5 epochs from 0, a tenth from each of the epochs
// 30, 60 and 80 on.
TEST(ExampleConfigs, TheResNetHasThePublishedRatesAndSteps) {
  const json v = with_option_names(read_config(VOXSHARD_SOURCE_DIR "/data/configs/resnet50.toml")).values;
  constexpr std::int64_t kEpoch = 1281167 / 1024;
  EXPECT_EQ(v.at("model"), "resnet50");
  EXPECT_EQ(v.at("batch"), 1024);
  EXPECT_EQ(v.at("steps"), 90 * kEpoch);
  EXPECT_EQ(v.at("optimizer"), "sgd");
  const OptimizerOptions o{.kind = OptimizerKind::kSgd,
                           .learning_rate = v.at("learning-rate"),
                           .schedule = ScheduleKind::kSteps,
                           .decay_at = v.at("lr-steps"),
                           .step_factor = v.at("lr-step-factor"),
                           .warmup_steps = v.at("warmup-steps")};
  for (const auto& [step, rate] : std::vector<std::pair<std::int64_t, double>>{{5 * kEpoch / 2, 0.2},
                                                                               {5 * kEpoch, 0.4},
                                                                               {30 * kEpoch - 1, 0.4},
                                                                               {30 * kEpoch, 0.04},
                                                                               {60 * kEpoch, 0.004},
                                                                               {80 * kEpoch, 0.0004},
                                                                               {90 * kEpoch - 1, 0.0004}})
    EXPECT_NEAR(learning_rate_at(o, step, 90 * kEpoch), rate, 1e-4) << step;
}

TEST(ExampleConfigs, TheDigitsSayWhatIsUsualForTheModel) {
  const json v = with_option_names(read_config(VOXSHARD_SOURCE_DIR "/data/configs/digits.toml")).values;
  for (const Choice& usual : usual_training(*model_named(model_table(), "digits"), 1)) {
    if (usual.option == "batch") continue;  // that of as many replicas as there are
    const json& said = v.at(usual.option);
    EXPECT_EQ(said.is_string() ? said.get<std::string>() : number_text(said.get<double>()), usual.shown())
        << usual.option;
  }
}

}  // namespace
}  // namespace voxshard
