// A TPUConfig from JSON and from text, and back; what has the wrong type is refused with key and value.
#include "pipelines/tpu/tpu_config.h"

#include <nlohmann/json.hpp>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

void expect_refused(const json& config, const std::vector<std::string>& pieces) {
  for (const auto& piece : pieces) expect_error(ErrorKind::kConfig, piece, [&] { tpu_config_from_json(config); });
}

TEST(TpuConfig, ComesBackFromJson) {
  for (
      const char* text : {
          R"({"iterations_per_loop": 100, "num_shards": 2, "num_cores_per_replica": 4,
               "input_partition_dims": [[1, 4, 1, 1], null], "per_host_input_for_training": "PER_HOST_V2",
               "train_batch_size": 8, "eval_batch_size": 4, "predict_batch_size": 2})",
          R"({"input_partition_dims": [{"image": [1, 4, 1, 1], "mask": null}, {"boxes": {"3": [1, 4, 1], "4": null}}]})",
          R"({"input_partition_dims": [1, 16, 1, 1, 1]})", R"({"input_partition_dims": [[1, 2, 2, 1]]})",
          R"({"iterations_per_loop": "60m"})", "{}"}) {
    const json given = json::parse(text);
    const json written = to_json(tpu_config_from_json(given));
    EXPECT_EQ(json(to_json(tpu_config_from_json(written))), written) << text;
    for (const auto& [key, value] : given.items())
      if (key != "iterations_per_loop") {
        EXPECT_EQ(written.at(key), value) << text;
      }
  }
}

TEST(TpuConfig, TextAndValuesSayTheSame) {
  const TpuConfig a = tpu_config_from_json({{"input_partition_dims", "[{image: (1, 4, 1, 1), 'mask': None}, None]"},
                                            {"num_cores_per_replica", "4"},
                                            {"num_shards", "None"},
                                            {"per_host_input_for_training", "3"}});
  const TpuConfig b = tpu_config_from_json(json::parse(
      R"({"input_partition_dims": [{"image": [1, 4, 1, 1], "mask": "None"}, null], "num_cores_per_replica": 4,
          "per_host_input_for_training": 3})"));
  EXPECT_EQ(to_json(a), to_json(b));
  const auto& elements = a.input_partition_dims->elements;
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(elements[0]->at("image"), TensorDims({1, 4, 1, 1}));
  EXPECT_EQ(elements[0]->at("mask"), std::nullopt);
  EXPECT_EQ(elements[1], std::nullopt);
}

TEST(TpuConfig, NoneEmptyAndNullAreUnset) {
  for (const json& none : {json(nullptr), json("None"), json("")}) {
    const TpuConfig config = tpu_config_from_json(
        {{"input_partition_dims", none}, {"num_cores_per_replica", none}, {"per_host_input_for_training", none}});
    EXPECT_FALSE(config.input_partition_dims || config.num_cores_per_replica || config.per_host_input_for_training);
  }
}

TEST(TpuConfig, OneListIsTheReferenceModelsForm) {
  const TpuConfig config = tpu_config_from_json({{"input_partition_dims", {1, 16, 1, 1, 1}}});
  EXPECT_TRUE(config.input_partition_dims->one_list);
  EXPECT_EQ(config.num_cores_per_replica, 16) << "their executor sets it to the product";
  EXPECT_EQ(config.input_mode(), InputMode::kPerHostV2);
}

TEST(TpuConfig, ReadsEveryInputMode) {
  const auto mode = [](const json& value) {
    return tpu_config_from_json({{"per_host_input_for_training", value}}).input_mode();
  };
  int number = 1;
  for (const char* name : {"PER_SHARD_V1", "PER_HOST_V1", "PER_HOST_V2", "BROADCAST", "SLICED"}) {
    EXPECT_STREQ(input_mode_name(mode(name)), name);
    EXPECT_EQ(mode(std::string("tf.estimator.tpu.InputPipelineConfig.") + name), mode(name));
    EXPECT_EQ(mode(number++), mode(name));
  }
  EXPECT_EQ(mode(true), InputMode::kPerHostV1);
  EXPECT_EQ(mode("True"), InputMode::kPerHostV1);
  EXPECT_EQ(mode(false), InputMode::kPerShardV1);
  EXPECT_EQ(mode(nullptr), InputMode::kPerHostV1);
}

