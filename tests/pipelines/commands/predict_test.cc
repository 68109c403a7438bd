// Prediction: each label map lies where its image lies, a bad image is left out alone, and no input is ever
// overwritten.
#include "pipelines/commands/run_predict.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pipelines/commands/run_doctor.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/trained_run.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/pipelines/beside_scene.h"

namespace voxshard {
namespace {

struct PredictScene : TrainedVolumesScene {
  using TrainedVolumesScene::TrainedVolumesScene;
  PredictOptions predict() const { return {.run = path("run"), .input = path("in"), .output = path("out")}; }
};

TEST(RunPredict, EveryLabelMapHasTheGeometryOfItsImage) {
  PredictScene scene("predict_geometry");
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  ASSERT_EQ(report.cases.size(), 3u);
  std::set<std::string> orientations;
  for (const PredictedCase& c : report.cases) {
    const VolumeInfo in = read_volume_info(scene.path("in") / (c.id + ".nii.gz")), out = read_volume_info(c.file);
    EXPECT_TRUE(same_geometry(in.geometry, out.geometry, 1e-5)) << c.id;
    orientations.insert(in.orientation);
    const Volume labels = read_label(c.file);
    for (std::int64_t i = 0; i < labels.voxels.count(); ++i)
      ASSERT_TRUE(labels.voxels.as<std::int32_t>()[i] >= 0 && labels.voxels.as<std::int32_t>()[i] < 5);
  }
  EXPECT_GT(orientations.size(), 1u) << "the demo should have several orientations";
  EXPECT_GT(report.bytes_per_core, 0);

  EvaluateLabelsOptions evaluate;
  evaluate.predictions = scene.path("out"), evaluate.references = scene.data() / "labelsTr";
  EXPECT_EQ(evaluate_labels(evaluate, scene.progress).cases.size(), 2u);
}

TEST(RunPredict, TheReportSaysWhereTheTimeWent) {
  PredictScene scene("predict_stages");
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  const auto& stages = report.found.at("stages");
  double all = 0, cases = 0;
  for (const char* stage : {"reading", "preparing", "network", "writing"}) {
    EXPECT_GT(stages.at(stage), 0.0) << stage;
    all += stages.at(stage).get<double>();
  }
  for (const PredictedCase& c : report.cases) cases += c.seconds;
  EXPECT_LE(all, cases) << "the stages lie within the time of the cases";
  EXPECT_GT(stages.at("pages_given"), 0);
  EXPECT_THAT(report.text,
              testing::ContainsRegex("time: reading [0-9.]+ s \\([0-9]+ %\\), preparing [0-9.]+ s \\([0-9]+ %\\), "
                                     "network [0-9.]+ s \\([0-9]+ %\\), restoring and writing [0-9.]+ s "
                                     "\\([0-9]+ %\\); page faults: [1-9][0-9]*, from disk: [0-9]+\n"));
  const PredictReport again = run_predict(scene.predict(), scene.progress);
  ASSERT_EQ(again.kept, 3);
  EXPECT_FALSE(again.found.contains("stages")) << "nothing was predicted";
}

TEST(RunPredict, APartitionPredictsTheSameLabels) {
  PredictScene scene("predict_partition");
  PredictOptions o = scene.predict();
  run_predict(o, scene.progress);
  o.output = scene.path("cut"), o.partition = Dims{1, 2, 1, 3, 1};
  for (const PredictedCase& c : run_predict(o, scene.progress).cases)
    EXPECT_TRUE(Scene::bytes_of(c.file) == Scene::bytes_of(scene.path("out") / (c.id + ".nii.gz"))) << c.id;
}

TEST(RunPredict, ABrokenImageIsQuarantinedAndTheOthersArePredicted) {
  PredictScene scene("predict_broken");
  Scene::truncate(scene.path("in/phantom_001.nii.gz"));
  write_volume(scene.path("in/a_nan.nii"), Scene::make_image(1), DiskType::kF32);
  Scene::plant_nan(scene.path("in/a_nan.nii"), 17);
  std::ofstream(scene.path("in/b_text.nii.gz")) << "no volume";
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  EXPECT_EQ(report.cases.size(), 2u);
  ASSERT_EQ(report.failures.size(), 3u);
  EXPECT_EQ(report.failures[0].code, "E_NAN");
  EXPECT_EQ(report.failures[2].id, "phantom_001");
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), testing::HasSubstr("phantom_001,E_READ"));
  EXPECT_FALSE(std::filesystem::exists(scene.path("out/phantom_001.nii.gz")));
  EXPECT_EQ(to_json(report)["failed"], 3);
}

