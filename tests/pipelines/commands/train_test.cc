// Training of volumes: the same bytes whatever the threads, and no run is lost by a mistake.
#include <nlohmann/json.hpp>

#include <map>
#include <set>

#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

TEST(RunTrain, LeavesTheRunFolder) {
  TrainingScene scene("train_folder");
  TrainOptions o = scene.options("run");
  volumes(o).fold = "0", o.validate_every = 2, volumes(o).sampling.crop = {16, 16, 24};
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.steps, 5);
  EXPECT_EQ(report.validation_cases, 1);
  EXPECT_EQ(report.validation->by_class.size(), 4u);
  for (const char* name : {"run.json", "plans.json", "splits_final.json", "results.csv", "checkpoints/last.safetensors",
                           "checkpoints/last.json", "checkpoints/best.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(o.run / name)) << name;
  const std::string rows = Scene::bytes_of(o.run / "results.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 6);
  EXPECT_EQ(read_json(o.run / "run.json").at("report").at("steps"), 5);
}

TEST(RunTrain, ARowOfAValidatedStepHasTheScoreOfEachClassByName) {
  TrainingScene scene("train_class_scores");
  TrainOptions o = scene.options("run");
  volumes(o).fold = "0", o.steps = 4, o.validate_every = 2;
  run_train(o, scene.progress);
  std::map<std::string, std::map<std::string, std::string>> scores;  // by step and class
  read_csv(o.run / "validations.csv", [&](const std::vector<std::string>& row) {
    if (row.at(2).empty() && !row.at(3).empty()) scores[row.at(0)][row.at(3)] = row.at(4);
  });
  ASSERT_EQ(scores.size(), 2u);
  std::vector<std::vector<std::string>> rows;
  const std::vector<std::string> columns =
      read_csv(o.run / "results.csv", [&](const std::vector<std::string>& row) { rows.push_back(row); });
  EXPECT_EQ(std::vector(columns.begin() + 6, columns.end()),
            (std::vector<std::string>{"validation_dice_lungs", "validation_dice_liver", "validation_dice_lesion",
                                      "validation_dice_spine"}));
  ASSERT_EQ(rows.size(), 4u);
  for (const std::vector<std::string>& row : rows)
    for (std::size_t c = 6; c < columns.size(); ++c) {
      const std::string name = columns[c].substr(std::string("validation_dice_").size());
      EXPECT_EQ(row[c], scores.contains(row[0]) ? scores[row[0]].at(name) : "nan") << "step " << row[0] << ", " << name;
    }
}

TEST(RunTrain, OneAndTwoThreadsGiveTheSameBytes) {
  TrainingScene scene("train_threads");
  for (const DType precision : {DType::kF32, DType::kBF16}) {
    for (const int threads : {1, 2}) {
      TrainOptions o = scene.options(std::to_string(threads));
      o.spec.precision = precision, o.spec.cut.mesh.partition = {1, 2, 2, 1, 1}, o.resources.threads = threads,
      o.restart = true;
      run_train(o, scene.progress);
    }
    EXPECT_TRUE(scene.last_bytes("1") == scene.last_bytes("2")) << dtype_name(precision);
  }
}

TEST(RunTrain, KeepsTheNewestCheckpointsAndEachKthStep) {
  TrainingScene scene("train_kept");
  TrainOptions o = scene.options("run");
  o.steps = 11, o.checkpoint_every = 1, o.kept = {.last = 3, .every = 4};
  run_train(o, scene.progress);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(o.run / "checkpoints"))
    if (entry.path().extension() == ".safetensors") names.insert(entry.path().filename().string());
  EXPECT_THAT(names, testing::ElementsAre("last.safetensors", "step-000004.safetensors", "step-000008.safetensors",
                                          "step-000009.safetensors", "step-000010.safetensors"));
  EXPECT_EQ(load_checkpoint(scene.last("run")).state.step, 11);
  EXPECT_EQ(load_checkpoint(o.run / "checkpoints/step-000008.safetensors").state.step, 8);
  o.steps = 1, o.restart = true;
  run_train(o, scene.progress);
  EXPECT_FALSE(std::filesystem::exists(o.run / "checkpoints/step-000008.safetensors"))
      << "of the run that was thrown away";
}

TEST(RunTrain, ATornOrAlteredLastCheckpointIsNamedAndTheOneBeforeGoesOnToTheSameBytes) {
  TrainingScene scene("train_damaged");
  TrainOptions o = scene.options("run");
  o.steps = 6, o.checkpoint_every = 2;
  run_train(o, scene.progress);
  const std::string whole = scene.last_bytes("run");
  o.resume = true;
  for (const char* how : {"torn", "altered", "missing"}) {
    if (how == std::string("torn")) Scene::truncate(scene.last("run"));
    if (how == std::string("missing")) std::filesystem::remove(scene.last("run"));
    if (how == std::string("altered")) {
      std::fstream file(scene.last("run"), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-100, std::ios::end);
      file.write("altered", 7);
    }
    RecordingProgress progress;
    run_train(o, progress);
    EXPECT_TRUE(scene.last_bytes("run") == whole) << how;
    EXPECT_THAT(progress.lines, testing::Contains("resumed at step 4")) << how;
    const auto named = testing::Contains(testing::HasSubstr("last.safetensors"));
    if (how == std::string("missing")) {
      EXPECT_THAT(progress.lines, testing::Not(named));
    } else {
      EXPECT_THAT(progress.lines, named) << how;
    }
  }
}

TEST(RunTrain, CheckpointsThatWereCopiedAloneGoOn) {
  TrainingScene scene("train_copied");
  TrainOptions o = scene.options("run");
  o.steps = 3;
  run_train(o, scene.progress);
  o.run = scene.path("copied"), o.resume = true, o.steps = 5;
  std::filesystem::create_directories(o.run);
  std::filesystem::copy(scene.path("run/checkpoints"), o.run / "checkpoints", std::filesystem::copy_options::recursive);
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
  o.run = scene.path("run");
  run_train(o, scene.progress);
  EXPECT_TRUE(scene.last_bytes("copied") == scene.last_bytes("run"));
}

/// The refusal names the part of run.json that belongs to another version.
TEST(RunTrain, ARunOfAnotherVersionIsRefusedByNameAndStays) {
  TrainingScene scene("train_version");
  TrainOptions o = scene.options("run");
  o.steps = 3;
  run_train(o, scene.progress);
  const std::string record = Scene::bytes_of(o.run / "run.json"), checkpoint = scene.last_bytes("run");
  o.resume = true, o.steps = 4;
  const auto refused = [&](const std::string& old, const std::string& piece) {
    std::ofstream(o.run / "run.json") << old;
    expect_error(ErrorKind::kCheckpoint, piece, [&] { run_train(o, scene.progress); });
    EXPECT_EQ(Scene::bytes_of(o.run / "run.json"), old);
    EXPECT_TRUE(scene.last_bytes("run") == checkpoint);
  };
  auto json = nlohmann::ordered_json::parse(record);
  json["format"] = "voxshard 1";
  refused(
      json.dump(),
      "run.json has the format \"voxshard 1\"; this program reads \"voxshard 2\" alone; train anew in another folder");
  json.erase("format");
  refused(json.dump(), "run.json names no format");
  for (const char* key : {"options", "recipe", "model", "training", "saved_checkpoints"}) {
    json = nlohmann::ordered_json::parse(record);
    json.erase(key);
    refused(json.dump(), std::string("run.json lacks ") + key);
  }
}

TEST(RunTrain, APreparedFolderOfAnotherVersionIsRefusedByName) {
  TrainingScene scene("prepared_version");
  std::string manifest = Scene::bytes_of(scene.work() / "manifest.jsonl");
  manifest.replace(manifest.find("voxshard 2"), 10, "voxshard 1");
  std::ofstream(scene.work() / "manifest.jsonl") << manifest;
  expect_error(ErrorKind::kInput, "work/manifest.jsonl: has the format \"voxshard 1\"",
               [&] { run_train(scene.options("run"), scene.progress); });
  const PrepareOptions again{.dataset = scene.data(), .work = scene.work(), .resume = true};
  expect_error(ErrorKind::kInput, "work/manifest.jsonl: has the format \"voxshard 1\"",
               [&] { prepare_dataset(again, scene.progress); });
}

TEST(RunTrain, AnExistingRunIsOnlyReplacedWhenAsked) {
  TrainingScene scene("train_exists");
  TrainOptions o = scene.options("run");
  run_train(o, scene.progress);
  const std::string before = scene.last_bytes("run");
  expect_error(ErrorKind::kUsage, "{resume}", [&] { run_train(o, scene.progress); });
  o.restart = true;
  TrainOptions impossible = o;
  impossible.resources.core_budget_bytes = 1 << 20;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] { run_train(impossible, scene.progress); });
  impossible = o;
  volumes(impossible).fold = "7";
  expect_error(ErrorKind::kConfig, "{fold}", [&] { run_train(impossible, scene.progress); });
  EXPECT_TRUE(scene.last_bytes("run") == before) << "a run that cannot start must not throw the earlier one away";
  EXPECT_TRUE(std::filesystem::exists(o.run / "results.csv"));
  o.seed = 1;
  run_train(o, scene.progress);
  EXPECT_TRUE(scene.last_bytes("run") != before);
}

