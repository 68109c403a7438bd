// A TPUConfig over a trained model: the cut that it gives, and what it refuses in evaluation and in prediction.
#include "pipelines/tpu/estimator.h"

#include <nlohmann/json.hpp>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

EstimatorOptions with(const std::string& json, std::int64_t cores = 0) {
  return {.config = tpu_config_from_json(nlohmann::json::parse(json)), .cores = cores};
}

ModelSpec trained(std::int64_t replicas = 1) {
  ModelSpec spec;
  spec.cut.mesh = {.replicas = replicas, .partition = {1, 2, 1, 1, 1}};
  return spec;
}

Mesh meshed(const EstimatorOptions& options, RunMode mode, ModelSpec spec = trained()) {
  apply(options, mode, spec);
  return spec.cut.mesh;
}

TEST(Estimator, AConfigThatSaysNothingOfCoresLeavesTheCutOfTheRun) {
  EXPECT_EQ(meshed({}, RunMode::kEvaluate, trained(2)), trained(2).cut.mesh);
  EXPECT_EQ(meshed(with(R"({"eval_batch_size": 4})"), RunMode::kEvaluate, trained(2)), trained(2).cut.mesh);
  expect_error(ErrorKind::kConfig, "eval_batch_size is 3, which 2 replicas",
               [] { meshed(with(R"({"eval_batch_size": 3})"), RunMode::kEvaluate, trained(2)); });
}

TEST(Estimator, AConfigCutsAnewAndPredictionsTakeOneReplica) {
  const std::string dims = R"({"input_partition_dims": [[1, 4, 1, 1, 1], null], "num_cores_per_replica": 4)";
  const Mesh mesh = meshed(with(dims + "}", 8), RunMode::kEvaluate);
  EXPECT_EQ(mesh.partition, (Dims{1, 4, 1, 1, 1}));
  EXPECT_EQ(mesh.replicas, 2);
  EXPECT_EQ(meshed(with(dims + "}", 8), RunMode::kPredict).replicas, 1);
  EXPECT_EQ(meshed(with(dims + R"(, "num_shards": 2})"), RunMode::kEvaluate).replicas, 2)
      << "as many cores as that needs";
  EXPECT_EQ(meshed(with(R"({"num_shards": 3})"), RunMode::kEvaluate),
            (Mesh{.replicas = 3, .partition = {1, 2, 1, 1, 1}}));
}

TEST(Estimator, AReplicaOfOneCoreIsUncutHoweverTheRunWasCut) {
  const Mesh uncut{.replicas = 8, .partition = {1, 1, 1, 1, 1}};
  EXPECT_EQ(meshed(with(R"({"num_shards": 8})", 8), RunMode::kEvaluate), uncut);
  EXPECT_EQ(meshed(with(R"({"num_cores_per_replica": 1})", 8), RunMode::kEvaluate), uncut);
}

TEST(Estimator, WhatTheOriginalRefusesIsRefused) {
  const auto refused = [](const std::string& json, std::int64_t cores, RunMode mode, const std::string& piece) {
    expect_error(ErrorKind::kConfig, piece, [&] { meshed(with(json, cores), mode); });
  };
  const std::string dims = R"({"input_partition_dims": [1, 4, 1, 1, 1])";
  refused(dims + R"(, "num_shards": 3})", 8, RunMode::kEvaluate, "set num_shards to 2");
  refused(dims + R"(, "num_shards": 3})", 8, RunMode::kPredict, "set num_shards to 2");
  refused(dims + R"(, "predict_batch_size": 3})", 8, RunMode::kPredict, "predict_batch_size is 3, which 2 replicas");
  refused(dims + "}", 32, RunMode::kPredict,
          "predictions need one host, or BROADCAST, or PER_HOST_V2 with one replica");
  refused(dims + "}", 2, RunMode::kPredict, "the system has only 2 cores");
  refused(R"({"input_partition_dims": [[1, 4, 1, 1, 1], null]})", 8, RunMode::kEvaluate,
          "num_cores_per_replica is not");
  refused(dims + "}", 5000, RunMode::kEvaluate, "expected at most 4096");
  EXPECT_EQ(meshed(with(dims + R"(, "eval_batch_size": 3})", 8), RunMode::kPredict).replicas, 1)
      << "the other mode's batch";
}

TEST(Estimator, EvaluationThatIsNotOnATpuIsUncutAndUnconditional) {
  EstimatorOptions options = with(R"({"num_shards": 5, "eval_batch_size": 3})", 8);
  options.eval_on_tpu = false;
  EXPECT_EQ(meshed(options, RunMode::kEvaluate, trained(2)).cores(), 1);
  expect_error(ErrorKind::kConfig, "num_shards is 5", [&] { meshed(options, RunMode::kPredict); });
}

}  // namespace
}  // namespace voxshard