TEST(RunPredict, ADryRunSaysWhatWouldBeDoneAndWritesNothing) {
  PredictScene scene("predict_dry");
  PredictOptions o = scene.predict();
  o.dry_run = true;
  Scene::truncate(scene.path("in/phantom_001.nii.gz"));
  std::ofstream(scene.path("in/b_text.nii.gz")) << "no volume";
  const PredictReport before = run_predict(o, scene.progress);
  EXPECT_FALSE(std::filesystem::exists(scene.path("out")));
  EXPECT_TRUE(before.cases.empty());
  ASSERT_EQ(before.planned.size(), 3u) << "phantom_001 is whole as far as its header says";
  EXPECT_EQ(before.planned[0].id, "phantom_000");
  EXPECT_GT(before.planned[0].bytes, 0);
  EXPECT_FALSE(before.planned[0].kept);
  EXPECT_NE(before.time_source, "earlier") << "nothing was predicted yet";
  ASSERT_EQ(before.failures.size(), 1u);
  EXPECT_EQ(before.failures[0].id, "b_text");

  o.dry_run = false;
  const PredictReport done = run_predict(o, scene.progress);
  const auto files = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(scene.path("out")))
      all[entry.path().filename().string()] = Scene::bytes_of(entry.path());
    return all;
  };
  const auto written = files();
  o.dry_run = true;
  const PredictReport after = run_predict(o, scene.progress);
  EXPECT_EQ(files(), written);
  EXPECT_EQ(after.kept, std::ssize(done.cases));
  EXPECT_EQ(to_json(after).at("planned").size(), after.planned.size());
  const nlohmann::ordered_json summary = to_json(after).at("summary");
  EXPECT_EQ(summary.at("predicted"), std::ssize(after.planned) - after.kept) << "what would be";
  EXPECT_EQ(summary.at("inputs"), std::ssize(after.planned) + 1) << "b_text is left out";
  EXPECT_EQ(after.time_source, "earlier");
  EXPECT_EQ(after.planned[0].seconds, 0.0) << "it is kept";
  Scene::truncate(scene.path("out") / "phantom_000.nii.gz");
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_FALSE(again.planned[0].kept);
  EXPECT_GT(again.planned[0].seconds.value_or(0), 0) << "by what the call before took";
  EXPECT_THAT(again.text, testing::HasSubstr("by an estimate from what an earlier call took; nothing was written"));
  o.precision = DType::kBF16;
  EXPECT_EQ(run_predict(o, scene.progress).kept, 0) << "other options make other label maps";
}

TEST(RunPredict, ADryRunRefusesWhatPredictRefuses) {
  PredictScene scene("predict_dry_none");
  PredictOptions o = scene.predict();
  o.input = scene.path("bad");
  std::filesystem::create_directories(o.input);
  std::ofstream(scene.path("bad/a.nii.gz")) << "no volume";
  for (const bool dry : {true, false}) {
    o.dry_run = dry;
    expect_error(ErrorKind::kNoCase, "none of 1 images could be predicted", [&] { run_predict(o, scene.progress); });
    EXPECT_EQ(std::filesystem::exists(scene.path("out")), !dry);
  }
}

TEST(RunPredict, ADryRunEstimatesTheNetworkByTheMeasuredRatesOfTheMachine) {
  PredictScene scene("predict_host");
  const std::string file = scene.path("host.json");
  run_doctor({.output = file, .quick = true, .measure = true, .call_seconds = 1e-6, .most_flops = 2e7}, scene.progress);
  ASSERT_EQ(::setenv("VOXSHARD_HOST_DEVICE", file.c_str(), 1), 0);
  PredictOptions o = scene.predict();
  o.dry_run = true;
  const PredictReport report = run_predict(o, scene.progress);
  ::unsetenv("VOXSHARD_HOST_DEVICE");
  EXPECT_EQ(report.time_source, "host");
  for (const PlannedInput& one : report.planned) EXPECT_GT(one.seconds.value_or(0), 0) << one.id;
  EXPECT_THAT(report.text, testing::HasSubstr("by an estimate from the measured rates of this machine"));
}