TEST(RunTrain, WholeVolumesArePaddedAndTrained) {
  TrainingScene scene("train_whole", 3);
  TrainOptions o = scene.options("run");
  volumes(o).sampling.crop = {}, volumes(o).sampling.pad_multiple = 4, o.spec.cut.mesh.partition = {1, 2, 1, 2, 1};
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.steps, 5);
  EXPECT_TRUE(std::isfinite(report.loss));
}

TEST(RunTrain, TwoReplicasShareABatchOfTwo) {
  TrainingScene scene("train_replicas");
  for (const bool norm_over_replica : {false, true}) {
    TrainOptions o = scene.options(norm_over_replica ? "replica" : "all");
    o.batch = 2, o.spec.cut.mesh.replicas = 2, o.spec.cut.mesh.partition = {1, 1, 2, 1, 1}, volumes(o).fold = "0";
    o.spec.norm_over_replica = norm_over_replica;
    EXPECT_EQ(run_train(o, scene.progress).steps, 5);
  }
  EXPECT_TRUE(scene.last_bytes("all") != scene.last_bytes("replica"));
  TrainOptions odd = scene.options("odd");
  odd.batch = 3, odd.spec.cut.mesh.replicas = 2;
  expect_error(ErrorKind::kConfig, "divisible", [&] { run_train(odd, scene.progress); });
}

