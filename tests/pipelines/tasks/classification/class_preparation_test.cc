// The preparation of an image or volume for a classifier.
#include "pipelines/tasks/classification/samples/class_preparation.h"

#include <gmock/gmock.h>

#include <cmath>

#include "pipelines/tasks/classification/samples/class_statistics.h"
#include "pipelines/tasks/classification/scores/classify_batch.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

std::vector<float> values(const Tensor& t) { return {t.as<float>(), t.as<float>() + t.count()}; }

Tensor read(const ClassScene& scene, const std::string& name, const ClassPreparation& p) {
  const ClassReading reading{.items = p.items};
  return ItemReader(p, reading).read(read_class_item(scene.path(name), reading), nullptr);
}

TEST(ClassPreparation, GreyAndColourBecomeEachOther) {
  const ClassScene scene("prep_colour");
  scene.image("grey.png", {.width = 2, .height = 1}, {51, 255});
  scene.image("colour.png", {.width = 1, .height = 1, .channels = 3}, {255, 0, 51});
  EXPECT_THAT(values(read(scene, "grey.png", {.channels = 1})), Pointwise(FloatNear(1e-6F), {0.2F, 1.0F}));
  EXPECT_THAT(values(read(scene, "grey.png", {.channels = 3, .mean = {0, 0, 0}, .deviation = {1, 1, 1}})),
              Pointwise(FloatNear(1e-6F), {0.2F, 0.2F, 0.2F, 1.0F, 1.0F, 1.0F}));
  EXPECT_NEAR(values(read(scene, "colour.png", {.channels = 1}))[0], 0.299 + 0.114 * 0.2, 1e-6);
}

TEST(ClassPreparation, IntensitiesAreNormalisedByChannel) {
  const ClassScene scene("prep_norm");
  scene.image("colour.png", {.width = 1, .height = 1, .channels = 3}, {255, 0, 51});
  const Tensor sample =
      read(scene, "colour.png", {.channels = 3, .mean = {0.5, 0.5, 0.2}, .deviation = {0.25, 0.5, 1}});
  EXPECT_THAT(values(sample), ElementsAre(2, -1, FloatNear(0, 1e-6F)));
}

