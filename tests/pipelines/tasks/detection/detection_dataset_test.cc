// Data sets of images with boxes: where they are found, what is checked, how they are split.
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/pipelines/tasks/detection/detection_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrueBox box(double x, double y, double width, double height) {
  return {.box = {x, y, width, height}, .area = width * height};
}

TEST(DetectionDataset, BoxesAreCutToTheImageForTrainingAndKeptForScoring) {
  DetectionScene scene("clip");
  scene.add_image(1, 64, 48,
                  {box(-4, 0, 10, 10), box(60, 40, 100, 100), box(70, 0, 5, 5), box(3, 3, 0, 9), box(1, 1, 2, 2)});
  const auto path = scene.write("set.json");
  const DetectionDataset training = read_detection_dataset(path);
  ASSERT_EQ(training.boxes(), 3);
  EXPECT_EQ(training.images[0].boxes[0].box, (CocoBox{0, 0, 6, 10}));
  EXPECT_EQ(training.images[0].boxes[1].box, (CocoBox{60, 40, 4, 8}));
  EXPECT_THAT(codes_of(training.notes), ElementsAre("W_CLIPPED", "W_CLIPPED", "E_BOX", "E_BOX"));
  EXPECT_EQ(training.notes[2].entry, "image_1.png box 2");
  EXPECT_EQ(note_failures(training.notes).size(), 2u);
  EXPECT_THAT(
      mended_texts(training.notes),
      ElementsAre("W_CLIPPED 2 entries, the first: image_1.png box 0 reaches beyond the picture; it is cut to it"));
  EXPECT_TRUE(size_warnings(training.notes).empty());
  const DetectionDataset scoring = read_detection_dataset(path, DetectionUse::kScoring);
  EXPECT_EQ(scoring.boxes(), 5);
  EXPECT_TRUE(scoring.notes.empty());
}

TEST(DetectionDataset, AMissingOrBrokenImageCostsItselfOnly) {
  DetectionScene scene("broken");
  for (int id = 1; id <= 4; ++id) scene.add_image(id, 16, 16);
  std::filesystem::remove(scene.path("image_2.png"));
  Scene::truncate(scene.path("image_3.png"));
  const DetectionDataset set = read_detection_dataset(scene.write("set.json"));
  EXPECT_THAT(ids_of(set), ElementsAre(1, 4));
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_MISSING", "E_READ"));
  EXPECT_THAT(set.notes[0].message, HasSubstr("image_2.png"));
  EXPECT_THAT(set.notes[1].message, HasSubstr("image_3.png: is cut off"));
  EXPECT_EQ(read_detection_dataset(scene.path("set.json"), DetectionUse::kScoring).images.size(), 4u);
}

TEST(DetectionDataset, TheSizeIsThatOfTheImage) {
  DetectionScene scene("size");
  scene.add_image(1, 16, 12);
  scene.set.images[0].width = 160;
  const DetectionDataset set = read_detection_dataset(scene.write("set.json"));
  EXPECT_EQ(set.images[0].width, 16);
  EXPECT_THAT(codes_of(set.notes), ElementsAre("W_SIZE"));
  EXPECT_THAT(set.notes[0].message, HasSubstr("160 x 12"));
  EXPECT_THAT(size_warnings(set.notes), ElementsAre(HasSubstr("W_SIZE image_1.png has 16 x 12 pixels")));
}

TEST(DetectionDataset, ImagesAreFoundInTheUsualPlaces) {
  for (const std::string place : {"train2017", "annotations/images", "images", "JPEGImages", "images/train2017"}) {
    DetectionScene scene("places");
    scene.add_image(1, 8, 8);
    std::filesystem::create_directories(scene.path("annotations"));
    std::filesystem::create_directories(scene.path(place));
    std::filesystem::rename(scene.path("image_1.png"), scene.path(place) / "image_1.png");
    EXPECT_EQ(read_detection_dataset(scene.write("annotations/instances_train2017.json")).images.size(), 1u) << place;
  }
}