TEST(RunTrain, TheBudgetHoldsForValidationAndIsCheckedBeforeTheFirstStep) {
  TrainingScene scene("train_budget");
  TrainOptions o = scene.options("run");
  volumes(o).fold = "0", volumes(o).sampling.crop = {8, 8, 8};
  run_train(o, scene.progress);
  const auto memory = read_json(o.run / "run.json").at("memory").at("bytes_per_core").at(0);
  o.run = scene.path("tight"),
  o.resources.core_budget_bytes = memory.get<std::int64_t>();  // the crop fits, the whole volumes do not
  RecordingProgress progress;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] { run_train(o, progress); });
  EXPECT_EQ(progress.updates, 0);
  volumes(o).fold = "all";
  EXPECT_EQ(run_train(o, progress).steps, 5) << "without validation the crop alone counts";
}

TEST(RunTrain, TheBudgetHoldsForEveryWholeVolume) {
  Scene scene("train_volumes");  // case 1 is larger than case 0
  scene.write_dataset(2);
  write_volume(scene.image(1), Scene::make_image(1, {24, 20, 16}), DiskType::kI16);
  write_volume(scene.label(1), Scene::make_label({24, 20, 16}), DiskType::kU8);
  prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  TrainOptions o{.work = scene.work(), .run = scene.path("small"), .steps = 6};
  volumes(o).fold = "all";
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3}, o.spec.precision = DType::kF32;
  volumes(o).sampling.crop = {8, 10, 12};
  run_train(o, scene.progress);
  o.resources.core_budget_bytes =
      2 * read_json(o.run / "run.json").at("memory").at("bytes_per_core").at(0).get<std::int64_t>();
  o.run = scene.path("whole"), volumes(o).sampling.crop = {}, volumes(o).sampling.pad_multiple = 4;
  RecordingProgress progress;
  expect_error(ErrorKind::kBudget, "16x20x24", [&] { run_train(o, progress); });
  EXPECT_EQ(progress.updates, 0);
}

