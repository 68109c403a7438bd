// The items and classes of files: folders, lists and IDX files, and what is wrong with them.
#include <gmock/gmock.h>

#include <set>

#include "pipelines/tasks/classification/dataset/class_memory.h"
#include "pipelines/tasks/crop_name.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

ClassDataset read_whole(const ClassScene& scene, const ClassReading& reading = {}) {
  return read_class_part(find_class_parts(scene.data()).whole.value(), reading);
}

TEST(ClassDataset, AFolderPerClassIsRead) {
  const ClassScene scene("class_folders");
  scene.image("data/red/b.png"), scene.image("data/red/deep/a.png"),
      scene.image("data/blue/c.png", {.width = 5, .height = 2, .channels = 3});
  scene.write("data/red/notes.txt", "no picture");
  const ClassDataset set = read_whole(scene);
  EXPECT_EQ(set.kind, "folders");
  EXPECT_THAT(set.classes, ElementsAre("blue", "red"));
  EXPECT_THAT(ClassScene::names(set), ElementsAre("blue/c.png", "red/b.png", "red/deep/a.png"));
  EXPECT_EQ(set.items[0].label, 0);
  EXPECT_EQ(set.items[0].size, (Dims{2, 5}));
  EXPECT_TRUE(set.items[0].colour);
  EXPECT_FALSE(set.items[1].colour);
  EXPECT_THAT(set.counts(), ElementsAre(1, 2));
  EXPECT_TRUE(set.failures.empty());
}

TEST(ClassDataset, AListNamesFilesAndClasses) {
  const ClassScene scene("class_list");
  scene.image("data/x/a.png"), scene.image("data/b.png");
  scene.write("data/list.csv", "file,class\nx/a.png,red\nb.png,blue\nmissing.png,red\n../up.png,red\n");
  const ClassDataset set = read_class_part(find_class_parts(scene.data() / "list.csv").whole.value(), {});
  EXPECT_EQ(set.kind, "list");
  EXPECT_THAT(ClassScene::names(set), ElementsAre("b.png", "x/a.png"));
  EXPECT_THAT(ClassScene::codes(set.failures), ElementsAre("E_NAME", "E_READ"));
}

TEST(ClassDataset, IdxFilesAreRead) {
  const ClassScene scene("class_idx");
  scene.idx("data", 12, 3);
  const ClassSets sets = read_class_sets({.data = scene.data()});
  EXPECT_EQ(sets.train.items.size(), 12u);
  EXPECT_EQ(sets.val.items.size(), 3u);
  EXPECT_EQ(sets.train.classes.size(), 10u);
  EXPECT_EQ(sets.train.items[11].label, 1);
  EXPECT_EQ(sets.train.items[11].name, "00011");
  EXPECT_EQ(sets.train.items[11].size, (Dims{28, 28}));
}

TEST(ClassDataset, IdxFilesAreImagesAloneForAModelOfVolumesToo) {
  const ClassScene scene("class_idx_volumes");
  scene.idx("data", 12, 3);
  const ClassPart part = find_class_parts(scene.data()).train.value();
  EXPECT_EQ(kind_of_part(part, 0), ItemKind::kImage);
  EXPECT_EQ(kind_of_part(part, 2), ItemKind::kImage);
  expect_error(ErrorKind::kInput, "holds IDX images", [&] { read_class_part(part, {.items = kind_of_part(part, 3)}); });
}

TEST(ClassDataset, IdxFilesWithoutThoseToTrainOnAreToldSo) {
  const ClassScene scene("class_idx_test");
  scene.idx("data", 12, 3);
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
    std::filesystem::remove(scene.data() / name);
  expect_error(ErrorKind::kInput, "put it beside, as train-images-idx3-ubyte and train-labels-idx1-ubyte",
               [&] { read_class_sets({.data = scene.data()}); });
}

