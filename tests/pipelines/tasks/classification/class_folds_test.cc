// Folds of images and clips with a class each.
#include <gmock/gmock.h>

#include <set>

#include "io/datasets/dataset.h"
#include "tests/pipelines/fold_law.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(ClassFolds, ClipsOfAVideoStandOnOneSideAndEachIsHeldOutOnce) {
  const ClipScene scene("class_folds_clips");
  scene.dark_and_bright_videos("data", 3, 8);
  std::multiset<std::string> held;
  for (const char* fold : {"0", "1", "2", "3", "4"}) {
    const ClassSets sets = read_class_sets(
        {.data = scene.data(), .seed = 7, .reading = {.items = ItemKind::kClip, .clip_length = 4}, .fold = fold});
    std::set<std::string> trained;
    for (const ClassItem& item : sets.train.items) trained.insert(video_of(item));
    for (const ClassItem& item : sets.val.items) {
      EXPECT_FALSE(trained.contains(video_of(item))) << item.name;
      held.insert(item.name);
    }
    EXPECT_THAT(sets.train.counts(), testing::Each(testing::Gt(0)));
    EXPECT_THAT(sets.said, HasSubstr("of 12 clips validate, those of each of the 6 groups in one fold"));
  }
  EXPECT_EQ(held.size(), 12u);
  EXPECT_EQ(std::set<std::string>(held.begin(), held.end()).size(), 12u);
}

TEST(ClassFolds, TheSeedHasNoPartInThem) {
  const ClassScene scene("class_folds_seed");
  scene.dark_and_bright("data", 6);
  const auto held_out = [&](std::uint64_t seed) {
    return ClassScene::names(read_class_sets({.data = scene.data(), .seed = seed, .fold = "3"}).val);
  };
  EXPECT_EQ(held_out(1), held_out(2));
}

TEST(ClassFolds, AreOfTheTrainingPartAndLeaveNoOtherChoice) {
  const ClassScene scene("class_folds_parts");
  scene.dark_and_bright("data/train", 5);
  scene.dark_and_bright("data/val", 2);
  const ClassSets sets = read_class_sets({.data = scene.data(), .fold = "0"});
  EXPECT_EQ(sets.train.items.size(), 8u);
  EXPECT_EQ(sets.val.items.size(), 2u);
  EXPECT_THAT(sets.said, HasSubstr("val neither trains nor validates"));
  expect_error(ErrorKind::kUsage, "both say what validates",
               [&] { read_class_sets({.data = scene.data(), .val = scene.data() / "val", .fold = "0"}); });
  expect_error(ErrorKind::kUsage, "{fold} all and {val}",
               [&] { read_class_sets({.data = scene.data(), .val = scene.data() / "val", .validates = false}); });
  expect_error(ErrorKind::kConfig, "expected 0 to 4 or all",
               [&] { read_class_sets({.data = scene.data(), .fold = "five"}); });
}

TEST(ClassFolds, EachFoldPredictsWhatItHeldOut) {
  ClassScene scene("class_folds_train");
  scene.dark_and_bright("data", 3);
  const auto options = [&](const std::string& fold) {
    TrainOptions o = scene.toy("run" + fold);
    o.steps = 2, o.task.of<ClassTaskOptions>().fold = fold;
    return o;
  };
  expect_each_fold_predicts_its_own({.options = options, .references = scene.data(), .items = 6, .metric = "accuracy"},
                                    scene.progress);
}

}  // namespace
}  // namespace voxshard
