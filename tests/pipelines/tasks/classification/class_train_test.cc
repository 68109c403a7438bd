// Training a classifier: it learns, and what cannot be used is counted.
#include <gmock/gmock.h>

#include <cmath>

#include "io/files/config_file.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/clip_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

ClassTaskOptions& classes(TrainOptions& o) { return o.task.of<ClassTaskOptions>(); }

TEST(TrainClasses, ImagesOfSeveralSizesAreLearntAndLeaveTheRunFolder) {
  ClassScene scene("classes_learn");
  scene.dark_and_bright("data", 6, 8);
  scene.dark_and_bright("data/../other", 2, 13);
  for (const char* name : {"dark", "bright"})
    for (int i = 0; i < 2; ++i)
      std::filesystem::rename(scene.path("other") / name / (std::to_string(i) + ".png"),
                              scene.data() / name / ("wide" + std::to_string(i) + ".png"));
  TrainOptions o = scene.toy("run");
  o.spec.cut.mesh.partition = {1, 2, 2, 1};
  classes(o).pad_multiple = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.metric, "accuracy");
  EXPECT_EQ(report.train_cases + report.validation_cases, 16);
  ASSERT_TRUE(report.validation.has_value());
  EXPECT_EQ(report.validation->score, 1.0);
  EXPECT_THAT(report.validation->by_class, testing::ElementsAre(1, 1));
  for (const char* key : {"mean_accuracy", "best_accuracy", "validation_accuracy"})
    EXPECT_TRUE(report.to_json().contains(key)) << key;
  for (const char* name :
       {"run.json", "plans.json", "splits_final.json", "quarantine.csv", "checkpoints/best.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(o.run / name)) << name;
  EXPECT_EQ(read_json(o.run / "run.json").at("model").at("classes"), 2);
}

TEST(TrainClasses, PicturesAreChangedAndClipsAreNot) {
  ClipScene scene("classes_change_clips");
  scene.dark_and_bright_videos("data", 3, 8);
  TrainOptions o = scene.toy_clips("run");
  classes(o).augmentation.rotation_degrees = 10;
  expect_error(ErrorKind::kUsage, "change pictures, but what is learnt from", [&] { run_train(o, scene.progress); });
}

TEST(TrainClasses, MirroringLeftAndRightIsWarnedOf) {
  ClassScene scene("classes_mirrored");
  for (const char* name : {"hand_left", "hand_right"})
    for (int i = 0; i < 4; ++i)
      scene.image("data/" + std::string(name) + "/" + std::to_string(i) + ".png", {.width = 8, .height = 8}, {40 + i});
  TrainOptions o = scene.toy("run");
  o.steps = 1;
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Not(testing::Contains(HasSubstr("W_MIRROR"))));
  o.run = scene.path("mirrored"), classes(o).augmentation.mirror = 0.5;
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("W_MIRROR {mirror} swaps left and right")));
  o.run = scene.path("upside_down"), classes(o).augmentation = {.mirror_vertical = 0.5};
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("W_MIRROR {mirror-vertical} swaps left and right")));
}

TEST(TrainClasses, DigitsAreEnlargedToTheSizeOfTheModel) {
  ClassScene scene("classes_enlarge");
  scene.idx("data", 20, 10);
  TrainOptions o = scene.digits("run");
  o.spec.set("size_multiplier", std::int64_t{2});
  o.steps = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.validation_cases, 10);
  EXPECT_EQ(report.to_json().at("chosen_on_test"), true);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("validates is the test part")));
  const nlohmann::json prepare = read_json(o.run / "plans.json").at("prepare");
  EXPECT_EQ(prepare.at("size"), nlohmann::json({56, 56}));
  EXPECT_EQ(prepare.at("classes").size(), 10u);
}

