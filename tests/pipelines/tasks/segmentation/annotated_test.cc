// Classes that were not annotated in a case: their voxels are neither trained as background nor scored.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "io/files/safetensors.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/expect_error.h"
#include "tests/pipelines/training_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

/// Cases of which those named lack the class two.
struct PartialScene : Scene {
  PartialScene(const std::string& name, int cases, const std::vector<std::string>& partial) : Scene(name) {
    write_dataset(cases);
    edit_dataset([&](nlohmann::json& json) {
      for (const std::string& id : partial) json["annotated"][id] = {"one"};
    });
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
  }
};

TEST(AnnotatedClasses, TheBackgroundOfAnIncompleteCaseIsIgnoredAndThatOfAnotherIsNot) {
  PartialScene scene("annotated_source", 2, {"case_1"});
  const Volume truth = Scene::make_label();
  for (const std::size_t item : {0u, 1u}) {
    const SampleSource source(read_prepared(scene.work()), {item},
                              {.crop = {8, 10, 12}, .intensity_scale = 0, .noise = 0});
    Tensor labels(DType::kI32, {1, 8, 10, 12, 1});
    source.fill(source.batch(0, 1), input::Labels{.classes = 3, .ignored = -7}, labels.view());
    for (std::int64_t i = 0; i < labels.count(); ++i) {
      const std::int32_t wanted = truth.voxels.as<std::int32_t>()[i];
      ASSERT_EQ(labels.as<std::int32_t>()[i], item == 1 && wanted == 0 ? -7 : wanted) << item << " " << i;
    }
  }
}

TEST(AnnotatedClasses, MergedLabelsKeepTheBackgroundAndTheRowsSayWhatIsKnown) {
  PartialScene scene("annotated_merged", 2, {"case_1"});
  const SampleSource source(read_prepared(scene.work()), {0, 1},
                            {.crop = {8, 10, 12}, .intensity_scale = 0, .noise = 0});
  const std::vector<Sample> batch = source.batch(0, 2);
  Tensor labels(DType::kI32, {2, 8, 10, 12, 1}), known(DType::kI32, {2, 3});
  source.fill(batch, input::Labels{.classes = 3, .ignored = -7, .merged = 1}, labels.view());
  source.fill(batch, input::Known{}, known.view());
  const Volume truth = Scene::make_label();
  for (std::int64_t i = 0; i < labels.count(); ++i)
    ASSERT_EQ(labels.as<std::int32_t>()[i], truth.voxels.as<std::int32_t>()[i % truth.voxels.count()]) << i;
  for (std::int64_t n = 0; n < 2; ++n) {
    const std::int32_t* row = known.as<std::int32_t>() + 3 * n;
    EXPECT_THAT(std::vector(row, row + 3), testing::ElementsAre(1, 1, batch[n].item == 0));
  }
}

TEST(AnnotatedClasses, CropsOfAnIncompleteCaseAlwaysHoldAContouredVoxel) {
  PartialScene scene("annotated_crops", 1, {"case_0"});
  const SampleSource source(read_prepared(scene.work()), {0}, {.crop = {1, 1, 1}, .foreground = 0});
  for (std::int64_t step = 0; step < 50; ++step) {
    Tensor label(DType::kI32, {1, 1, 1, 1, 1});
    source.fill(source.batch(step, 1), input::Labels{.classes = 3, .ignored = -7}, label.view());
    ASSERT_NE(label.as<std::int32_t>()[0], -7) << step;
  }
}

TrainOptions training(const Scene& scene, const std::string& fold) {
  TrainOptions o{.work = scene.work(), .run = scene.path("run"), .steps = 2, .resources = {.threads = 2}};
  volumes(o).fold = fold, volumes(o).sampling.crop = {8, 8, 8};
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  o.spec.precision = DType::kF32;
  return o;
}

