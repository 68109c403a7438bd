// Training writes what is usual into the run; predictions of broken images get flags, those of untouched ones none.
#include <gmock/gmock.h>

#include <numeric>

#include "libcore/base/rng.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "pipelines/tasks/segmentation/largest_parts.h"
#include "tests/keep_largest.h"
#include "tests/pipelines/tasks/segmentation/sides/sided_scene.h"

namespace voxshard {
namespace {

using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Not;

/// Ten cases of three organs, and a run that has learned them in some seconds.
struct QualityScene : SidedScene {
  explicit QualityScene(const std::string& name, std::int64_t steps)
      : SidedScene(name, {.cases = 10, .test_cases = 2}) {
    TrainOptions o = training();
    o.steps = steps;
    run_train(o, progress);
    progress = {};
  }
  TrainOptions training() const {
    TrainOptions o = options("run", Sides::kJoin);
    o.spec.as<UNetConfig>().norm = NormKind::kInstance;
    o.optimizer.learning_rate = 0.01;
    return o;
  }
  PredictOptions predicting() const {
    return {.run = path("run"), .input = data() / "imagesTs", .output = path("out")};
  }
  /// Adds a copy of the first new image that was changed.
  void add_broken(const std::string& id, const std::function<void(Volume&)>& change) const {
    Volume image = read_image(data() / "imagesTs" / ("new_0_0000" + ending));
    change(image);
    write_volume(data() / "imagesTs" / (id + "_0000" + ending), image, DiskType::kI16);
  }
};

/// Returns the codes of each case.
std::map<std::string, std::set<std::string>> codes_of(const PredictReport& report) {
  std::map<std::string, std::set<std::string>> codes;
  for (const auto& item : report.found.at("quality")) {
    auto& of = codes[item.at("id")];
    for (const auto& flag : item.at("flags")) of.insert(flag.at("code").get<std::string>());
  }
  return codes;
}

TEST(QualityRun, BrokenImagesGetFlagsAndUntouchedOnesNone) {
  QualityScene scene("quality_run", 150);
  scene.add_broken("shifted", [](Volume& image) {
    for (std::int64_t i = 0; i < image.voxels.count(); ++i) image.voxels.as<float>()[i] += 150;
  });
  scene.add_broken("noisy", [](Volume& image) {
    for (std::int64_t i = 0; i < image.voxels.count(); ++i)
      image.voxels.as<float>()[i] +=
          static_cast<float>(std::round(150 * rng_normal({.seed = 5, .stream = 1}, static_cast<std::uint64_t>(i))));
  });
  scene.add_broken("cut", [](Volume& image) {
    Geometry half = image.geometry;
    half.size[2] = 5;
    Tensor voxels(DType::kF32, half.shape());
    std::copy_n(image.voxels.as<float>(), voxels.count(), voxels.as<float>());
    image = {half, std::move(voxels)};
  });
  PredictOptions o = scene.predicting();
  o.task.of<VolumeReading>().refer = true;
  const PredictReport report = run_predict(o, scene.progress);
  auto codes = codes_of(report);
  ASSERT_EQ(codes.size(), 5u);
  EXPECT_THAT(codes["new_0"], IsEmpty()) << report.text;
  EXPECT_THAT(codes["new_1"], IsEmpty()) << report.text;
  EXPECT_THAT(codes["shifted"], Contains("W_HISTOGRAM")) << report.text;
  EXPECT_THAT(codes["noisy"], Contains("W_HISTOGRAM")) << report.text;
  EXPECT_THAT(codes["cut"], Contains("W_VIEW")) << report.text;
  EXPECT_TRUE(report.failures.empty() && !report.damaged) << "flags change no exit code";
  EXPECT_THAT(report.text, HasSubstr("quality: 3 of 5 cases have flags"));
  EXPECT_THAT(report.text, HasSubstr("\n  cut: W_VIEW the image shows 15 mm from foot to head; the least of the "
                                     "training cases: 36 mm"));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("case noisy: W_HISTOGRAM the intensities lie ")));
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quality.csv")), HasSubstr("\ncut,W_VIEW,,the image shows 15 mm"));

  scene.progress = {};
  const PredictReport again = run_predict(o, scene.progress);
  EXPECT_EQ(again.kept, 5);
  EXPECT_EQ(again.found.at("quality"), report.found.at("quality")) << "of label maps that are kept";
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("W_HISTOGRAM"))));
}

TEST(QualityRun, OfAClassThatTrainingCasesHaveInOnePartIslandsAreRemoved) {
  QualityScene scene("quality_parts", 2);  // steps after which classes lie in many parts
  PredictOptions o = scene.predicting();
  o.task.of<VolumeReading>().largest = "none";
  Volume expected = read_label(run_predict(o, scene.progress).cases.at(0).file);
  const auto removed = keep_largest_components(expected.voxels, {0, 1, 1, 1}, 0, kIslandShare);
  ASSERT_GT(std::accumulate(removed.begin(), removed.end(), std::int64_t{0}), 0) << "nothing to remove: no test";
  o = scene.predicting();
  o.output = scene.path("auto");
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_TRUE(compare(read_label(report.cases.at(0).file).voxels.view(), expected.voxels.view()).bit_equal);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("islands of ")));
}

TEST(QualityRun, ARunOfBeforeGivesNoFlagsAndGoesOn) {
  QualityScene scene("quality_before", 2);
  EXPECT_EQ(read_json(scene.path("run") / "plans.json").at("prepare").at(kUsualCases).at("cases"), 10);
  const std::filesystem::path last = scene.path("run/checkpoints/last.safetensors");
  Checkpoint checkpoint = load_checkpoint(last);
  EXPECT_EQ(checkpoint.state.prepare.at(kUsualCases).at("classes").size(), 3u) << "classes of the data";
  checkpoint.state.prepare.erase(kUsualCases);
  save_checkpoint(last, checkpoint.state, checkpoint.parameters, checkpoint.optimizer, checkpoint.averages);
  const PredictReport report = run_predict(scene.predicting(), scene.progress);
  EXPECT_FALSE(report.found.contains("quality"));
  EXPECT_EQ(std::ranges::count_if(scene.progress.lines,
                                  [](const std::string& line) {
                                    return line.starts_with("quality: no flags are given: the run does not say");
                                  }),
            1);
  TrainOptions o = scene.training();
  o.resume = true, o.steps = 3;
  EXPECT_EQ(run_train(o, scene.progress).steps, 3);
  EXPECT_TRUE(load_checkpoint(last).state.prepare.contains(kUsualCases)) << "from now on it has what is usual";
  run_predict(scene.predicting(), scene.progress);
  EXPECT_TRUE(std::filesystem::exists(scene.path("out/quality.csv")));
}

TEST(QualityRun, WeightsOfARunAreNoReasonToSayThatDataWerePreparedOtherwise) {
  QualityScene scene("quality_from", 1);
  TrainOptions o = scene.training();
  o.run = scene.path("further"), o.steps = 1, o.from = scene.path("run");
  volumes(o).fold = "0";  // other cases train, and other values are usual
  run_train(o, scene.progress);
  EXPECT_NE(read_json(scene.path("run") / "plans.json").at("prepare").at(kUsualCases),
            read_json(scene.path("further") / "plans.json").at("prepare").at(kUsualCases));
  EXPECT_THAT(scene.progress.lines, Not(Contains(HasSubstr("were prepared otherwise"))));
}

}  // namespace
}  // namespace voxshard