TEST(TrainClasses, WhatCannotBeUsedIsCountedAndListed) {
  ClassScene scene("classes_partial");
  scene.dark_and_bright("data/train", 4);
  scene.dark_and_bright("data/val", 1);
  scene.write("data/train/dark/text.png", "hello");
  std::filesystem::create_directories(scene.data() / "train/green");
  scene.image("data/val/striped/s.png");
  TrainOptions o = scene.toy("run");
  o.steps = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.left_out, 3);
  EXPECT_EQ(report.train_cases, 8);
  EXPECT_EQ(report.validation_cases, 2);
  const std::string quarantine = Scene::bytes_of(o.run / "quarantine.csv");
  for (const char* code : {"E_READ", "E_EMPTY", "E_CLASS"}) EXPECT_THAT(quarantine, HasSubstr(code));
  EXPECT_FALSE(report.to_json().contains("chosen_on_test"));
}

TEST(TrainClasses, AImageThatDoesNotDecodeInValidationCostsItself) {
  ClassScene scene("classes_damaged_val");
  scene.dark_and_bright("data/train", 4);
  scene.dark_and_bright("data/val", 1);
  scene.damaged("data/val/dark/bad.png");
  TrainOptions o = scene.toy("run");
  o.steps = 4, o.validate_every = 1, o.checkpoint_every = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.steps, 4);
  EXPECT_EQ(report.left_out, 1);
  EXPECT_TRUE(std::isfinite(report.validation->score));
  EXPECT_EQ(Scene::bytes_of(o.run / "quarantine.csv").find("dark/bad.png,E_READ"),
            Scene::bytes_of(o.run / "quarantine.csv").rfind("dark/bad.png,E_READ"))
      << "once, not at each validation";
  EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), HasSubstr("dark/bad.png,E_READ"));
  o.resume = true, o.steps = 5;
  EXPECT_EQ(run_train(o, scene.progress).left_out, 1);
  std::filesystem::remove(scene.data() / "val/dark/0.png"), std::filesystem::remove(scene.data() / "val/bright/0.png");
  o.resume = false, o.run = scene.path("none"), o.steps = 1;
  EXPECT_EQ(run_train(o, scene.progress).validation->score, 0);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("none of the 1 items that validate")));
}

TEST(TrainClasses, WhatDoesNotDecodeIsLeftOutBeforeTheFirstStep) {
  for (const char* intensities : {"none", "dataset"}) {
    ClassScene scene(std::string("classes_damaged_") + intensities);
    scene.dark_and_bright("data", 4);
    scene.damaged("data/dark/bad.png"), scene.damaged("data/grey/bad.png");
    TrainOptions o = scene.toy("run");
    o.steps = 6, classes(o).normalise = intensities, classes(o).validates = false;
    const TrainReport report = run_train(o, scene.progress);
    EXPECT_EQ(report.steps, 6) << "three epochs";
    EXPECT_EQ(report.train_cases, 8);
    EXPECT_EQ(report.left_out, 3) << "two pictures, and the class of one of them";
    EXPECT_EQ(read_json(o.run / "run.json").at("model").at("classes"), 2);
    EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), HasSubstr("grey,E_EMPTY"));
    std::filesystem::remove_all(scene.data() / "bright");
    o.run = scene.path("one");
    expect_error(ErrorKind::kConfig, "has one class, dark", [&] { run_train(o, scene.progress); });
  }
}

TEST(TrainClasses, GreyAmongColourIsSaid) {
  ClassScene scene("classes_colour");
  scene.dark_and_bright("data", 3);
  for (int i = 0; i < 3; ++i)
    scene.image("data/dark/c" + std::to_string(i) + ".png", {.width = 8, .height = 8, .channels = 3}, {9, 90, 9});
  TrainOptions o = scene.toy("run");
  o.steps = 1;
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(HasSubstr("W_COLOUR")));
  EXPECT_EQ(read_json(o.run / "run.json").at("model").at("channels"), 3);
}