TEST(AnnotatedClasses, ValidationScoresAClassOnlyWhereItWasAnnotated) {
  PartialScene scene("annotated_validation", 2, {});
  TrainOptions o = training(scene, "0");
  ASSERT_TRUE(run_train(o, scene.progress).validation);
  // Of the same two cases, the one that validates lacks class two now.
  nlohmann::json json = read_json(scene.path("run") / "splits_final.json");
  const std::string trains = json.at(0).at("train").at(0);
  PartialScene half("annotated_validation_half", 2, {trains == "case_0" ? "case_1" : "case_0"});
  const TrainReport report = run_train(training(half, "0"), half.progress);
  ASSERT_TRUE(report.validation);
  ASSERT_EQ(report.validation->by_class.size(), 2u);
  EXPECT_TRUE(std::isfinite(report.validation->by_class[0]));
  EXPECT_TRUE(std::isnan(report.validation->by_class[1]));
}

TEST(AnnotatedClasses, ACaseWhoseListHasEveryClassIsComplete) {
  Scene scene("annotated_all");
  scene.write_dataset(2);
  scene.edit_dataset([](nlohmann::json& json) {
    json["annotated"] = {{"case_0", {"one", "two"}}, {"case_1", {"two", "one"}}};
  });
  const PrepareReport prepared =
      prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  EXPECT_EQ(prepared.coverage.complete, 2);
  for (const PreparedCase& item : read_prepared(scene.work()).cases) EXPECT_FALSE(item.annotated) << item.id;
  EXPECT_TRUE(std::isfinite(run_train(training(scene, "all"), scene.progress).loss)) << "its background teaches";
}

TEST(AnnotatedClasses, AValidationWithoutAnyScoreChoosesNoCheckpointAsTheBest) {
  PartialScene known("annotated_split", 2, {});
  ASSERT_TRUE(run_train(training(known, "0"), known.progress).validation);
  const std::string validates =
      read_json(known.path("run") / "splits_final.json").at(0).at("val").at(0).get<std::string>();
  Scene scene("annotated_unscored");
  scene.write_dataset(2);
  scene.edit_dataset([&](nlohmann::json& json) { json["annotated"][validates] = nlohmann::json::array(); });
  prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  const TrainReport report = run_train(training(scene, "0"), scene.progress);
  ASSERT_TRUE(report.validation);
  EXPECT_EQ(report.best_score, -1);
  EXPECT_TRUE(std::filesystem::exists(scene.last("run")));
  EXPECT_FALSE(std::filesystem::exists(scene.path("run") / "checkpoints/best.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(known.path("run") / "checkpoints/best.safetensors"));
}

/// Three cases of which only the first has class two; `prepare` knew two of them and calls it unknown in the other.
struct DecidedScene : Scene {
  explicit DecidedScene(const std::string& name) : Scene(name) {
    write_dataset(2);
    write_volume(label(1), without_two(), DiskType::kU8);
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep", .missing = MissingClasses::kUnknown},
                    progress);
    write_volume(label(2), without_two(), DiskType::kU8);
    std::filesystem::create_directories(path("pred"));
    for (int i = 0; i < 3; ++i) write_volume(path("pred") / (id(i) + ending), make_label(), DiskType::kU8);
  }
  static Volume without_two() {
    Volume label = make_label();
    for (std::int64_t i = 0; i < label.voxels.count(); ++i)
      if (auto& voxel = label.voxels.as<std::int32_t>()[i]; voxel == 2) voxel = 0;
    return label;
  }
  EvaluateLabelsOptions evaluation(const std::filesystem::path& dataset) const {
    return {.predictions = path("pred"), .references = data() / "labelsTr", .dataset = dataset};
  }
};

TEST(AnnotatedClasses, EvaluateTakesFromAPreparedFolderWhatPrepareDecided) {
  DecidedScene scene("annotated_decided");
  const LabelScores by_data = evaluate_labels(scene.evaluation(scene.data()), scene.progress);
  EXPECT_EQ(by_data.classes[1].annotated, 3u);
  EXPECT_NEAR(by_data.classes[1].means.at(0), 1.0 / 3, 1e-12);
  const LabelScores by_work = evaluate_labels(scene.evaluation(scene.work()), scene.progress);
  EXPECT_EQ(by_work.classes[1].scored.name, "two");
  EXPECT_EQ(by_work.classes[0].annotated, 3u);
  EXPECT_EQ(by_work.classes[1].annotated, 2u) << "the records do not know the third case";
  EXPECT_NEAR(by_work.classes[1].means.at(0), 1.0 / 2, 1e-12);
  EXPECT_NEAR(by_work.classes[1].all_means.at(0), 1.0 / 3, 1e-12);
}

TEST(AnnotatedClasses, WhatNeedsImagesIsRefusedWithAPreparedFolderAndNamesTheDataSet) {
  DecidedScene scene("annotated_no_images");
  EvaluateLabelsOptions baseline = scene.evaluation(scene.work()), png = baseline;
  baseline.threshold_baseline = true, png.png = scene.path("slices.png");
  for (const EvaluateLabelsOptions& options : {baseline, png})
    expect_error(ErrorKind::kUsage, "which has none: give {dataset} " + scene.data().string(),
                 [&] { evaluate_labels(options, scene.progress); });
}

TEST(AnnotatedClasses, TrainingWithoutAnyBackgroundIsRefused) {
  PartialScene scene("annotated_refused", 2, {"case_0", "case_1"});
  TrainOptions o = training(scene, "all");
  expect_error(ErrorKind::kConfig, "nothing teaches the background", [&] { run_train(o, scene.progress); });
  o.spec.as<UNetConfig>().marginal = true;  // every background teaches what the case does not lack
  EXPECT_TRUE(std::isfinite(run_train(o, scene.progress).loss));
}

TEST(AnnotatedClasses, AMarginalLossOfCompleteCasesTrainsToTheBytesOfThePlainOne) {
  PartialScene scene("annotated_complete", 2, {});
  std::vector<SafetensorsFile> trained;
  for (const bool marginal : {false, true}) {
    TrainOptions o = training(scene, "all");
    o.spec.as<UNetConfig>().marginal = marginal, o.run = scene.path(marginal ? "merge" : "ignore");
    run_train(o, scene.progress);
    trained.push_back(load_safetensors(scene.last(marginal ? "merge" : "ignore")));
  }
  ASSERT_GT(trained[0].tensors.size(), 10u);
  for (const NamedTensor& one : trained[0].tensors)
    EXPECT_TRUE(compare(one.tensor.view(), trained[1].find(one.name)->view()).bit_equal) << one.name;
}

TEST(AnnotatedClasses, OneAndThreeRanksTrainWithAMarginalLossToTheSameBytes) {
  PartialScene scene("annotated_ranks", 3, {"case_1", "case_2"});
  TrainOptions o = training(scene, "all");
  o.spec.as<UNetConfig>().marginal = true, o.batch = 2, volumes(o).sampling.crops = CropsOn::kSet;
  o.spec.cut.mesh.partition = Dims{1, 3, 1, 1, 1};
  o.run = scene.path("one"), run_train(o, scene.progress);
  o.run = scene.path("three");
  test::Mailbox mailbox(3);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    TrainOptions mine = o;
    mine.resources.threads = 1, mine.resources.transport = &transport;
    NoProgress quiet;
    run_train(mine, quiet);
  });
  EXPECT_EQ(scene.last_bytes("one"), scene.last_bytes("three"));
}