TEST(DetectionDataset, AFolderIsReadByItsOnlyAnnotations) {
  DetectionScene scene("folder");
  scene.add_image(1, 8, 8);
  const auto folder = scene.path("");
  expect_error(ErrorKind::kInput, "holds no annotations", [&] { read_detection_dataset(folder); });
  scene.write("annotations.json");
  scene.write_text("other.json", "{}");
  EXPECT_EQ(read_detection_dataset(folder).images.size(), 1u);
  scene.write("annotations/instances_val.json");
  expect_error(ErrorKind::kInput, "several annotation files: annotations/instances_val.json annotations.json",
               [&] { read_detection_dataset(folder); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { read_detection_dataset(scene.path("nowhere")); });
}

TEST(DetectionDataset, ASetWithoutAUsableImageIsNoCase) {
  DetectionScene scene("none");
  scene.add_image(1, 8, 8);
  std::filesystem::remove(scene.path("image_1.png"));
  const auto path = scene.write("set.json");
  expect_error(ErrorKind::kNoCase, "no image can be used; the first: image 1", [&] { read_detection_dataset(path); });
}

void write_voc(const DetectionScene& scene, const std::string& stem, const std::string& file) {
  scene.write_text("voc/Annotations/" + stem + ".xml",
                   "<annotation><filename>" + file +
                       "</filename><object><name>cell</name><bndbox><xmin>1</xmin>"
                       "<ymin>1</ymin><xmax>4</xmax><ymax>3</ymax></bndbox></object></annotation>");
  std::filesystem::create_directories(scene.path("voc/JPEGImages"));
  write_rgb(scene.path("voc/JPEGImages") / (stem + ".png"), Tensor(DType::kU8, {8, 8, 3}));
}

TEST(DetectionDataset, AVocFolderIsCheckedAlikeAndSplitByItsLists) {
  DetectionScene scene("voc");
  for (const std::string stem : {"a", "b", "c", "d"}) write_voc(scene, stem, stem + ".png");
  write_voc(scene, "e", "lost.png");
  const DetectionDataset set = read_detection_dataset(scene.path("voc"));
  EXPECT_EQ(set.images.size(), 4u);
  EXPECT_EQ(set.images[0].boxes[0].box, (CocoBox{0, 0, 4, 3}));
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_MISSING"));
  scene.write_text("voc/ImageSets/Main/train.txt", "a\nd\n");
  scene.write_text("voc/ImageSets/Main/val.txt", "b\n");
  const DetectionSets sets = read_detection_sets({.data = scene.path("voc")});
  EXPECT_THAT(ids_of(sets.train), ElementsAre(1, 4));
  EXPECT_THAT(ids_of(sets.val), ElementsAre(2));
}

TEST(DetectionSets, AFoldOfAFolderWithListsIsOfItsListTrain) {
  DetectionScene scene("voc_folds");
  for (const std::string stem : {"a", "b", "c", "d", "e"}) write_voc(scene, stem, stem + ".png");
  scene.write_text("voc/ImageSets/Main/train.txt", "a\nc\nd\n");
  scene.write_text("voc/ImageSets/Main/val.txt", "b\n");
  scene.write_text("voc/ImageSets/Main/test.txt", "e\n");
  std::vector<std::int64_t> held_out;
  for (const char* fold : {"0", "1", "2"}) {
    const DetectionSets sets = read_detection_sets({.data = scene.path("voc"), .fold = fold});
    std::vector<std::int64_t> all = ids_of(sets.train);
    for (const std::int64_t id : ids_of(sets.val)) all.push_back(id), held_out.push_back(id);
    EXPECT_THAT(all, testing::UnorderedElementsAre(1, 3, 4)) << "neither those of the list val nor those of test";
    EXPECT_THAT(sets.said, HasSubstr("of 3 pictures validate"));
    EXPECT_THAT(sets.said, HasSubstr("what is not in its list train neither trains nor validates"));
  }
  EXPECT_THAT(held_out, testing::UnorderedElementsAre(1, 3, 4));
}

TEST(DetectionSets, AnImageWhoseNameTrainedDoesNotValidateWhenARunGoesOn) {
  DetectionScene scene("kept_names");
  for (int id = 1; id <= 3; ++id) scene.add_image(id, 8, 8);
  const std::vector<KeptSplit> kept = {
      {.train = {"image_1.png", "image_2.png"}, .val = {"image_2.png", "image_3.png"}}};  // two images of one name
  const DetectionSets sets = read_detection_sets({.data = scene.write("set.json"), .kept = kept});
  EXPECT_THAT(ids_of(sets.train), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(sets.val), ElementsAre(3));
}

TEST(DetectionSets, AFolderSplitsByItsFiles) {
  DetectionScene train("by_file");
  train.add_image(1, 8, 8);
  train.add_image(2, 8, 8);
  train.write("annotations/instances_train.json");
  train.set.images.clear();
  train.add_image(3, 8, 8);
  train.write("annotations/instances_val.json");
  const DetectionSets sets = read_detection_sets({.data = train.path("")});
  EXPECT_THAT(ids_of(sets.train), ElementsAre(1, 2));
  EXPECT_THAT(ids_of(sets.val), ElementsAre(3));
  const DetectionSets given = read_detection_sets(
      {.data = train.path("annotations/instances_val.json"), .val = train.path("annotations/instances_train.json")});
  EXPECT_THAT(ids_of(given.val), ElementsAre(1, 2));
}

TEST(DetectionSets, OtherClassesAreRefused) {
  DetectionScene scene("classes");
  scene.add_image(1, 8, 8);
  const auto train = scene.write("train.json");
  scene.set.classes[1].name = "wall";
  const auto val = scene.write("val.json");
  expect_error(ErrorKind::kConfig, "has the classes 3 cell, 8 wall; expected those of",
               [&] { read_detection_sets({.data = train, .val = val}); });
}

TEST(DetectionSets, WhatValidatesIsNumberedByTheNamesOfWhatTrains) {
  DetectionScene scene("classes_by_name");
  scene.add_image(1, 8, 8, {{.category = 1, .box = {1, 1, 4, 4}, .area = 16}});
  const auto train = scene.write("train.json");
  DetectionScene other("classes_by_name_val");
  other.set.classes = {{.name = "nucleus", .id = 1}};  // the only one that occurs there
  other.add_image(7, 8, 8, {{.category = 0, .box = {1, 1, 4, 4}, .area = 16}});
  const DetectionSets sets = read_detection_sets({.data = train, .val = other.write("val.json")});
  EXPECT_EQ(sets.val.images.at(0).boxes.at(0).category, 1);
  EXPECT_EQ(sets.val.classes, sets.train.classes);
}

TEST(DetectionDataset, ClassesOfOneNameAreNumberedByTheirIds) {
  const std::vector<DetectionClass> classes = {{"organ", 0}, {"organ", 1}, {"cell", 2}};
  DetectionDataset set{.source = "a.json", .classes = {{"organ", 1}, {"cell", 9}}};
  set.images.push_back({.boxes = {{.category = 0}, {.category = 1}}});
  EXPECT_FALSE(number_as(classes, set));
  EXPECT_EQ(set.images[0].boxes[0].category, 1);
  EXPECT_EQ(set.images[0].boxes[1].category, 2);
  set.classes = {{"wall", 1}};
  EXPECT_EQ(number_as(classes, set), "wall");
}

TEST(DetectionSets, AFileOfBothPartsIsNeither) {
  DetectionScene scene("trainval");
  for (int id = 1; id <= 4; ++id) scene.add_image(id, 8, 8);
  scene.write("annotations/instances_trainval.json");
  const DetectionSets sets = read_detection_sets({.data = scene.path(""), .val_fraction = 0.25});
  EXPECT_EQ(sets.train.images.size(), 3u);
  EXPECT_EQ(sets.val.images.size(), 1u);
}

TEST(DetectionSets, DataWithoutAClassAreRefusedByTheirName) {
  DetectionScene scene("no_class");
  scene.add_image(1, 8, 8);
  scene.set.classes.clear();
  expect_error(ErrorKind::kInput, "set.json: names no class",
               [&] { read_detection_sets({.data = scene.write("set.json")}); });
}

DetectionDataset numbered(std::vector<std::int64_t> ids) {
  DetectionDataset set;
  for (const auto id : ids) set.images.push_back({.id = id});
  return set;
}

TEST(DetectionSets, ASplitIsAPartitionThatDependsOnTheSeedAlone) {
  const DetectionDataset set = numbered({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const DetectionSets a = split_detection_dataset(set, 0.3, 1);
  EXPECT_EQ(a.val.images.size(), 3u);
  std::vector<std::int64_t> all = ids_of(a.train);
  for (const auto id : ids_of(a.val)) all.push_back(id);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, ids_of(set));
  const DetectionSets b = split_detection_dataset(numbered({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}), 0.3, 1);
  EXPECT_THAT(ids_of(b.val), testing::UnorderedElementsAreArray(ids_of(a.val)));
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 6; ++seed)
    differs |= ids_of(split_detection_dataset(set, 0.3, seed).val) != ids_of(a.val);
  EXPECT_TRUE(differs);
}

TEST(DetectionSets, ASplitLeavesImagesOnBothSides) {
  EXPECT_EQ(split_detection_dataset(numbered({1, 2}), 0.01, 0).val.images.size(), 1u);
  EXPECT_EQ(split_detection_dataset(numbered({1, 2}), 0.99, 0).val.images.size(), 1u);
  EXPECT_EQ(split_detection_dataset(numbered({1}), 0.4, 0).train.images.size(), 1u);
  EXPECT_EQ(split_detection_dataset(numbered({1, 2, 3}), 0, 0).val.images.size(), 0u);
  expect_error(ErrorKind::kConfig, "below 1", [] { split_detection_dataset(numbered({1}), 1, 0); });
}

TEST(DetectionDataset, TrueBoxesNameTheIndexOfTheirImage) {
  DetectionDataset set = numbered({4, 7});
  set.images[1].boxes = {{.category = 1, .box = {1, 2, 3, 4}, .area = 9, .crowd = true}};
  const auto boxes = true_boxes(set);
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].image, 1);
  EXPECT_EQ(boxes[0].category, 1);
  EXPECT_EQ(boxes[0].area, 9);
  EXPECT_TRUE(boxes[0].crowd);
}

}  // namespace
}  // namespace voxshard
