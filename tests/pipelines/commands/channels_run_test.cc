// Several channels through train, predict and evaluate: the model sees all of them, each in its place, however it is
// cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/evaluate_run.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/tasks/segmentation/volume_task.h"
#include "pipelines/training/run_train.h"
#include "tests/expect_error.h"
#include "tests/pipelines/channel_scene.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Five training cases, three of them new to the run, and two to test.
struct ChannelRun : ChannelScene {
  explicit ChannelRun(const std::string& name) : ChannelScene(name) {
    write_channels(5, 2);
    prepare_dataset(preparation(), progress);
  }
  TrainOptions options(const std::string& run, std::int64_t steps) const {
    TrainOptions o{.work = work(), .run = path(run), .steps = steps, .resources = {.threads = 2}};
    o.task.of<VolumeTaskOptions>().fold = "all";
    o.task.of<VolumeTaskOptions>().sampling.crop = {16, 16, 16};
    o.optimizer.learning_rate = 0.01, o.optimizer.clip_norm = 1, o.optimizer.warmup_steps = 6;
    o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3, .norm = NormKind::kInstance, .slope = 0.01};
    o.spec.precision = DType::kF32;
    return o;
  }
  PredictOptions predict(const std::string& run, const std::string& output) const {
    return {.run = path(run), .input = data() / "imagesTs", .output = path(output)};
  }
  double dice_of(const std::string& predictions) {
    EvaluateLabelsOptions o;
    o.predictions = path(predictions), o.references = data() / "labelsTs", o.dataset = data();
    return evaluate_labels(o, progress).means.at(0);
  }
};

TEST(ChannelsRun, AModelFindsWhatTheSecondChannelAloneShows) {
  ChannelRun scene("channels_learn");
  const TrainReport report = run_train(scene.options("run", 60), scene.progress);
  EXPECT_EQ(report.train_cases, 5);
  EXPECT_EQ(run_predict(scene.predict("run", "out"), scene.progress).cases.size(), 2u);
  const double dice = scene.dice_of("out");
  EXPECT_GT(dice, 0.6);

  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"].erase("1"); });
  PrepareOptions alone = scene.preparation();
  alone.work = scene.path("alone");
  prepare_dataset(alone, scene.progress);
  TrainOptions options = scene.options("blind", 60);
  options.work = alone.work;
  run_train(options, scene.progress);
  run_predict(scene.predict("blind", "out_blind"), scene.progress);
  EXPECT_LT(scene.dice_of("out_blind"), dice / 2) << "the first channel says nothing of the class";
}

TEST(ChannelsRun, APartitionPredictsTheSameLabelsAndTrainsToTheSameLoss) {
  ChannelRun scene("channels_cut");
  const TrainReport whole = run_train(scene.options("run", 4), scene.progress);
  TrainOptions cut = scene.options("cut", 4);
  cut.spec.cut.mesh.partition = {1, 2, 1, 2, 1};
  EXPECT_NEAR(run_train(cut, scene.progress).loss, whole.loss, 1e-4 * whole.loss);
  PredictOptions o = scene.predict("run", "out");
  run_predict(o, scene.progress);
  o.output = scene.path("out_cut"), o.partition = Dims{1, 2, 1, 3, 1};
  const PredictReport parts = run_predict(o, scene.progress);
  EXPECT_EQ(parts.cases.size(), 2u);
  for (const PredictedCase& c : parts.cases)
    EXPECT_TRUE(Scene::bytes_of(c.file) == Scene::bytes_of(scene.path("out") / c.file.filename())) << c.id;
}

TEST(ChannelsRun, OneFileItsSiblingOrAFourthAxisAreTheSameCase) {
  ChannelRun scene("channels_inputs");
  run_train(scene.options("run", 2), scene.progress);
  run_predict(scene.predict("run", "out"), scene.progress);
  const std::string expected = Scene::bytes_of(scene.path("out") / "case_5.nii.gz");
  ASSERT_FALSE(expected.empty());
  PredictOptions o = scene.predict("run", "one");
  o.input = scene.channel(5, 1, true);  // its sibling is found
  EXPECT_EQ(run_predict(o, scene.progress).cases.at(0).id, "case_5");
  EXPECT_TRUE(Scene::bytes_of(scene.path("one") / "case_5.nii.gz") == expected);
  std::filesystem::create_directories(scene.path("whole"));
  scene.write_whole(scene.path("whole/case_5.nii"), 5);
  o.input = scene.path("whole"), o.output = scene.path("from_whole");
  EXPECT_EQ(run_predict(o, scene.progress).cases.size(), 1u);
  EXPECT_TRUE(Scene::bytes_of(scene.path("from_whole") / "case_5.nii.gz") == expected);
}