TEST(AnnotatedClasses, OneToThreeRanksTrainDeeplySupervisedWithAMarginalLossAndAnAverageToTheSameBytes) {
  PartialScene scene("annotated_deep_ranks", 3, {"case_1", "case_2"});
  TrainOptions o = training(scene, "all");
  o.spec.as<UNetConfig>() = {.base_filters = 2, .depth = 4, .marginal = true, .deep_supervision = true};
  o.optimizer.ema = 0.5, o.steps = 3, o.batch = 2, volumes(o).sampling.crops = CropsOn::kSet;
  o.spec.cut.mesh.partition = Dims{1, 3, 1, 1, 1};
  o.run = scene.path("ranks_1"), run_train(o, scene.progress);
  const Checkpoint alone = load_checkpoint(scene.last("ranks_1"));
  EXPECT_TRUE(alone.parameters.contains("decoder1/head/kernel"));
  EXPECT_EQ(alone.averages.size(), alone.parameters.size());
  for (const int ranks : {2, 3}) {
    const std::string run = "ranks_" + std::to_string(ranks);
    o.run = scene.path(run);
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      TrainOptions mine = o;
      mine.resources.threads = 1, mine.resources.transport = &transport;
      NoProgress quiet;
      run_train(mine, quiet);
    });
    EXPECT_EQ(scene.last_bytes(run), scene.last_bytes("ranks_1")) << ranks;
  }
}

}  // namespace
}  // namespace voxshard
