// The conditions of TPUConfig, one by one and in the order in which the original checks them: constructor, system,
// structure, each tensor.
#include <nlohmann/json.hpp>

#include "pipelines/tpu/tpu_config.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using Kind = InputPlacement::Kind;
using Tensors = std::map<std::string, Shape>;

const Tensors kImage = {{"image", {2, 64, 64, 64, 1}}};
const Tensors kLabels = {{"labels", {2, 64, 64, 64}}};
const Tensors kTwo = {{"image", {2, 64, 64, 1}}, {"mask", {2, 64, 64}}};

TpuConfig config(const std::string& text) { return tpu_config_from_json(json::parse(text)); }

TpuConfig cut(const std::string& dims, int cores) {
  return config(R"({"num_cores_per_replica": )" + std::to_string(cores) + R"(, "input_partition_dims": ")" + dims +
                "\"}");
}

void expect_refused(const TpuConfig& c, const SystemCores& system, const std::vector<std::string>& pieces,
                    RunMode mode = RunMode::kTrain) {
  for (const auto& piece : pieces) expect_error(ErrorKind::kConfig, piece, [&] { check(c, system, mode); });
}

void expect_unresolved(const TpuConfig& c, const Tensors& features, const Tensors& labels,
                       const std::vector<std::string>& pieces) {
  for (const auto& piece : pieces)
    expect_error(ErrorKind::kConfig, piece, [&] { resolve(c, {.cores = c.cores_per_replica()}, features, labels); });
}

// The constructor.

TEST(TpuConfigConstructor, IterationsPerLoopIsAPositiveNumberOrATime) {
  for (const char* good : {"1", "100", "3600s", "60m", "1h"})
    EXPECT_NO_THROW(iterations_per_loop_from_text(good)) << good;
  EXPECT_EQ(iterations_per_loop_from_text("60m"), iterations_per_loop_from_text("3600s"));
  EXPECT_EQ(iterations_per_loop_from_text("1h").duration_s, 3600);
  EXPECT_EQ(iterations_per_loop_from_text("12").steps, 12);
  for (const char* bad :
       {"", "0", "-1", "+5", "007", "5.5", "60 m", "m", "1d", "10ms", "99999999999999999999", "1e3", "five"}) {
    expect_error(ErrorKind::kConfig, "iterations_per_loop is \"" + std::string(bad) + "\"",
                 [&] { iterations_per_loop_from_text(bad); });
    expect_error(ErrorKind::kConfig, "3600s, 60m or 1h", [&] { iterations_per_loop_from_text(bad); });
  }
  expect_error(ErrorKind::kConfig, "iterations_per_loop", [] { config(R"({"iterations_per_loop": 0})"); });
  expect_error(ErrorKind::kConfig, "iterations_per_loop", [] { config(R"({"iterations_per_loop": 2.5})"); });
  TpuConfig c;
  c.iterations_per_loop = {.steps = 0};
  expect_refused(c, {}, {"iterations_per_loop is 0"});
}

TEST(TpuConfigConstructor, NumShardsIsAPositiveWholeNumber) {
  for (const char* bad : {"0", "-2"})
    expect_refused(config(R"({"num_shards": )" + std::string(bad) + "}"), {},
                   {"num_shards is " + std::string(bad), "positive"});
  expect_error(ErrorKind::kConfig, "num_shards is 1.5; expected a whole number",
               [] { config(R"({"num_shards": 1.5})"); });
}

TEST(TpuConfigConstructor, InputPartitionDimsHasOneOrTwoElements) {
  for (const char* dims : {"[]", "[[1, 4], None, None]", "[None, None, None]"})
    expect_refused(cut(dims, 4), {.cores = 4},
                   {"input_partition_dims has ", " elements; expected one for the features"});
  EXPECT_NO_THROW(check(cut("[[1, 4]]", 4), {.cores = 4}));
  EXPECT_NO_THROW(check(cut("[[1, 4], None]", 4), {.cores = 4}));
}

TEST(TpuConfigConstructor, OnlyPerHostV2FeedsACutSample) {
  for (const char* mode : {"PER_SHARD_V1", "PER_HOST_V1", "BROADCAST", "SLICED"}) {
    TpuConfig c = cut("[[1, 4, 1, 1], None]", 4);
    c.per_host_input_for_training =
        config(R"({"per_host_input_for_training": ")" + std::string(mode) + "\"}").per_host_input_for_training;
    expect_refused(c, {.cores = 4}, {"per_host_input_for_training is " + std::string(mode), "set it to PER_HOST_V2"});
  }
}

TEST(TpuConfigConstructor, InputPartitionDimsNeedsNumCoresPerReplica) {
  expect_refused(config(R"({"input_partition_dims": [[1, 4, 1, 1], null]})"), {.cores = 4},
                 {"num_cores_per_replica is not; set it to the product"});
}