TEST(ClassDataset, PartsOfAFolderAreFound) {
  const ClassScene scene("class_parts");
  scene.dark_and_bright("data/train", 3);
  scene.dark_and_bright("data/test", 1);
  EXPECT_EQ(read_class_sets({.data = scene.data()}).val.items.size(), 2u) << "without val the test part validates";
  EXPECT_TRUE(read_class_sets({.data = scene.data()}).val_is_test);
  scene.dark_and_bright("data/val", 2);
  EXPECT_EQ(read_class_sets({.data = scene.data()}).val.items.size(), 4u);
  EXPECT_EQ(read_unseen_classes(scene.data(), {}).items.size(), 2u) << "and the test part is what is unseen";
  EXPECT_EQ(read_class_sets({.data = scene.data(), .validates = false}).val.items.size(), 0u);
  EXPECT_EQ(read_class_sets({.data = scene.data(), .val = scene.data() / "test"}).val.items.size(), 2u);
  EXPECT_FALSE(read_class_sets({.data = scene.data()}).val_is_test);
}

TEST(ClassDataset, PartsThatOnlyValidateAndTestAreNoClasses) {
  const ClassScene scene("class_no_train");
  scene.dark_and_bright("data/val", 1), scene.dark_and_bright("data/test", 2);
  expect_error(ErrorKind::kInput, "no part to train on", [&] { read_class_sets({.data = scene.data()}); });
  EXPECT_EQ(read_unseen_classes(scene.data(), {}).items.size(), 4u) << "but it can be predicted";
  scene.image("flat/val/a.png"), scene.image("flat/test/b.png");
  expect_error(ErrorKind::kInput, "is no data set of classes", [&] { read_class_sets({.data = scene.path("flat")}); });
  scene.image("tests/control/a.png"), scene.image("tests/test/b.png");
  EXPECT_THAT(read_class_sets({.data = scene.path("tests")}).train.classes, ElementsAre("control", "test"));
}

TEST(ClassDataset, WhatIsCutOutOfOneImageStaysOnOneSide) {
  EXPECT_EQ(image_of_crop(crop_name("blood_1", 12, 3)), "blood_1_00000012");
  for (const char* other : {"scan_20240101_001.png", "blood_00000012_003.jpg", "_3.png"})
    EXPECT_FALSE(image_of_crop(other)) << other;
  const ClassScene scene("class_crops");
  for (std::size_t image = 0; image < 10; ++image)
    for (std::size_t box = 0; box < 6; ++box)
      scene.image("data/" + std::string(box % 3 == 0 ? "red/" : "white/") + crop_name("p", image, box));
  const ClassSets sets = read_class_sets({.data = scene.data(), .val_fraction = 0.3, .seed = 1});
  const auto images = [](const ClassDataset& set) {
    std::set<std::string> names;
    for (const ClassItem& item : set.items) names.insert(image_of_crop(item.file).value());
    return names;
  };
  EXPECT_EQ(images(sets.val).size(), 3u);
  EXPECT_EQ(images(sets.train).size(), 7u);
  EXPECT_EQ(sets.val.items.size(), 18u);
}

TEST(ClassDataset, AClassWithoutAnItemLeftIsNoClass) {
  ClassSets sets{.train = {.source = "data", .classes = {"a", "b", "c"}, .items = {{.label = 0}, {.label = 2}}},
                 .val = {.classes = {"a", "b", "c"}, .items = {{.label = 1}, {.label = 2}}}};
  leave_out_empty_classes(sets);
  EXPECT_THAT(sets.train.classes, ElementsAre("a", "c"));
  EXPECT_EQ(sets.val.classes, sets.train.classes);
  EXPECT_EQ(sets.train.items.at(1).label, 1);
  ASSERT_EQ(sets.val.items.size(), 1u);
  EXPECT_EQ(sets.val.items[0].label, 1);
  EXPECT_THAT(ClassScene::codes(sets.train.failures), ElementsAre("E_EMPTY"));
  EXPECT_THAT(ClassScene::codes(sets.val.failures), ElementsAre("E_CLASS"));
  sets.train.items.pop_back();
  expect_error(ErrorKind::kConfig, "has one class, a", [&] { leave_out_empty_classes(sets); });
}

TEST(ClassDataset, AShareOfEachClassIsHeldOutByTheSeed) {
  const ClassScene scene("class_split");
  scene.dark_and_bright("data", 10);
  const auto held_out = [&](std::uint64_t seed) {
    const ClassSets sets = read_class_sets({.data = scene.data(), .val_fraction = 0.2, .seed = seed});
    EXPECT_THAT(sets.val.counts(), ElementsAre(2, 2));
    EXPECT_THAT(sets.train.counts(), ElementsAre(8, 8));
    return ClassScene::names(sets.val);
  };
  EXPECT_EQ(held_out(1), held_out(1));
  EXPECT_NE(held_out(1), held_out(2));
  EXPECT_TRUE(read_class_sets({.data = scene.data(), .val_fraction = 0}).val.items.empty());
  expect_error(ErrorKind::kConfig, "val-fraction", [&] { read_class_sets({.data = scene.data(), .val_fraction = 1}); });
}

