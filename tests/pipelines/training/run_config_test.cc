// The config file of a run: given back, it gives the same run.
#include "pipelines/training/run_config.h"

#include <gmock/gmock.h>

#include "pipelines/training/train_settings.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using SaidWords = std::map<std::string, std::string>;

/// Trains with these settings, as a layer gives them.
void train_with(const Scene& scene, const std::string& run, Layer layer, const SaidWords& said) {
  TrainSettings train;
  train.options.work = scene.work(), train.options.run = scene.path(run);
  for (const auto& [name, word] : said) train.settings.say(layer, name, {word});
  NoProgress quiet;
  run_train(train, {.threads = 2}, quiet);
}

nlohmann::json config_in(const Scene& scene, const std::string& run) {
  return read_json(scene.path(run) / kConfigFile).at("train");
}

SaidWords words_in(const nlohmann::json& config) {
  SaidWords words;
  for (const auto& [name, value] : config.items())
    words[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return words;
}

TEST(RunConfig, GivenBackItIsTheSameRunToTheSameBytes) {
  const TrainingScene scene("run_config");
  train_with(scene, "first", Layer::kCommandLine,
             {{"epochs", "9"},
              {"base-filters", "4"},
              {"depth", "3"},
              {"crop", "16x16x16"},
              {"fold", "all"},
              {"ema", "0.9"},
              {"schedule", "steps"},
              {"device", "tpu-v3"},
              {"partition", "1x2x1x1x1"},
              {"cores", "2"}});
  const nlohmann::json config = config_in(scene, "first");
  for (const char* name : {"epochs", "device", "cores"}) EXPECT_FALSE(config.contains(name)) << name;
  EXPECT_EQ(config.at("preset"), "reference");
  EXPECT_EQ(config.at("partition"), "1x2x1x1x1");
  EXPECT_TRUE(config.contains("learning-rate")) << "it was chosen";
  EXPECT_TRUE(config.contains("lr-steps")) << "it follows from the steps";
  EXPECT_THAT(config.at("precision").get<std::string>(), testing::AnyOf("bf16", "f32"));
  train_with(scene, "again", Layer::kConfig, words_in(config));
  EXPECT_TRUE(scene.last_bytes("first") == scene.last_bytes("again"));
  EXPECT_EQ(config_in(scene, "again"), config);
}

TEST(RunConfig, AResumedRunKeepsTheConfigOfItsBeginning) {
  const TrainingScene scene("run_config_resumed");
  const SaidWords said = {{"steps", "2"}, {"base-filters", "4"}, {"depth", "2"}, {"crop", "16x16x16"}, {"fold", "all"}};
  train_with(scene, "run", Layer::kCommandLine, said);
  const nlohmann::json begun = config_in(scene, "run");
  SaidWords more = said;
  more["steps"] = "3", more["resume"] = "true";
  train_with(scene, "run", Layer::kCommandLine, more);
  EXPECT_EQ(begun.at("steps"), 2);
  EXPECT_EQ(config_in(scene, "run"), begun);
}

TEST(RunConfig, APlannedCutStandsInPlaceOfWhatItWasPlannedBy) {
  TrainOptions o{.steps = 7,
                 .given = {{"", {"/work"}}, {"partition", {"auto"}}, {"cores", {"4"}}, {"prefer", {"fewest"}}}};
  o.plan = PlanRequest{};
  o.spec.precision = DType::kF32;
  o.spec.cut = {
      .mesh = {.replicas = 2, .partition = {1, 2, 1, 1, 1}}, .thinnest_slab = 4, .recompute = Recompute::kNorms};
  EXPECT_EQ(config_of_run(o).at("train"), nlohmann::ordered_json({{"model", o.spec.model_name()},
                                                                  {"preset", "reference"},
                                                                  {"steps", 7},
                                                                  {"precision", "f32"},
                                                                  {"partition", "1x2x1x1x1"},
                                                                  {"replicas", 2},
                                                                  {"recompute", "norms"},
                                                                  {"thinnest-slab", 4}}));
}

TEST(RunConfig, ATPUConfigKeepsItsWordsAndTheNumberOfItsCores) {
  TrainOptions o{.given = {{"num_cores_per_replica", {"2"}},
                           {"input_partition_dims", {"[1, 2, 1, 1, 1]"}},
                           {"device", {"tpu-v3-32"}}}};
  o.spec.cut.mesh = {.replicas = 3, .partition = {1, 2, 1, 1, 1}};
  const nlohmann::ordered_json train = config_of_run(o).at("train");
  EXPECT_EQ(train.at("cores"), 6);
  EXPECT_EQ(train.at("input_partition_dims"), "[1, 2, 1, 1, 1]");
  EXPECT_FALSE(train.contains("partition"));
  EXPECT_FALSE(train.contains("device"));
}

}  // namespace
}  // namespace voxshard