TEST(TpuConfigConstructor, AReplicaHasAPowerOfTwoUpTo128Cores) {
  for (int cores : {1, 2, 4, 8, 16, 32, 64, 128})
    EXPECT_NO_THROW(check(config(R"({"num_cores_per_replica": )" + std::to_string(cores) + "}"), {.cores = 128}))
        << cores;
  for (int cores : {-1, 0, 3, 6, 12, 100, 129, 256})
    expect_refused(config(R"({"num_cores_per_replica": )" + std::to_string(cores) + "}"), {.cores = 1024},
                   {"num_cores_per_replica is " + std::to_string(cores), "1, 2, 4, 8, 16, 32, 64 or 128"});
}

TEST(TpuConfigConstructor, ChecksInTheOriginalsOrder) {
  json all = {{"num_shards", -1}, {"input_partition_dims", json::array()}, {"per_host_input_for_training", "SLICED"}};
  const SystemCores small{.cores = 2};
  expect_refused(tpu_config_from_json(all), small, {"num_shards is -1"});
  all["num_shards"] = 7;
  expect_refused(tpu_config_from_json(all), small, {"has 0 elements"});
  all["input_partition_dims"] = {{1, 3}};
  expect_refused(tpu_config_from_json(all), small, {"is SLICED"});
  all["per_host_input_for_training"] = 3;
  expect_refused(tpu_config_from_json(all), small, {"num_cores_per_replica is not"});
  all["num_cores_per_replica"] = 3;
  expect_refused(tpu_config_from_json(all), small, {"num_cores_per_replica is 3;"});
  all["num_cores_per_replica"] = 4;
  expect_refused(tpu_config_from_json(all), small, {"the system has only 2"});
}

// The system.

TEST(TpuConfigSystem, AReplicaFitsTheSystem) {
  expect_refused(cut("[[1, 8]]", 8), {.cores = 4}, {"num_cores_per_replica is 8, but the system has only 4 cores"});
  EXPECT_NO_THROW(check(cut("[[1, 8]]", 8), {.cores = 8}));
}

TEST(TpuConfigSystem, TheSystemIsAWholeNumberOfReplicas) {
  expect_refused(cut("[[1, 8]]", 8), {.cores = 12}, {"the 12 cores", "replicas of 8", "use a multiple of 8 cores"});
}

TEST(TpuConfigSystem, NumShardsIsTheNumberOfReplicas) {
  const TpuConfig c = config(R"({"num_shards": 2, "num_cores_per_replica": 4})");
  EXPECT_NO_THROW(check(c, {.cores = 8}));
  expect_refused(c, {.cores = 16}, {"num_shards is 2, but 16 cores in replicas of 4 make 4; set num_shards to 4"});
}

TEST(TpuConfigSystem, BatchesAreSharedEvenlyByReplicasNotCores) {
  const std::vector<std::pair<std::string, RunMode>> keys = {{"train_batch_size", RunMode::kTrain},
                                                             {"eval_batch_size", RunMode::kEvaluate},
                                                             {"predict_batch_size", RunMode::kPredict}};
  for (const auto& [key, mode] : keys) {
    const auto with = [&, key = key](int batch) {
      return config(R"({"num_cores_per_replica": 4, ")" + key + "\": " + std::to_string(batch) + "}");
    };
    EXPECT_NO_THROW(check(with(2), {.cores = 8}, mode)) << key << ": 2 replicas, fewer samples than cores";
    expect_refused(with(5), {.cores = 8}, {key + " is 5, which 2 replicas cannot share evenly", "such as 6"}, mode);
    for (const auto& [other, other_mode] : keys)  // published configs train with eval_batch_size 1 and 8 replicas
      if (other != key) {
        EXPECT_NO_THROW(check(with(5), {.cores = 8}, other_mode)) << key << " decides nothing in the mode of " << other;
      }
  }
}

TEST(TpuConfigSystem, PerShardV1IsNotForReplicasOfSeveralCores) {
  expect_refused(config(R"({"num_cores_per_replica": 2, "per_host_input_for_training": "PER_SHARD_V1"})"), {.cores = 2},
                 {"PER_SHARD_V1, which feeds each core on its own", "num_cores_per_replica is 2"});
  EXPECT_NO_THROW(check(config(R"({"num_cores_per_replica": 1, "per_host_input_for_training": false})"), {.cores = 2}));
}

TEST(TpuConfigSystem, OnlyPerHostV2FeedsAReplicaThatSpansHosts) {
  const TpuConfig wide = config(R"({"num_cores_per_replica": 16, "per_host_input_for_training": "PER_HOST_V1"})");
  expect_refused(wide, {.cores = 16}, {"num_cores_per_replica is 16 and a host has 8 cores; only PER_HOST_V2"});
  EXPECT_NO_THROW(check(wide, {.cores = 16, .cores_per_host = 16}));
  EXPECT_NO_THROW(check(config(R"({"num_cores_per_replica": 16, "per_host_input_for_training": 3})"), {.cores = 16}));
}