TEST(ClassPreparation, AnIntegerFactorRepeatsPixels) {
  const ClassScene scene("prep_enlarge");
  scene.image("a.png", {.width = 2, .height = 1}, {0, 255});
  const ClassPreparation p{.size = {2, 4}, .enlarges = true};
  EXPECT_THAT(values(read(scene, "a.png", p)), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_EQ(read(scene, "a.png", {.size = {2, 4}}).shape(), (Shape{1, 2, 1})) << "padded, where it is placed";
}

TEST(ClassPreparation, ImagesAreResizedToTheSize) {
  const ClassScene scene("prep_resize");
  scene.image("a.png", {.width = 4, .height = 2}, {0, 255, 0, 255});
  const Tensor sample = read(scene, "a.png", {.size = {1, 2}, .resizes = true});
  EXPECT_EQ(sample.shape(), (Shape{1, 2, 1}));
  EXPECT_NEAR(sample.as<float>()[0], 0.5, 1e-6) << "the mean of what a pixel covers";
}

TEST(ClassPreparation, CanvasesFollowSizeAndMultiple) {
  const ClassItem item{.file = "a.png", .size = {30, 33}};
  EXPECT_EQ(canvas_of(item, {}), (Dims{30, 33}));
  EXPECT_EQ(canvas_of(item, {.pad_multiple = 32}), (Dims{32, 64}));
  EXPECT_EQ(canvas_of(item, {.size = {40, 40}}), (Dims{40, 40}));
  EXPECT_EQ(canvas_of(item, {.size = {8, 8}, .resizes = true}), (Dims{8, 8}));
  expect_error(ErrorKind::kInput, "larger than the 32x32", [&] { canvas_of(item, {.size = {32, 32}}); });
}

TEST(ClassPreparation, VolumesAreWindowedAndTurned) {
  const ClassScene scene("prep_volume");
  Volume volume = Scene::make_image(1, {4, 3, 2});  // HU 100 + x
  volume.geometry.direction = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
  write_volume(scene.path("v.nii"), volume, DiskType::kI16);
  const Tensor sample = read(scene, "v.nii", {.items = ItemKind::kVolume, .window_hu = {101, 103}});
  EXPECT_EQ(sample.shape(), (Shape{2, 3, 4, 1}));
  EXPECT_THAT(std::vector<float>(sample.as<float>(), sample.as<float>() + 4), ElementsAre(1, 0.5F, 0, 0))
      << "x runs to the left now";
  EXPECT_EQ(read(scene, "v.nii", {.items = ItemKind::kVolume, .size = {2, 2, 2}, .resizes = true}).shape(),
            (Shape{2, 2, 2, 1}));
}

TEST(ClassPreparation, StatisticsAreThoseOfAllPixels) {
  const ClassScene scene("prep_statistics");
  scene.image("data/a/1.png", {.width = 2, .height = 1}, {0, 255});
  scene.image("data/b/2.png", {.width = 2, .height = 2}, {255});
  ClassDataset set = read_class_part(find_class_parts(scene.data()).whole.value(), {});
  ClassPreparation p;
  set_statistics(p, look_at_items(set, p, {}));
  EXPECT_NEAR(p.mean.at(0), 5.0 / 6, 1e-12);
  EXPECT_NEAR(p.deviation.at(0), std::sqrt(5.0 / 36), 1e-12);
}

TEST(ClassPreparation, AImageThatCannotBeDecodedIsLeftOutByItsReason) {
  const ClassScene scene("prep_decode");
  scene.dark_and_bright("data", 1);
  scene.damaged("data/dark/bad.png", 4);
  ClassDataset set = read_class_part(find_class_parts(scene.data()).whole.value(), {});
  ASSERT_EQ(set.items.size(), 3u) << "its header is whole";
  EXPECT_EQ(look_at_items(set, {}, {}).of_items.size(), 2u);
  EXPECT_EQ(set.items.size(), 2u);
  EXPECT_THAT(ClassScene::codes(set.failures), ElementsAre("E_READ"));
}

TEST(ClassPreparation, LookingAtItemsIsBoundedAndStops) {
  const ClassScene scene("prep_bounds");
  scene.dark_and_bright("data", 2);
  ClassDataset set = read_class_part(find_class_parts(scene.data()).whole.value(), {});
  expect_error(ErrorKind::kBudget, "fewer {threads}", [&] { look_at_items(set, {}, {}, {.memory_bytes = 100}); });
  EXPECT_THROW(look_at_items(set, {}, {}, {.threads = 2, .stop = [] { return true; }}), Stopped);
  EXPECT_EQ(set.items.size(), 4u);
}

TEST(ClassPreparation, MixedColourIsSaid) {
  ClassDataset set{.items = {{.colour = true}, {.colour = false}}};
  EXPECT_EQ(choose_colour(set, "auto").channels, 3);
  EXPECT_THAT(choose_colour(set, "auto").note, testing::HasSubstr("1 of 2 training pictures are grey"));
  EXPECT_EQ(choose_colour(set, "grey").channels, 1);
  EXPECT_THAT(choose_colour(set, "grey").note, testing::HasSubstr("taken as grey"));
  set.items[0].colour = false;
  EXPECT_EQ(choose_colour(set, "auto").channels, 1);
  EXPECT_EQ(choose_colour(set, "auto").note, "");
  EXPECT_EQ(choose_colour(set, "colour").channels, 3);
}

TEST(ClassPreparation, JsonBringsItBack) {
  const ClassPreparation p{.classes = {"a", "b"},
                           .channels = 3,
                           .mean = {0.1, 0.2, 0.3},
                           .deviation = {1, 2, 3},
                           .size = {28, 56},
                           .resizes = true,
                           .pad_multiple = 4};
  const nlohmann::json json = to_json(p);
  EXPECT_EQ(nlohmann::json(to_json(class_preparation_from_json(json))), json);
}

TEST(ClassPreparation, ABrokenDescriptionIsRefused) {
  const nlohmann::json good = to_json(ClassPreparation{.classes = {"a", "b"}});
  static_cast<void>(class_preparation_from_json(good));
  const std::pair<const char*, nlohmann::json> bad[] = {
      {"classes", {"a"}},        {"channels", 2}, {"mean", {0, 0}},       {"deviation", {0}}, {"window_hu", {1, 1}},
      {"size", {0, 4}},          {"size", {4}},   {"size", {4, 1 << 30}}, {"resizes", true},  {"pad_multiple", 0},
      {"pad_multiple", 1 << 30}, {"items", 3},    {"clip_length", 1e300}, {"channels", 1.5}};
  for (const auto& [key, value] : bad) {
    nlohmann::json json = good;
    json[key] = value;
    expect_error(ErrorKind::kCheckpoint, "description of the pictures is broken",
                 [&] { class_preparation_from_json(json); });
  }
  expect_error(ErrorKind::kCheckpoint, "broken", [] { class_preparation_from_json(nlohmann::json::array()); });
}

TEST(ClassPreparation, SmallItemsArePredictedSideBySide) {
  std::vector<ClassItem> items(130, {.size = {28, 28}});
  items.push_back({.size = {700, 700}});
  items.push_back({.size = {28, 28}});
  const auto batches = item_batches(items, {});
  ASSERT_EQ(batches.size(), 4u);
  EXPECT_EQ(batches[0].extents, (Shape{64, 28, 28}));
  EXPECT_EQ(batches[2].inputs.size(), 3u);
  EXPECT_EQ(batches[2].inputs.back(), 131u);
  EXPECT_EQ(batches[3].extents, (Shape{1, 700, 700}));
}

}  // namespace
}  // namespace voxshard