TEST(TrainClasses, SettingsThatContradictEachOtherAreRefused) {
  ClassScene scene("classes_settings");
  scene.dark_and_bright("data", 3);
  TrainOptions o = scene.toy("run");
  classes(o).fit = "resize";
  expect_error(ErrorKind::kUsage, "wants a {size}", [&] { run_train(o, scene.progress); });
  TrainOptions twice = scene.toy("run");
  twice.spec.set("class_weights", std::string("1,2")), classes(twice).balance = "weights";
  expect_error(ErrorKind::kUsage, "{class-weights}", [&] { run_train(twice, scene.progress); });
  classes(o).size = {4, 4, 4};
  expect_error(ErrorKind::kUsage, "2 spatial axes", [&] { run_train(o, scene.progress); });
  TrainOptions digits = scene.digits("run");
  classes(digits).size = {32, 32};
  expect_error(ErrorKind::kUsage, "has the size 28x28", [&] { run_train(digits, scene.progress); });
  TrainOptions volumes = scene.toy("run", 3);
  expect_error(ErrorKind::kNoCase, "no volume can be used", [&] { run_train(volumes, scene.progress); });
}

TEST(TrainClasses, ImagesLargerThanTheModelAreLeftOutOrResized) {
  ClassScene scene("classes_size");
  scene.dark_and_bright("data", 4, 20);
  scene.image("data/dark/large.png", {.width = 40, .height = 20});
  TrainOptions o = scene.digits("run");
  o.steps = 1;
  EXPECT_EQ(run_train(o, scene.progress).left_out, 1);
  EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), HasSubstr("E_SIZE"));
  o.run = scene.path("resized"), classes(o).fit = "resize";
  EXPECT_EQ(run_train(o, scene.progress).left_out, 0);
}

TEST(TrainClasses, RareClassesCanCountAsMuchAsTheOthers) {
  ClassScene scene("classes_balance");
  scene.dark_and_bright("data", 2);
  for (int i = 2; i < 8; ++i)
    scene.image("data/dark/" + std::to_string(i) + ".png", {.width = 8, .height = 8}, {30 + i});
  TrainOptions o = scene.toy("run");
  o.steps = 1, classes(o).validates = false, classes(o).balance = "weights";
  run_train(o, scene.progress);
  EXPECT_EQ(read_json(o.run / "run.json").at("model").at("class_weights"), "2.5,0.625")
      << "2 bright ones and 8 dark ones";
}

TEST(TrainClasses, TheWeightsOfAnotherRunAreTakenWhereClassesHaveWeights) {
  ClassScene scene("classes_balance_from");
  scene.idx("data", 20, 10);
  TrainOptions o = scene.digits("first");
  o.steps = 1, classes(o).validates = false;
  run_train(o, scene.progress);
  o.from = o.run, o.run = scene.path("second"), classes(o).balance = "weights";
  run_train(o, scene.progress);
  const nlohmann::json run = read_json(o.run / "run.json");
  EXPECT_TRUE(run.contains("from"));
  EXPECT_EQ(run.at("model").at("class_weights"), "1,1,1,1,1,1,1,1,1,1");
}

TEST(TrainClasses, VolumesAreLearnt) {
  ClassScene scene("classes_volumes");
  for (const bool bright : {false, true})
    for (int i = 0; i < 4; ++i) {
      Volume volume = Scene::make_image(0, {8, 7 + i % 2, 6});
      for (std::int64_t k = 0; k < volume.voxels.count(); ++k)
        volume.voxels.as<float>()[k] = static_cast<float>((bright ? 120 : -100) + 5 * i);
      const auto file = scene.data() / (bright ? "bone" : "fat") / (std::to_string(i) + ".nii.gz");
      std::filesystem::create_directories(file.parent_path());
      write_volume(file, volume, DiskType::kI16);
    }
  TrainOptions o = scene.toy("run", 3);
  o.batch = 2, o.spec.cut.mesh.partition = {1, 2, 1, 2, 1};
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.validation->score, 1.0);
  EXPECT_EQ(report.train_cases + report.validation_cases, 8);
}

}  // namespace
}  // namespace voxshard