TEST(ChannelsRun, ACaseWithoutOneOfItsChannelsIsLeftOut) {
  ChannelRun scene("channels_lack");
  run_train(scene.options("run", 2), scene.progress);
  std::filesystem::remove(scene.channel(5, 1, true));
  write_volume(scene.data() / "imagesTs/flat.nii", ChannelScene::make_channel(1, 0), DiskType::kF32);
  Volume other = ChannelScene::make_channel(9, 1);
  other.geometry.origin[2] += 8;
  write_volume(scene.channel(9, 0, true), ChannelScene::make_channel(9, 0), DiskType::kF32);
  write_volume(scene.channel(9, 1, true), other, DiskType::kF32);
  const PredictReport report = run_predict(scene.predict("run", "out"), scene.progress);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.cases[0].id, "case_6");
  std::map<std::string, std::string> codes;
  for (const CaseFailure& failure : report.failures) codes[failure.id] = failure.code + " " + failure.message;
  ASSERT_EQ(codes.size(), 3u);
  EXPECT_THAT(codes["case_5"],
              HasSubstr("E_MISSING [predict] the channel 1 (PET) is missing; expected case_5_0001.nii"));
  EXPECT_THAT(codes["flat"], HasSubstr("E_SHAPE"));
  EXPECT_THAT(codes["flat"], HasSubstr("has no 4th axis, expected 2 channels"));
  EXPECT_THAT(codes["case_9"], HasSubstr("E_GEOMETRY"));
}

TEST(ChannelsRun, ARunIsResumedAndScoredOnDataOfItsChannelsAlone) {
  ChannelRun scene("channels_other");
  run_train(scene.options("run", 2), scene.progress);
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"].erase("1"); });
  PrepareOptions alone = scene.preparation();
  alone.work = scene.path("alone");
  prepare_dataset(alone, scene.progress);
  const TrainedRun run = load_trained_run({.run = scene.path("run")});
  EvaluateRunOptions own;
  own.work = scene.work(), own.fold = "all";
  EXPECT_EQ(evaluate_volumes(own, run, scene.progress)->cases().size(), 5u);
  own.work = alone.work;
  expect_error(ErrorKind::kConfig, "the run's model reads 2 channels, but",
               [&] { evaluate_volumes(own, run, scene.progress); });
  TrainOptions again = scene.options("run", 4);
  again.resume = true;
  EXPECT_EQ(run_train(again, scene.progress).steps, 4) << "a run of two channels is resumed";
}

TEST(InputCases, FilesAreGroupedByTheirStems) {
  const auto ids = [](const InputCases& found) {
    std::vector<std::string> names;
    for (const Case& item : found.cases) names.push_back(item.id);
    return names;
  };
  const std::vector<std::filesystem::path> files = {"x/a_0000.nii.gz", "x/a_0001.nii.gz", "x/b_0001.nii",
                                                    "x/b_0000.nrrd",   "x/c_0001.nii",    "x/d.nii",
                                                    "x/e.nrrd",        "x/a_0002.nii.gz"};
  const InputCases two = cases_of_images(files, {"CT", "PET"}, volume_formats());
  EXPECT_THAT(ids(two), ElementsAre("d", "e", "a", "b"));
  EXPECT_THAT(two.cases[2].images, ElementsAre("x/a_0000.nii.gz", "x/a_0001.nii.gz"));
  EXPECT_THAT(two.cases[3].images, ElementsAre("x/b_0000.nrrd", "x/b_0001.nii"));
  EXPECT_THAT(two.cases[0].images, ElementsAre("x/d.nii#channel=0of2", "x/d.nii#channel=1of2"));
  EXPECT_EQ(two.left_out, 1u);
  ASSERT_EQ(two.failures.size(), 1u);
  EXPECT_EQ(two.failures[0].id, "c");
  EXPECT_EQ(two.failures[0].code, "E_MISSING");
  const InputCases one = cases_of_images(files, {"CT"}, volume_formats());
  EXPECT_EQ(one.cases.size(), files.size()) << "one channel: each file is a case";
  EXPECT_EQ(one.cases[0].id, "a");
  EXPECT_EQ(one.cases[1].id, "a_0001");
  EXPECT_EQ(one.further, 3u) << "a_0001, a_0002 and b_0001";
}

TEST(InputCases, SeriesAreGroupedByTheNamesOfTheirFoldersAndArchives) {
  const std::vector<std::filesystem::path> images = {
      "x/a_0001/#series=pt_1", "x/a_0000/#series=ct_1", "x/b_0000.zip/#series=ct_2", "x/b_0001.tar.gz/#volume=volume_2",
      "x/c_0000/#series=ct_3", "x/d_0000/#series=ct_4", "x/d_0000/#series=ct_5",     "x/study/#series=ct_6",
      "x/e_0007/#series=ct_7"};
  const InputCases two = cases_of_images(images, {"CT", "PET"}, volume_formats());
  ASSERT_EQ(two.cases.size(), 2u);
  EXPECT_TRUE(two.nameless);
  EXPECT_THAT(two.cases[0].images, ElementsAre("x/a_0000/#series=ct_1", "x/a_0001/#series=pt_1"));
  EXPECT_THAT(two.cases[1].images, ElementsAre("x/b_0000.zip/#series=ct_2", "x/b_0001.tar.gz/#volume=volume_2"));
  EXPECT_EQ(two.left_out, 1u) << "e_0007";
  ASSERT_EQ(two.failures.size(), 3u);
  EXPECT_EQ(two.failures[0].id, "ct_6");
  EXPECT_THAT(two.failures[0].message, HasSubstr("name the folders or archives"));
  EXPECT_EQ(two.failures[1].code, "E_MISSING");
  EXPECT_THAT(two.failures[1].message, HasSubstr("expected a folder or archive CASE_0001"));
  EXPECT_EQ(two.failures[2].code, "E_DUPLICATE");
}

}  // namespace
}  // namespace voxshard
