// Folds of images and clips with a class each, and runs that go on with changed data: what validated never trains.
#include <gmock/gmock.h>

#include <set>

#include "io/datasets/dataset.h"
#include "io/files/config_file.h"
#include "pipelines/tasks/crop_name.h"
#include "tests/pipelines/fold_law.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;
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

/// A run of one step, which goes on for a step more at a time.
struct ChangingScene : ClassScene {
  explicit ChangingScene(const std::string& name) : ClassScene(name), options(toy("run")) { options.steps = 0; }
  TrainReport next_step() {
    options.resume = options.accept_changes = options.steps > 0;
    ++options.steps;
    return run_train(options, progress);
  }
  /// Returns a side of splits_final.json of the run.
  Names side(const char* name) const {
    return read_json(options.run / "splits_final.json").at(0).at(name).get<Names>();
  }
  Names trained() const { return side("train"); }
  Names validated() const { return side("val"); }

  TrainOptions options;
};

TEST(ClassChanges, AnItemThatComesBackStandsWhereItStood) {
  ChangingScene scene("class_changes_back");
  scene.dark_and_bright("data", 6);
  scene.next_step();
  const Names trained = scene.trained(), validated = scene.validated();
  ASSERT_GE(validated.size(), 2u);
  const std::string of_val = *validated.begin(), of_train = *trained.begin();
  for (const std::string& name : {of_val, of_train}) {
    fs::create_directories(scene.path("away") / fs::path(name).parent_path());
    fs::rename(scene.data() / name, scene.path("away") / name);
  }
  const TrainReport without = scene.next_step();
  EXPECT_EQ(without.validation_cases, std::ssize(validated) - 1);
  EXPECT_EQ(without.train_cases, std::ssize(trained) - 1);
  for (const std::string& name : {of_val, of_train}) fs::rename(scene.path("away") / name, scene.data() / name);
  const TrainReport again = scene.next_step();
  EXPECT_EQ(again.validation_cases, std::ssize(validated));
  EXPECT_EQ(scene.trained(), trained);
  EXPECT_EQ(scene.validated(), validated);
}

TEST(ClassChanges, ANewCropOfAnImageThatValidatesValidates) {
  ChangingScene scene("class_changes_crops");
  const auto crop = [&](std::size_t image, std::size_t box) {
    const std::string name = std::string(box % 2 == 0 ? "red/" : "white/") + crop_name("p", image, box);
    scene.image("data/" + name, {.width = 8, .height = 8}, {box % 2 == 0 ? 200 : 20});
    return name;
  };
  for (std::size_t image = 0; image < 6; ++image) crop(image, 0), crop(image, 1);
  scene.next_step();
  const Names validated = scene.validated();
  Names expected = validated;
  for (std::size_t image = 0; image < 6; ++image) {
    const std::string name = crop(image, 2);
    if (validated.contains("red/" + crop_name("p", image, 0))) expected.insert(name);
  }
  ASSERT_GT(expected.size(), validated.size());
  scene.next_step();
  EXPECT_EQ(scene.validated(), expected);
}

TEST(ClassChanges, TheOnlyImageOfAnotherSizeMayGo) {
  ChangingScene scene("class_changes_size");
  scene.options.task.of<ClassTaskOptions>().validates = false;
  scene.dark_and_bright("data", 3);
  scene.image("data/dark/wide.png", {.width = 12, .height = 8}, {30});
  scene.next_step();
  const auto multiple = [&] { return read_json(scene.options.run / "plans.json").at("prepare").at("pad_multiple"); };
  EXPECT_EQ(multiple(), 32);
  fs::remove(scene.data() / "dark/wide.png");
  EXPECT_EQ(scene.next_step().train_cases, 6);
  EXPECT_EQ(multiple(), 1);
}

}  // namespace
}  // namespace voxshard
