// Runs of classifiers that go on with changed data: what validated never trains.
#include <gmock/gmock.h>

#include "io/files/config_file.h"
#include "pipelines/tasks/crop_name.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

ClassTaskOptions& classes(TrainOptions& o) { return o.task.of<ClassTaskOptions>(); }

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
  classes(scene.options).validates = false;
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