TEST(RunPredict, ImagesOfTheSameNameDoNotOverwriteEachOther) {
  PredictScene scene("predict_twice");
  std::filesystem::copy_file(scene.path("in/phantom_001.nii.gz"), scene.path("in/phantom_000_0000.nii.gz"));
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  EXPECT_EQ(report.cases.size(), 3u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "phantom_000");
  EXPECT_EQ(report.failures[0].code, "E_DUPLICATE");
}

TEST(RunPredict, TheFolderOfTheImagesIsNoOutput) {
  PredictScene scene("predict_inplace");
  PredictOptions o = scene.predict();
  const std::string before = Scene::bytes_of(scene.path("in/phantom_000.nii.gz"));
  o.output = scene.path("in/../in");
  expect_error(ErrorKind::kUsage, "overwrite", [&] { run_predict(o, scene.progress); });
  o.input = scene.path("in/phantom_000.nii.gz");
  expect_error(ErrorKind::kUsage, "overwrite", [&] { run_predict(o, scene.progress); });
  EXPECT_TRUE(Scene::bytes_of(scene.path("in/phantom_000.nii.gz")) == before);
}

TEST(RunPredict, NothingToPredictIsAnError) {
  PredictScene scene("predict_none");
  PredictOptions o = scene.predict();
  o.input = scene.path("empty");
  expect_error(ErrorKind::kInput, "does not exist", [&] { run_predict(o, scene.progress); });
  std::filesystem::create_directories(o.input);
  expect_error(ErrorKind::kNoCase, "no .nii", [&] { run_predict(o, scene.progress); });
  std::ofstream(scene.path("empty/x.nii.gz")) << "no volume";
  expect_error(ErrorKind::kNoCase, "x.nii.gz", [&] { run_predict(o, scene.progress); });
}

TEST(RunPredict, ATinyBudgetIsRefusedBeforeAnyOutputExists) {
  PredictScene scene("predict_budget");
  PredictOptions o = scene.predict();
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] {
    run_predict(o, {scene.progress, {.core_budget_bytes = 1 << 20}});
  });
  EXPECT_FALSE(std::filesystem::exists(o.output));
}

