// {largest} names classes; predictions keep the largest part of these alone, and later calls know it.
#include "pipelines/tasks/segmentation/largest_parts.h"

#include <numeric>

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/keep_largest.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

TEST(LargestParts, NamesChooseClasses) {
  const std::vector<std::string> classes = {"background", "liver", "spleen"};
  const auto kept = [&](const std::string& largest) {
    Tensor labels(DType::kI32, {1, 1, 10});
    const int values[] = {1, 1, 0, 1, 0, 2, 0, 2, 2, 0};
    std::copy_n(values, 10, labels.as<std::int32_t>());
    LargestParts(largest, classes).keep(LabelSlabs::of(labels), 0);
    return std::vector<int>(labels.as<std::int32_t>(), labels.as<std::int32_t>() + 10);
  };
  EXPECT_EQ(kept("none"), (std::vector{1, 1, 0, 1, 0, 2, 0, 2, 2, 0}));
  EXPECT_EQ(kept("liver"), (std::vector{1, 1, 0, 0, 0, 2, 0, 2, 2, 0}));
  EXPECT_EQ(kept("spleen,liver"), kept("all"));
  EXPECT_EQ(kept("all"), (std::vector{1, 1, 0, 0, 0, 0, 0, 2, 2, 0}));
  EXPECT_EQ(kept("auto"), kept("none")) << "nothing is known of training cases";
  for (const char* name : {"kidney", "background", "", "liver,,spleen"})
    expect_error(ErrorKind::kUsage, "no class of the run; expected auto, none, all, or of liver,spleen",
                 [&] { LargestParts(name, classes); });
}

TEST(LargestParts, AutoTakesTheClassesThatLieInOnePartInAllTrainingCases) {
  const std::vector<std::string> classes = {"background", "liver", "lungs", "rare", "unknown"};
  QualityRanges usual{.cases = 9, .classes = std::vector<ClassRange>(5)};
  usual.classes[1] = {.cases = 8, .parts = 1};
  usual.classes[2] = {.cases = 9, .parts = 2};
  usual.classes[3] = {.cases = 7, .parts = 1};
  usual.classes[4] = {.cases = 9, .parts = std::nullopt};
  const LargestParts parts(kLargestAuto, classes, usual);
  EXPECT_EQ(parts.choice_text(),
            "islands of liver, of up to half the size of the largest part, are removed: no training case has a second "
            "part ({largest} none keeps them)");
  Tensor labels(DType::kI32, {1, 1, 24});
  for (std::int32_t c = 1, x = 0; c < 5; ++c, x += 6)  // parts of three voxels and of one
    for (const int at : {0, 1, 2, 4}) labels.as<std::int32_t>()[x + at] = c;
  EXPECT_EQ(parts.keep(LabelSlabs::of(labels), 0), "voxels of smaller parts removed: 1 of liver");
  labels.as<std::int32_t>()[4] = labels.as<std::int32_t>()[5] = 1;
  EXPECT_EQ(parts.keep(LabelSlabs::of(labels), 0), "") << "two of three voxels are no island";
  EXPECT_EQ(LargestParts("all", classes, usual).choice_text(), "");
  usual.classes[1].parts = 2;
  EXPECT_EQ(LargestParts(kLargestAuto, classes, usual).choice_text(), "");
}

TEST(LargestParts, APredictionKeepsThemAndOneWithoutIsMadeAnew) {
  TrainingScene scene("largest");
  TrainOptions o = scene.options("run");
  o.steps = 2;  // so that classes lie in many parts
  run_train(o, scene.progress);
  PredictOptions predict{.run = scene.path("run"), .input = scene.data() / "imagesTs", .output = scene.path("all")};
  const std::filesystem::path file = run_predict(predict, scene.progress).cases.at(0).file;
  Volume expected = read_label(file);
  const auto removed = keep_largest_components(expected.voxels, {0, 1, 1, 1, 1});
  ASSERT_GT(std::accumulate(removed.begin(), removed.end(), std::int64_t{0}), 0) << "nothing to remove: no test";
  predict.output = scene.path("largest");
  predict.task.of<VolumeReading>().largest = "all";
  const PredictReport report = run_predict(predict, scene.progress);
  const Volume found = read_label(report.cases.at(0).file);
  EXPECT_TRUE(compare(found.voxels.view(), expected.voxels.view()).bit_equal);
  EXPECT_EQ(run_predict(predict, scene.progress).kept, 1);
  predict.task.of<VolumeReading>().largest = "none";
  EXPECT_EQ(run_predict(predict, scene.progress).kept, 0);
}

}  // namespace
}  // namespace voxshard
