// The logistic model on mean intensities, the baseline of classifiers.
#include "pipelines/tasks/classification/scores/intensity_baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/evaluate_classes.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

TEST(IntensityBaseline, FitsTheLikeliestLogisticModel) {
  // Two values of x: at 0 one of four items is of class 1, at 2 three of four: the likeliest model gives these shares.
  const LogisticFit fit{.features = {0, 0, 0, 0, 2, 2, 2, 2}, .labels = {0, 0, 0, 1, 0, 1, 1, 1}};
  const Classified guessed = fitted_logistic(fit, {0, 2, 1});
  EXPECT_NEAR(guessed.row(0)[1], 0.25, 1e-6);
  EXPECT_NEAR(guessed.row(1)[1], 0.75, 1e-6);
  EXPECT_NEAR(guessed.row(2)[1], 0.5, 1e-6);
}

TEST(IntensityBaseline, BalancedClassesCountAlike) {
  // No feature separates the classes: the probabilities are their frequencies, or all equal.
  LogisticFit fit{.features = {1, 1, 1, 1}, .labels = {0, 0, 0, 1}};
  EXPECT_NEAR(fitted_logistic(fit, {1}).row(0)[0], 0.75, 1e-6);
  fit.balanced = true;
  EXPECT_NEAR(fitted_logistic(fit, {1}).row(0)[0], 0.5, 1e-6);
}

TEST(IntensityBaseline, MeansAreThoseOfEachChannelAndADamagedImageCostsItself) {
  ClassScene scene("intensity_means");
  scene.image("data/red/a.png", {.width = 2, .height = 1, .channels = 3}, {255, 0, 51, 51, 0, 51});
  scene.image("data/blue/b.png", {.width = 9, .height = 9, .channels = 3}, {1, 2, 250});
  ClassDataset set = read_unseen_classes(scene.data(), {});
  const std::string bytes = Scene::bytes_of(scene.path("data/blue/b.png"));
  scene.write("data/blue/b.png", bytes.substr(0, bytes.size() - 30));
  const std::vector<double> means = mean_intensities(look_at_items(set, {.channels = 3}, {}));
  ASSERT_EQ(means.size(), 3u);
  EXPECT_NEAR(means[0], 0.6, 1e-6);
  EXPECT_NEAR(means[1], 0, 1e-6);
  EXPECT_NEAR(means[2], 0.2, 1e-6);
  EXPECT_EQ(set.failures.size(), 1u);
}

TEST(IntensityBaseline, EvaluateScoresItBesideThePredictions) {
  ClassScene scene("intensity_evaluate");
  scene.dark_and_bright("data/train", 4), scene.dark_and_bright("data/test", 3, 9);
  ClassPredictions wrong{.classes = {"bright", "dark"}};
  for (const ClassItem& item : read_unseen_classes(scene.data(), {}).items)
    wrong.rows.push_back({item.name, item.label == 0 ? std::vector{0.1, 0.9} : std::vector{0.9, 0.1}});
  write_class_predictions(scene.path("found.json"), wrong);
  EvaluateClassesOptions o{
      .predictions = scene.path("found.json"), .references = scene.data(), .intensity_baseline = true};
  const ClassReport report = evaluate_classes(o, scene.progress);
  EXPECT_EQ(report.accuracy, 0);
  ASSERT_TRUE(report.intensities.has_value());
  EXPECT_EQ(report.intensities->trained, 8);
  EXPECT_EQ(report.intensities->accuracy, 1);
  EXPECT_EQ(report.intensities->mean_recall, 1);
  EXPECT_THAT(to_text(report), HasSubstr("logistic model on the mean of each channel: accuracy 1.000"));
  scene.write("data/train/dark/text.png", "hello");
  std::string bytes = Scene::bytes_of(scene.path("data/test/dark/0.png"));
  for (std::size_t at = bytes.size() - 28; at < bytes.size() - 16; ++at) bytes[at] ^= 0x5a;  // pixels, not the header
  scene.write("data/test/dark/0.png", bytes);
  const ClassReport damaged = evaluate_classes(o, scene.progress);
  EXPECT_TRUE(damaged.failures.empty()) << "all that is predicted is scored";
  EXPECT_EQ(damaged.items, 6);
  EXPECT_EQ(damaged.intensities->asked, 5);
  EXPECT_THAT(ClassScene::codes(damaged.intensities->failures), ::testing::ElementsAre("E_READ"));
  EXPECT_THAT(ClassScene::codes(damaged.intensities->training_failures), ::testing::ElementsAre("E_READ"));
  EXPECT_TRUE(is_partial(damaged));
  o.dataset = scene.path("data/test");
  EXPECT_THROW(evaluate_classes(o, scene.progress), Error) << "a part without a training part";
}

}  // namespace
}  // namespace voxshard