TEST(RunTrain, TheBudgetHoldsForWholeVolumesAtTheEnd) {
  const TrainingScene scene("train_whole_steps");
  TrainOptions o = scene.options("crops");
  volumes(o).fold = "all", volumes(o).sampling.crop = {8, 8, 8};
  RecordingProgress progress;
  run_train(o, progress);
  o.resources.core_budget_bytes =
      read_json(o.run / "run.json").at("memory").at("bytes_per_core").at(0).get<std::int64_t>();
  o.run = scene.path("tight");
  volumes(o).sampling.whole_steps = 1;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] { run_train(o, progress); });
}

TEST(RunTrain, WholeVolumesAtTheEndAreTrainedOnWhereverARunWasStopped) {
  const TrainingScene scene("train_whole_resumed");
  RecordingProgress progress;
  const auto options = [&](const std::string& run) {
    TrainOptions o = scene.options(run);
    volumes(o).sampling.crop = {8, 8, 8}, volumes(o).sampling.whole_steps = 2;
    return o;
  };
  run_train(options("whole"), progress);
  EXPECT_EQ(read_json(scene.path("whole") / "run.json").at("training").at("whole_steps"), 2);
  for (const std::int64_t stop : {2, 4}) {
    TrainOptions o = options("stopped_" + std::to_string(stop));
    StoppingProgress stops(stop, false);
    EXPECT_TRUE(run_train(o, stops).interrupted);
    o.resume = true;
    EXPECT_FALSE(run_train(o, progress).interrupted);
    EXPECT_TRUE(scene.last_bytes(o.run.filename().string()) == scene.last_bytes("whole")) << stop;
  }
  TrainOptions further = options("stopped_4");
  further.resume = true, further.steps = 7;
  run_train(further, progress);
  EXPECT_THAT(progress.lines, testing::Contains(testing::HasSubstr("the last 2 steps of both are on whole volumes")));
  TrainOptions crops = options("crops");
  volumes(crops).sampling.whole_steps = 0;
  run_train(crops, progress);
  EXPECT_TRUE(scene.last_bytes("crops") != scene.last_bytes("whole"));
}

TEST(RunTrain, ADivergedRunNamesStepAndLayerAndKeepsTheCheckpoint) {
  TrainingScene scene("train_diverged");
  TrainOptions o = scene.options("run");
  o.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e35};
  expect_error(ErrorKind::kDiverged, "first at layer", [&] { run_train(o, scene.progress); });
}

TEST(RunTrain, WhatIsMissingOrUnwritableIsNamed) {
  TrainingScene scene("train_missing");
  TrainOptions o = scene.options("run");
  o.work = scene.path("nowhere");
  expect_error(ErrorKind::kInput, "voxshard prepare", [&] { run_train(o, scene.progress); });
  o = scene.options("run");
  o.run = "/proc/voxshard";
  expect_error(ErrorKind::kOutput, "/proc/voxshard", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