TEST(TpuConfig, RefusesWhatIsNoInputMode) {
  for (const json& value : {json("PER_HOST_V3"), json(0), json(6), json(32), json("32"), json(json::array({3}))})
    expect_refused({{"per_host_input_for_training", value}},
                   {"per_host_input_for_training is " + value.dump(), "PER_HOST_V2", "it is not the batch size"});
}

TEST(TpuConfig, RefusesNumbersThatAreNotWhole) {
  for (const json& value : {json("two"), json(2.5), json("2.5"), json(true), json(json::array({1})), json("1e3")}) {
    expect_refused({{"num_shards", value}}, {"num_shards is " + value.dump(), "whole number"});
    expect_refused({{"num_cores_per_replica", value}}, {"num_cores_per_replica is " + value.dump()});
    expect_refused({{"train_batch_size", value}}, {"train_batch_size is " + value.dump()});
  }
  for (const char* key : {"train_batch_size", "eval_batch_size", "predict_batch_size"})
    expect_refused({{key, 0}}, {std::string(key) + " is 0", "at least one sample"});
}

TEST(TpuConfig, RefusesEntriesThatAreNoDims) {
  for (const char* dims : {"[[1, 4.5, 1, 1], None]", "[[1, None, 1, 1], None]", "[4, None]", "[[1, 4, 1, 1], all]",
                           "[{image: 4}, None]", "[[True, 4], None]", "[[1, [4], 1]]"})
    expect_refused({{"input_partition_dims", dims}}, {"input_partition_dims has the entry", "[1, 4, 1, 1, 1]"});
  for (const json& value : {json(4), json(true), json({{"image", {1, 4}}})})
    expect_refused({{"input_partition_dims", value}},
                   {"input_partition_dims is " + value.dump(), "[features, labels]"});
  expect_refused({{"input_partition_dims", "4"}}, {"input_partition_dims is 4"});
  for (const char* word : {"all", "AY", "'AY'", "\"[[1, 4], None]\""})  // read once, not for ever
    expect_refused({{"input_partition_dims", word}}, {"input_partition_dims is \""});
}

TEST(TpuConfig, BytesThatAreNotUtf8AreRefusedAsAnyOther) {
  expect_refused({{"input_partition_dims", "['a\xff']"}}, {"cannot be read: the text is not UTF-8"});
  expect_refused({{"per_host_input_for_training", "\xff"}}, {"expected PER_SHARD_V1"});
  expect_refused({{"num_shards", "\xff"}}, {"expected a whole number"});
}

TEST(TpuConfig, TheDocumentedExampleIsMended) {
  expect_refused({{"input_partition_dims", "[[1, 4, 1, 1], None]]"}},
                 {"at character 21", "write input_partition_dims=[[1, 4, 1, 1], None]"});
  expect_refused({{"input_partition_dims", "[[1, 4, 1, 1], None"}},
                 {"write input_partition_dims=[[1, 4, 1, 1], None]"});
  expect_refused({{"input_partition_dims", "[[1; 4]"}}, {"cannot be read", "something like [[1, 4, 1, 1], None]"});
}

TEST(TpuConfig, RefusesAnotherKeyAndNamesTheNearest) {
  expect_refused({{"num_core_per_replica", 4}},
                 {"\"num_core_per_replica\" is not known; did you mean num_cores_per_replica?"});
  expect_refused({{"iteration_per_loops", 4}}, {"iterations_per_loop?"});
  expect_refused(json::array({1}), {"expected keys and values"});
}

}  // namespace
}  // namespace voxshard