TEST(ClassDataset, OneClassIsRefused) {
  const ClassScene scene("class_one");
  scene.image("data/red/a.png");
  expect_error(ErrorKind::kConfig, "has one class, red", [&] { read_class_sets({.data = scene.data()}); });
  std::filesystem::create_directories(scene.data() / "blue");
  expect_error(ErrorKind::kConfig, "has one class, red", [&] { read_class_sets({.data = scene.data()}); });
}

TEST(ClassDataset, AnEmptyClassIsLeftOutWithItsName) {
  const ClassScene scene("class_empty");
  scene.dark_and_bright("data", 2);
  std::filesystem::create_directories(scene.data() / "green");
  const ClassSets sets = read_class_sets({.data = scene.data()});
  EXPECT_THAT(sets.train.classes, ElementsAre("bright", "dark"));
  ASSERT_EQ(sets.train.failures.size(), 1u);
  EXPECT_EQ(sets.train.failures[0].id, "green");
  EXPECT_EQ(sets.train.failures[0].code, "E_EMPTY");
}

TEST(ClassDataset, AClassThatTrainingNeverSawIsLeftOut) {
  const ClassScene scene("class_unseen");
  scene.dark_and_bright("data/train", 2);
  scene.dark_and_bright("data/val", 1);
  scene.image("data/val/striped/s.png");
  const ClassSets sets = read_class_sets({.data = scene.data()});
  EXPECT_EQ(sets.val.classes, sets.train.classes);
  EXPECT_EQ(sets.val.items.size(), 2u);
  EXPECT_THAT(ClassScene::codes(sets.val.failures), ElementsAre("E_CLASS"));
  EXPECT_THAT(sets.val.failures[0].message, testing::HasSubstr("striped"));
}

TEST(ClassDataset, AnUnreadableImageCostsItself) {
  const ClassScene scene("class_damaged");
  scene.dark_and_bright("data", 2);
  scene.write("data/dark/empty.png", "");
  scene.write("data/dark/text.png", "hello");
  scene.image("data/dark/cut.png");
  Scene::truncate(scene.data() / "dark/cut.png");
  const ClassDataset set = read_whole(scene);
  EXPECT_EQ(set.items.size(), 4u);
  ASSERT_EQ(set.failures.size(), 3u);
  for (const CaseFailure& failure : set.failures) EXPECT_EQ(failure.code, "E_READ") << failure.id;
}

TEST(ClassDataset, AClassOfWhichNothingCanBeReadIsLeftOutWithItsFiles) {
  const ClassScene scene("class_broken");
  scene.dark_and_bright("data", 1);
  scene.write("data/grey/a.png", "no picture"), scene.write("data/grey/b.png", "");
  const ClassDataset set = read_whole(scene);
  EXPECT_THAT(set.classes, ElementsAre("bright", "dark"));
  EXPECT_THAT(ClassScene::codes(set.failures), UnorderedElementsAre("E_READ", "E_READ", "E_EMPTY"));
}

TEST(ClassDataset, ADigitThatTrainingNeverSawIsLeftOut) {
  const ClassScene scene("class_digit");
  scene.idx("data", 7, 9);  // 0 to 6, then 7, 8, 9, 0, ...
  const ClassSets sets = read_class_sets({.data = scene.data()});
  EXPECT_EQ(sets.val.classes, sets.train.classes);
  EXPECT_EQ(sets.val.items.size(), 6u);
  EXPECT_THAT(ClassScene::codes(sets.val.failures), ElementsAre("E_CLASS", "E_CLASS", "E_CLASS"));
  EXPECT_EQ(sets.val.failures[0].id, "00000");
}