TEST(TpuConfigSystem, PredictionsNeedOneHostOrBroadcastOrOneReplica) {
  const auto with = [](int cores, const std::string& mode) {
    return config(R"({"num_cores_per_replica": )" + std::to_string(cores) + R"(, "per_host_input_for_training": ")" +
                  mode + "\"}");
  };
  EXPECT_NO_THROW(check(with(4, "PER_HOST_V1"), {.cores = 8}, RunMode::kPredict)) << "one host";
  EXPECT_NO_THROW(check(with(4, "BROADCAST"), {.cores = 32}, RunMode::kPredict));
  EXPECT_NO_THROW(check(with(32, "PER_HOST_V2"), {.cores = 32}, RunMode::kPredict)) << "one replica";
  for (const auto& c : {with(4, "PER_HOST_V2"), with(4, "PER_HOST_V1"), with(1, "SLICED")})
    expect_refused(c, {.cores = 32},
                   {"4 hosts and", "predictions need one host, or BROADCAST, or PER_HOST_V2 with one replica"},
                   RunMode::kPredict);
}

// The structure.

TEST(TpuConfigStructure, FeaturesAreNotNoneAsAWhole) {
  expect_unresolved(cut("[None, None]", 4), kImage, kLabels, {"input_partition_dims[0] (features) is None"});
}

TEST(TpuConfigStructure, LabelsThatAreNotMentionedOrNoneAreReplicated) {
  const Tensors many = {{"boxes/3", {2, 8}}, {"boxes/4", {2, 4}}};
  for (const char* dims : {"[[1, 4, 1, 1, 1]]", "[[1, 4, 1, 1, 1], None]"}) {
    const auto resolved = resolve(cut(dims, 4), {.cores = 8}, kImage, many);
    EXPECT_EQ(resolved.replicas, 2);
    EXPECT_EQ(resolved.cores_per_replica, 4);
    EXPECT_EQ(resolved.features.at("image"), (InputPlacement{.grid = {1, 4, 1, 1, 1}}));
    for (const char* name : {"boxes/3", "boxes/4"}) EXPECT_EQ(resolved.labels.at(name).kind, Kind::kReplicated) << dims;
  }
}

TEST(TpuConfigStructure, NamesMustBeThoseOfTheTensors) {
  const auto named = [](const std::string& entries) { return cut("[{" + entries + "}, None]", 4); };
  EXPECT_NO_THROW(resolve(named("image: [1, 4, 1, 1], mask: None"), {.cores = 4}, kTwo, {}));
  for (const char* entries :
       {"image: [1, 4, 1, 1]", "image: [1, 4, 1, 1], masks: None", "image: [1, 4, 1, 1], mask: None, more: None"})
    expect_unresolved(
        named(entries), kTwo, kLabels,
        {std::string("input_partition_dims[0] (features) has entries for image"), "the tensors are image, mask"});
  expect_unresolved(cut("[[1, 4, 1, 1, 1], {label: None}]", 4), kImage, kLabels,
                    {"input_partition_dims[1] (labels) has entries for label, but the tensors are labels"});
}

TEST(TpuConfigStructure, NestsAsTheTensorsDo) {
  const Tensors nested = {{"boxes/3", {2, 8, 8}}, {"boxes/4", {2, 4, 4}}, {"classes", {2, 8}}};
  const auto labels = [](const std::string& entries) { return cut("[[1, 4, 1, 1, 1], {" + entries + "}]", 4); };
  const auto resolved =
      resolve(labels("boxes: {3: [1, 4, 1], 4: None}, classes: [1, 1]"), {.cores = 4}, kImage, nested);
  EXPECT_EQ(resolved.labels.at("boxes/3"), (InputPlacement{.grid = {1, 4, 1}}));
  EXPECT_EQ(resolved.labels.at("boxes/4").kind, Kind::kReplicated);
  EXPECT_EQ(resolved.labels.at("classes").kind, Kind::kFirstCore);
  expect_unresolved(
      labels("boxes: None, classes: None"), kImage, nested,
      {"input_partition_dims[1] (labels) is nested otherwise", "boxes, classes", "boxes/3, boxes/4, classes"});
  expect_unresolved(cut("[[1, 4, 1, 1, 1], {labels: {deep: None}}]", 4), kImage, kLabels,
                    {"is nested otherwise", "labels/deep"});
}

TEST(TpuConfigStructure, OneListIsForOneTensor) {
  expect_unresolved(cut("[[1, 4, 1, 1], None]", 4), kTwo, kLabels,
                    {"is [1, 4, 1, 1], which is for one tensor, but there are 2: image, mask"});
}

