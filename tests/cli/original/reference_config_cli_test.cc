// Every key of both reference models' configs, in a YAML file as their users have them: it sets an option with its
// value, has no effect and says why, or is refused by name.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Returns what `explain --stage config` reports of each key, by name.
std::map<std::string, json> shown(const std::string& yaml) {
  Folder folder("reference_config");
  folder.write("c.yaml", yaml);
  const CommandResult r = run_voxshard("explain --stage config --json --config " + (folder / "c.yaml"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  std::map<std::string, json> keys;
  if (r.exit_code != 0) return keys;
  const json all = r.json();
  for (const auto& use : all.at("keys")) keys[use.at("key")] = use;
  return keys;
}

struct Expected {
  const char* key;
  const char* value;   // as in the file
  const char* option;  // that it sets; null: it has no effect, or is fixed
  json as = {};        // the option's value; null: the key's
};

/// Expects that a key without an option says why it has no effect, or is not set, or is fixed: another value is
/// refused.
void expect_without_option(const Expected& one, const json& use) {
  const std::string effect = use.at("effect"), value = one.value;
  EXPECT_EQ(use.at("options"), json::object()) << one.key;
  if (use.at("value").is_null() || use.at("value") == "None") {
    EXPECT_EQ(effect, "not set") << one.key;
  } else if (effect == "as always here") {
    Folder folder("fixed_key");
    folder.write("c.yaml", std::string(one.key) + ": " + (value == "True" ? "False" : "77") + "\n");
    expect_refusal("explain --stage config --config " + (folder / "c.yaml"), 5, "config",
                   std::string(one.key) + " is ");
  } else {
    EXPECT_TRUE(effect.starts_with("no effect: ") && effect.size() > 20) << one.key << ": " << effect;
  }
}

void expect_arrive(const std::vector<Expected>& list) {
  std::string yaml;
  for (const Expected& one : list) yaml += std::string(one.key) + ": " + one.value + "\n";
  const auto keys = shown(yaml);
  ASSERT_EQ(keys.size(), list.size()) << yaml;
  for (const Expected& one : list) {
    const json& use = keys.at(one.key);
    if (one.option == nullptr) {
      expect_without_option(one, use);
      continue;
    }
    ASSERT_TRUE(use.at("options").contains(one.option)) << one.key << ": " << use;
    EXPECT_EQ(use.at("options").at(one.option), one.as.is_null() ? use.at("value") : one.as) << one.key;
  }
}

TEST(ReferenceConfigCli, EveryKeyOfTheUNetArrives) {
  expect_arrive({{"model_dir", "gs://bucket/run", nullptr},
                 {"training_file_pattern", "'gs://bucket/train/*'", nullptr},
                 {"eval_file_pattern", "''", nullptr},
                 {"compressed_input", "True", nullptr},
                 {"use_bfloat16", "true", "precision", "bf16"},
                 {"label_dtype", "'float32'", nullptr},
                 {"train_batch_size", "32", "train_batch_size"},
                 {"eval_batch_size", "8", "eval_batch_size"},
                 {"predict_batch_size", "8", "predict_batch_size"},
                 {"train_epochs", "10", "steps", 310},
                 {"train_item_count", "1000", "steps", 310},
                 {"eval_item_count", "100", nullptr},
                 {"train_steps", "null", nullptr},
                 {"num_steps_per_eval", "100", nullptr},
                 {"eval_steps", "10", "eval_steps"},
                 {"min_eval_interval", "180", nullptr},
                 {"eval_timeout", "~", nullptr},
                 {"optimizer", "'adam'", "optimizer"},
                 {"momentum", "0.9", "momentum"},
                 {"input_image_size", "[128, 128, 128]", "crop", "128x128x128"},
                 {"num_channels", "1", "channels"},
                 {"input_partition_dims", "[1, 8, 1, 1, 1]", "input_partition_dims", "[1, 8, 1, 1, 1]"},
                 {"num_cores", "8", "cores"},
                 {"iterations_per_loop", "8", "iterations_per_loop"},
                 {"deconvolution", "True", "up", "deconvolution"},
                 {"num_classes", "3", "classes"},
                 {"num_base_filters", "32", "base-filters"},
                 {"depth", "4", "depth"},
                 {"dropout_rate", "0.5", nullptr},
                 {"num_segmentation_levels", "2", nullptr},
                 {"use_batch_norm", "yes", "norm", "batch"},
                 {"init_learning_rate", "5e-5", "learning-rate"},
                 {"lr_decay_rate", "0.5", "lr-decay-rate"},
                 {"data_format", "'channels_last'", nullptr},
                 {"use_index_label_in_train", "true", nullptr},
                 {"loss", "'cross_entropy'", "loss"},
                 {"tpu", "None", nullptr},
                 {"use_tpu", "true", nullptr},
                 {"gcp_project", "None", nullptr},
                 {"tpu_zone", "None", nullptr},
                 {"eval_master", "''", nullptr}});
  expect_arrive({{"train_steps", "100", "steps"},
                 {"lr_decay_steps", "31", "lr-decay-steps"},
                 {"instance_normalization", "true", "norm", "instance"},
                 {"train_input_partition_dims", "[1, 4, 1, 1, 1]", "input_partition_dims", "[1, 4, 1, 1, 1]"},
                 {"eval_input_partition_dims", "[1, 4, 1, 1, 1]", nullptr},
                 {"dtype", "bfloat16", "precision", "bf16"}});
}

TEST(ReferenceConfigCli, EveryKeyOfRetinaNetArrives) {
  expect_arrive({{"image_size", "1024", "output-size", "1024x1024"},
                 {"input_rand_hflip", "True", "mirror", 0.5},
                 {"train_scale_min", "0.8", "scale", {0.8, 1.2}},
                 {"train_scale_max", "1.2", "scale", {0.8, 1.2}},
                 {"num_classes", "90", "classes"},
                 {"skip_crowd_during_training", "True", nullptr},
                 {"min_level", "3", nullptr},
                 {"max_level", "7", nullptr},
                 {"num_scales", "3", nullptr},
                 {"aspect_ratios", "[[1.0, 1.0], [1.4, 0.7], [0.7, 1.4]]", nullptr},
                 {"anchor_scale", "4.0", nullptr},
                 {"resnet_depth", "50", "backbone", "resnet50"},
                 {"is_training_bn", "True", nullptr},
                 {"momentum", "0.9", "momentum"},
                 {"learning_rate", "0.08", "learning-rate", 0.04},
                 {"lr_warmup_init", "0.008", "warmup-rate"},
                 {"lr_warmup_epoch", "1.0", "warmup-steps", 1875},
                 {"first_lr_drop_epoch", "8.0", "lr-steps", {15000, 20625}},
                 {"second_lr_drop_epoch", "11.0", "lr-steps", {15000, 20625}},
                 {"alpha", "0.25", nullptr},
                 {"gamma", "1.5", nullptr},
                 {"delta", "0.1", nullptr},
                 {"box_loss_weight", "50.0", nullptr},
                 {"use_bfloat16", "True", "precision", "bf16"},
                 {"use_spatial_partition", "True", "input_partition_dims", "[1, 4, 2, 1]"},
                 {"num_cores", "8", "cores"},
                 {"num_cores_per_replica", "8", "num_cores_per_replica"},
                 {"input_partition_dims", "[1, 4, 2, 1]", "input_partition_dims", "[1, 4, 2, 1]"},
                 {"train_batch_size", "32", "train_batch_size"},
                 {"eval_batch_size", "1", "eval_batch_size"},
                 {"eval_samples", "5000", nullptr},
                 {"num_steps_per_eval", "500", nullptr},
                 {"iterations_per_loop", "100", "iterations_per_loop"},
                 {"training_file_pattern", "gs://coco/train-*", nullptr},
                 {"validation_file_pattern", "gs://coco/val-*", nullptr},
                 {"val_json_file", "gs://coco/instances_val2017.json", nullptr},
                 {"num_examples_per_epoch", "60000", "steps", 28125},
                 {"num_epochs", "15", "steps", 28125},
                 {"mode", "train", nullptr},
                 {"eval_after_training", "False", nullptr},
                 {"resnet_checkpoint", "''", nullptr},
                 {"hparams", "''", nullptr},
                 {"use_xla", "False", nullptr},
                 {"eval_timeout", "null", nullptr},
                 {"min_eval_interval", "180", nullptr}});
}

TEST(ReferenceConfigCli, LabelsOfEachLevelAreReadFromYaml) {
  const std::string yaml =
      "model: retinanet\nnum_cores: 8\ntpu_config:\n  num_cores_per_replica: 8\n  input_partition_dims:\n  - [1, 4, 2, "
      "1]\n"
      "  - {cls_targets_3: &d [1, 4, 2, 1], box_targets_3: *d, cls_targets_4: *d, box_targets_4: *d, cls_targets_5: "
      "*d, box_targets_5: *d,\n"
      "     cls_targets_6: None, box_targets_6: None, cls_targets_7: null, box_targets_7: ~, source_ids: None}\n";
  EXPECT_TRUE(shown(yaml).contains("tpu_config.input_partition_dims"));
  Folder folder("level_labels");
  folder.write("c.yaml", yaml);
  const std::string small = " --base-filters 4 --backbone resnet18 --pyramid-filters 8 --size 128x128 --config ";
  EXPECT_EQ(run_voxshard("explain --stage program" + small + (folder / "c.yaml")).exit_code, 0);
  folder.write("bad.yaml",
               "model: retinanet\nnum_cores: 8\nnum_cores_per_replica: 8\ninput_partition_dims: [[1, 4, 2, 1], "
               "{cls_targets_3: None}]\n");
  expect_refusal("explain" + small + (folder / "bad.yaml"), 5, "config", "has no entry for \"box_targets_3\"");
}

TEST(ReferenceConfigCli, WhatIsRefusedIsNamedWithFileAndKey) {
  Folder folder("refused_config");
  for (const auto& [text, piece] : std::vector<std::pair<std::string, std::string>>{
           {"gamma: 2\n", "c.yaml: [config] gamma is 2; expected 1.5"},
           {"optimizer: adamw\n", "optimizer is \"adamw\", which train does not take"},
           {"loss: hinge\n", "hinge"},
           {"image_sise: 640\n", "did you mean image_size?"},
           {"train_batch_size: -3\n", "train_batch_size is -3"},
           {"train_batch_size: 8\ntrain_batch_size: 16\n", "c.yaml:2: has the name \"train_batch_size\" twice"},
           {"input_partition_dims: [[1, 4, 1, 1], None]]\n", "write input_partition_dims: [[1, 4, 1, 1], None]"},
           {"a: &a [1]\nb: [*a, *c]\n", "c.yaml:2:"}}) {
    folder.write("c.yaml", text);
    expect_refusal("explain --stage config --config " + (folder / "c.yaml"), 5, "config", piece);
  }
}

TEST(ReferenceConfigCli, WithoutAFileTheModelAndItsCutAreSaid) {
  const CommandResult r = run_voxshard("explain --stage config --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_FALSE(r.json().contains("keys"));
  EXPECT_THAT(std::string(r.json().at("text")), HasSubstr("partition"));
}

TEST(ReferenceConfigCli, EachSettingOfTrainSaysItsLayer) {
  Folder folder("layers_config");
  folder.write("c.toml", "model = \"digits\"\nvalidate-every = 7\nepochs = 3\nseed = 4\n[predict]\nhop = 8\n");
  const CommandResult r =
      run_voxshard("explain --stage config --json --seed 5 --batch 32 --config " + (folder / "c.toml"));
  EXPECT_NE(r.exit_code, 0) << "explain has no --seed";
  const CommandResult said = run_voxshard("explain --stage config --json --batch 32 --config " + (folder / "c.toml"));
  ASSERT_EQ(said.exit_code, 0) << said.err;
  std::map<std::string, std::pair<std::string, std::string>> settings;
  const json all = said.json();
  for (const auto& one : all.at("settings")) settings[one.at("name")] = {one.at("value"), one.at("layer")};
  using Line = std::pair<std::string, std::string>;
  EXPECT_EQ(settings.at("batch"), Line("32", "command line"));
  EXPECT_EQ(settings.at("model"), Line("digits", "config"));
  EXPECT_EQ(settings.at("validate-every"), Line("7", "config"));
  EXPECT_EQ(settings.at("epochs"), Line("3", "config"));
  EXPECT_EQ(settings.at("schedule"), Line("exponential", "model"));
  EXPECT_EQ(settings.at("learning-rate"), Line("0.01", "model"));
  EXPECT_EQ(settings.at("precision"), Line("auto", "recipe"));
  EXPECT_EQ(settings.at("momentum"), Line("0.9", "default"));
  EXPECT_FALSE(settings.contains("base-filters")) << "digits have none";
  EXPECT_FALSE(settings.contains("flip")) << "a setting of volumes";
  EXPECT_THAT(std::string(all.at("text")), HasSubstr("(command line)\n"));
}

TEST(ReferenceConfigCli, OnlyTheStageAsksWhatTrainTakes) {
  Folder folder("named_config");
  folder.write("c.yaml", "optimizer: adamw\n");
  const std::string draw = "explain --draw " + (folder / "a.png") + " --sample config --config " + (folder / "c.yaml");
  expect_refusal(draw, 3, "input", "config");
  for (const char* stage : {"--stage config", "--stage=config"})
    expect_refusal(std::string("explain ") + stage + " --config " + (folder / "c.yaml"), 5, "config",
                   "optimizer is \"adamw\", which train does not take");
}

TEST(ReferenceConfigCli, EveryExampleConfigIsTakenAndSaysItsLossOrOptimizer) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(VOXSHARD_SOURCE_DIR "/data/configs")) {
    const CommandResult r = run_voxshard("explain --stage config --json --config " + entry.path().string());
    ASSERT_EQ(r.exit_code, 0) << entry.path() << "\n" << r.err;
    int said = 0;
    const json shown_all = r.json();
    for (const auto& use : shown_all.at("keys")) {
      if (use.at("key") != "optimizer" && use.at("key") != "loss") continue;
      EXPECT_EQ(use.at("effect"), std::string(use.at("key")) + " = " + std::string(use.at("value"))) << entry.path();
      ++said;
    }
    EXPECT_GE(said, 1) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 9);
}

}  // namespace
}  // namespace voxshard