TEST(ClassDataset, ImagesBeyondTheMemoryAreRefusedBeforeTheyAreRead) {
  const ClassScene scene("class_memory");
  scene.idx("data", 12, 3);
  ClassReading reading;
  const auto needed = static_cast<std::int64_t>(idx_bytes({12, 28, 28}, scene.data() / "train-images-idx3-ubyte"));
  EXPECT_GE(needed, 12 * (28 * 28 + static_cast<std::int64_t>(sizeof(ClassItem)))) << "the items too";
  reading.formats.limits.memory_bytes = needed - 1;
  expect_error(ErrorKind::kBudget, "train-images-idx3-ubyte takes",
               [&] { read_class_sets({.data = scene.data(), .reading = reading}); });
  reading.formats.limits.memory_bytes = needed;
  EXPECT_EQ(read_class_sets({.data = scene.data(), .reading = reading}).train.items.size(), 12u);
}

TEST(ClassDataset, AImageBesideTheFoldersHasNoClass) {
  const ClassScene scene("class_loose");
  scene.dark_and_bright("data", 1);
  scene.image("data/loose.png");
  EXPECT_THAT(ClassScene::codes(read_whole(scene).failures), ElementsAre("E_CLASS"));
}

TEST(ClassDataset, ATooLargeImageIsLeftOut) {
  const ClassScene scene("class_large");
  scene.dark_and_bright("data", 1);
  scene.image("data/dark/large.png", {.width = 30, .height = 30});
  const ClassDataset set = read_whole(scene, {.most_pixels = 100});
  EXPECT_EQ(set.items.size(), 2u);
  EXPECT_THAT(ClassScene::codes(set.failures), ElementsAre("E_SIZE"));
}

TEST(ClassDataset, WhatValidatesDoesNotTrain) {
  const ClassScene scene("class_twice");
  scene.dark_and_bright("data", 3);
  scene.write("data/val.csv", "dark/0.png,dark\nbright/0.png,bright\n");
  const ClassSets sets = read_class_sets({.data = scene.data(), .val = scene.data() / "val.csv"});
  EXPECT_EQ(sets.val.items.size(), 2u);
  EXPECT_EQ(sets.train.items.size(), 4u);
  EXPECT_THAT(ClassScene::codes(sets.train.failures), ElementsAre("E_DUPLICATE", "E_DUPLICATE"));
}

TEST(ClassDataset, OtherDataSetsAreNotTakenForClasses) {
  const ClassScene scene("class_others");
  EXPECT_FALSE(find_class_parts(scene.data()).any());
  scene.image("coco/train/a.png"), scene.image("coco/val/b.png");
  scene.write("coco/annotations/instances_train.json", "{}");
  EXPECT_FALSE(find_class_parts(scene.path("coco")).any());
  scene.image("bccd/images/a.png");
  scene.write("bccd/coco_train.json", "{}");
  EXPECT_FALSE(find_class_parts(scene.path("bccd")).any());
  scene.image("voc/JPEGImages/a.png");
  scene.write("voc/Annotations/a.xml", "<annotation/>");
  EXPECT_FALSE(find_class_parts(scene.path("voc")).any());
  scene.image("flat/a.png");
  EXPECT_FALSE(find_class_parts(scene.path("flat")).any());
  expect_error(ErrorKind::kInput, "is no data set of classes", [&] { read_class_sets({.data = scene.path("flat")}); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { read_class_sets({.data = scene.path("nowhere")}); });
}

TEST(ClassDataset, VolumesAreMeasuredAsTheyAreTurned) {
  const ClassScene scene("class_volumes");
  Volume volume = Scene::make_image(0, {6, 5, 4});
  volume.geometry.direction = {0, 0, 1, 1, 0, 0, 0, 1, 0};  // x runs to the back, y to the head, z to the left
  for (const char* name : {"data/liver/a.nii.gz", "data/none/b.nii"}) {
    std::filesystem::create_directories(scene.path(name).parent_path());
    write_volume(scene.path(name), volume, DiskType::kI16);
  }
  const ClassDataset set = read_whole(scene, {.items = ItemKind::kVolume});
  EXPECT_THAT(set.classes, ElementsAre("liver", "none"));
  EXPECT_EQ(set.items[0].size, (Dims{5, 6, 4}));
  expect_error(ErrorKind::kNoCase, "no picture can be used", [&] { read_whole(scene); });
}

}  // namespace
}  // namespace voxshard