// Each tensor.

TEST(TpuConfigTensor, NoneIsReplicatedBeforeAnyOtherRule) {
  const auto resolved = resolve(cut("[{image: [1, 4, 1, 1], mask: None}, None]", 4), {.cores = 4}, kTwo, kLabels);
  EXPECT_EQ(resolved.features.at("mask").kind, Kind::kReplicated);
}

TEST(TpuConfigTensor, EntriesAreAtLeastOne) {
  expect_unresolved(cut("[[1, 0, 1, 1, 1], None]", 4), kImage, kLabels,
                    {"input_partition_dims[0] (features) of \"image\" is [1, 0, 1, 1, 1]", "has the entry 0"});
  expect_unresolved(cut("[[-2, -2, 1], None]", 4), kImage, kLabels,
                    {"has the entry -2; every entry must be at least 1"});
  expect_unresolved(config(R"({"input_partition_dims": [1, 0, 1, 1, 1]})"), kImage, kLabels, {"has the entry 0"});
}

TEST(TpuConfigTensor, AProductOfOneGoesToTheFirstCoreAtAnyRank) {
  for (const char* dims : {"[[1, 1, 1, 1, 1], [1]]", "[[1, 1], [1, 1, 1, 1, 1, 1, 1, 1]]", "[[], []]"}) {
    const auto resolved = resolve(cut(dims, 4), {.cores = 4}, kImage, kLabels);
    EXPECT_EQ(resolved.features.at("image").kind, Kind::kFirstCore) << dims;
    EXPECT_EQ(resolved.labels.at("labels").kind, Kind::kFirstCore) << dims;
  }
}

TEST(TpuConfigTensor, TheProductIsNumCoresPerReplicaExactly) {
  for (const char* dims : {"[[1, 2, 1, 1, 1], None]", "[[1, 8, 1, 1, 1], None]", "[[1, 2], None]",
                           "[[9999999999, 9999999999, 9999999999, 1, 1], None]"})
    expect_unresolved(cut(dims, 4), kImage, kLabels,
                      {"whose product is ", "but num_cores_per_replica is 4; make them equal"});
  expect_unresolved(cut("[[1, 4, 1, 1, 1], [1, 2, 1, 1]]", 4), kImage, kLabels,
                    {"input_partition_dims[1] (labels) of \"labels\"", "product is 2"});
}

TEST(TpuConfigTensor, TheRankIsThatOfTheTensor) {
  expect_unresolved(cut("[[1, 4, 1, 1], None]", 4), kImage, kLabels,
                    {"has 4 entries, but the tensor 2x64x64x64x1 has 5 axes"});
  expect_unresolved(cut("[[1, 4, 1, 1, 1], [1, 4, 1, 1, 1]]", 4), kImage, kLabels,
                    {"has 5 entries, but the tensor 2x64x64x64 has 4 axes"});
  expect_unresolved(cut("[[4], None]", 4), kImage, kLabels, {"has 1 entries"});
}

TEST(TpuConfigTensor, TheShapeIsKnownInFull) {
  expect_unresolved(cut("[[1, 4, 1, 1, 1], None]", 4), {{"image", {2, -1, 64, 64, 1}}}, kLabels,
                    {"is not known in full", "2x-1x64x64x1"});
}

TEST(TpuConfigTensor, ChecksInTheOriginalsOrder) {
  const Tensors unknown = {{"image", {2, -1, 64, 64, 1}}};
  expect_unresolved(cut("[[0, 8], None]", 4), unknown, kLabels, {"the entry 0"});
  expect_unresolved(cut("[[1, 8], None]", 4), unknown, kLabels, {"whose product is 8"});
  expect_unresolved(cut("[[1, 4], None]", 4), unknown, kLabels, {"has 2 entries"});
  expect_unresolved(cut("[[1, 4, 1, 1, 1], None]", 4), unknown, kLabels, {"not known in full"});
}

TEST(TpuConfigTensor, BatchAndChannelsMayBeCutByTheRules) {
  const auto resolved = resolve(cut("[[2, 1, 1, 1, 2], None]", 4), {.cores = 4}, kImage, kLabels);
  EXPECT_EQ(resolved.features.at("image").grid, (Dims{2, 1, 1, 1, 2}));
}

TEST(TpuConfigTensor, OneListGivesEachTensorItsFirstEntries) {
  const auto resolved =
      resolve(config(R"({"input_partition_dims": [1, 16, 1, 1, 1]})"), {.cores = 128}, kImage, kLabels);
  EXPECT_EQ(resolved.replicas, 8);
  EXPECT_EQ(resolved.features.at("image").grid, (Dims{1, 16, 1, 1, 1}));
  EXPECT_EQ(resolved.labels.at("labels").grid, (Dims{1, 16, 1, 1}));
}

}  // namespace
}  // namespace voxshard
