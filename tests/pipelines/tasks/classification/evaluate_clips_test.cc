// Scores of time lines: the videos and the clips that they cover.
#include "pipelines/tasks/classification/scores/evaluate_clips.h"

#include <gmock/gmock.h>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/tasks/classification/scores/evaluate_classes.h"
#include "tests/pipelines/tasks/classification/film_scene.h"

namespace voxshard {
namespace {

class EvaluateClips : public TrainedFilms {};

TEST_F(EvaluateClips, TheBaselineIsScoredOnThePredictedClipsOnly) {
  std::filesystem::create_directories(scene_.path("set"));
  std::filesystem::copy(trained_->path("data/train"), scene_.path("set/train"),
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(trained_->path("data/test"), scene_.path("set/test"), std::filesystem::copy_options::recursive);
  predict(options(scene_.path("set")));
  scene_.film("set/test/bright/new.mkv", {{16, kBright}});  // added after the prediction
  EvaluateClassesOptions o{
      .predictions = scene_.path("found.json"), .references = scene_.path("set"), .intensity_baseline = true};
  const ClassReport report = evaluate_classes(o, scene_.progress);
  EXPECT_EQ(report.items, 8);
  EXPECT_EQ(report.intensities->asked, 8) << "the clips of the four films that were predicted";
  EXPECT_THAT(ClassScene::codes(report.failures), testing::ElementsAre("E_MISSING"));
}

TEST_F(EvaluateClips, AVideoIsOfOneClassWhenItIsLabelledToItsEnd) {
  scene_.film("a.mkv", {{24, kDark}}), scene_.film("b.mkv", {{24, kDark}}), scene_.film("c.mkv", {{24, kDark}});
  scene_.film("d.mkv", {{24, kDark}}), scene_.film("e.mkv", {{24, kDark}});  // 0.96 s
  scene_.write("set.csv",
               "a.mkv,dark\nb.mkv,0,0.5,dark\nb.mkv,0.5,0.9599,dark\nc.mkv,0,0.5,dark\nd.mkv,0.1,5,dark\n"
               "e.mkv,0,0.93,dark\ne.mkv,0.93,1,bright\n");
  predict(options(scene_.path("set.csv")));
  const TaskReport scores =
      run_evaluate({.predictions = scene_.path("found.json"), .references = scene_.path("set.csv")}, scene_.progress);
  EXPECT_EQ(scores.json.at("videos").at("items"), 2) << "a, and b in two parts";
}

}  // namespace
}  // namespace voxshard