TEST(RunPredict, ACheckpointOfAnotherModelIsRefused) {
  PredictScene scene("predict_other");
  Checkpoint checkpoint = load_checkpoint(scene.last("run"));
  checkpoint.state.model["base_filters"] = 8;
  save_checkpoint(scene.path("other.safetensors"), checkpoint.state, checkpoint.parameters, {});
  PredictOptions o = scene.predict();
  o.run = scene.path("other.safetensors");
  expect_error(ErrorKind::kCheckpoint, "another model", [&] { run_predict(o, scene.progress); });
  checkpoint.state.model["base_filters"] = 4, checkpoint.state.prepare = nlohmann::json::object();
  save_checkpoint(o.run, checkpoint.state, checkpoint.parameters, {});
  expect_error(ErrorKind::kCheckpoint, "other.safetensors", [&] { run_predict(o, scene.progress); });
  o = scene.predict(), o.checkpoint = "worst";
  expect_error(ErrorKind::kUsage, "expected best, last or auto", [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(std::filesystem::exists(o.output));
}

TEST(RunPredict, ARunOfMembersWithSupervisedLevelsPredictsAndIsEvaluatedWithoutTheirHeads) {
  TrainingScene scene("predict_supervised");
  TrainOptions o = scene.options("run");
  o.steps = 2, o.spec.as<UNetConfig>() = {.base_filters = 2, .depth = 4, .deep_supervision = true, .members = 2};
  volumes(o).fold = "0";  // validates with the prediction graph
  EXPECT_TRUE(run_train(o, scene.progress).validation);
  TrainedRun run = load_trained_run({.run = o.run});
  for (const char* head : {"decoder1/head/kernel", "member1/decoder1/head/kernel"})
    EXPECT_TRUE(run.parameters.contains(head)) << head;
  WorkerPool pool(1);
  const auto session = prediction_session(run, {}, pool);
  for (const char* head : {"head/kernel", "member1/head/kernel"})
    EXPECT_TRUE(session->parameters().contains(head)) << head;
  for (const char* head : {"decoder1/head/kernel", "member1/decoder1/head/kernel"})
    EXPECT_FALSE(session->parameters().contains(head)) << head;
  EXPECT_EQ(run_predict({.run = o.run, .input = scene.data() / "imagesTs", .output = scene.path("out")}, scene.progress)
                .cases.size(),
            1u);
}

struct StopAfterOne : RecordingProgress {
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    stop = stop || (stage == "predict" && done >= 1);
  }
};

TEST(RunPredict, WhatAStoppedCallFinishedIsKeptByTheNext) {
  PredictScene scene("predict_stopped");
  PredictOptions o = scene.predict();
  StopAfterOne stopping;
  const PredictReport first = run_predict(o, stopping);
  EXPECT_TRUE(first.interrupted);
  ASSERT_EQ(first.cases.size(), 1u);
  const auto time = std::filesystem::last_write_time(first.cases[0].file);
  const PredictReport rest = run_predict(o, scene.progress);
  EXPECT_EQ(rest.cases.size(), 3u);
  EXPECT_EQ(rest.kept, 1);
  EXPECT_THAT(rest.text, testing::HasSubstr("3 predicted (1 by an earlier call, kept), 0 quarantined"));
  EXPECT_EQ(std::filesystem::last_write_time(first.cases[0].file), time);
  o.output = scene.path("whole");
  for (const PredictedCase& c : run_predict(o, scene.progress).cases)
    EXPECT_TRUE(Scene::bytes_of(c.file) == Scene::bytes_of(scene.path("out") / c.file.filename())) << c.id;
}

TEST(RunPredict, OnlyAPredictionOfTheSameImageOnTheSameGridIsKept) {
  PredictScene scene("predict_kept");
  PredictOptions o = scene.predict();
  run_predict(o, scene.progress);
  EXPECT_EQ(run_predict(o, scene.progress).kept, 3);
  o.partition = Dims{1, 2, 1, 1, 1};
  EXPECT_EQ(run_predict(o, scene.progress).kept, 0);
  std::filesystem::copy_file(scene.path("in/phantom_000.nii.gz"), scene.path("in/phantom_001.nii.gz"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(run_predict(o, scene.progress).kept, 2);
  std::filesystem::resize_file(scene.path("out/phantom_002.nii.gz"), 0);  // another program's file
  expect_error(ErrorKind::kOutput, "phantom_002.nii.gz, which somebody changed",
               [&] { run_predict(o, scene.progress); });
}

TEST(RunPredict, WhatWouldNotFitTodayIsKeptWhereAnEarlierCallPredictedIt) {
  PredictScene scene("predict_less_memory");
  write_volume(scene.path("in/wide.nii"), Scene::make_image(0, {200, 200, 140}), DiskType::kF32);
  PredictOptions o = scene.predict();
  const PredictReport first = run_predict(o, scene.progress);
  ASSERT_EQ(first.cases.size(), 4u);
  const RunResources less{.core_budget_bytes = first.bytes_per_core - 1};  // than the largest takes
  o.output = scene.path("new");
  const PredictReport anew = run_predict(o, {scene.progress, less});
  ASSERT_EQ(anew.failures.size(), 1u);
  EXPECT_EQ(anew.failures[0].id, "wide");

  o.output = scene.path("out");
  const std::string written = Scene::bytes_of(scene.path("out/wide.nii.gz"));
  const PredictReport second = run_predict(o, {scene.progress, less});
  EXPECT_EQ(second.kept, 4);
  EXPECT_TRUE(second.failures.empty());
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/wide.nii.gz")) == written);
  o.dry_run = true;
  const PredictReport rehearsed = run_predict(o, {scene.progress, less});
  EXPECT_EQ(rehearsed.kept, 4);
  EXPECT_TRUE(rehearsed.failures.empty());
}

TEST(RunPredict, ThePredictionOfAnImageThatWasReplacedDoesNotStay) {
  PredictScene scene("predict_replaced");
  run_predict(scene.predict(), scene.progress);
  Scene::truncate(scene.path("in/phantom_001.nii.gz"));
  EXPECT_EQ(run_predict(scene.predict(), scene.progress).failures.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(scene.path("out/phantom_001.nii.gz")));
}

}  // namespace
}  // namespace voxshard
