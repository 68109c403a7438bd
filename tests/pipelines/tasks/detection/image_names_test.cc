// Images whose names lead out of their folder: each is left out alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/dataset/find_input_images.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Writes the first image of `scene` as a Pascal VOC data set to `folder`, "" or "name/".
void write_voc(const DetectionScene& scene, const std::string& folder) {
  std::filesystem::create_directories(scene.path(folder + "JPEGImages"));
  std::filesystem::copy_file(scene.path("image_1.png"), scene.path(folder + "JPEGImages/image_1.png"));
  scene.write_text(folder + "Annotations/a.xml", "<annotation><filename>image_1.png</filename></annotation>");
}

TEST(DetectionDataset, AImageOutsideOfTheFolderCostsItself) {
  DetectionScene scene("names");
  for (int id = 1; id <= 4; ++id) scene.add_image(id, 16, 16);
  std::filesystem::create_directories(scene.path("set/train"));
  std::filesystem::copy_file(scene.path("image_1.png"), scene.path("set/image_1.png"));
  std::filesystem::copy_file(scene.path("image_2.png"), scene.path("set/train/image_2.png"));
  scene.set.images[1].file = "./train/image_2.png";
  scene.set.images[2].file = "../image_3.png";
  scene.set.images[3].file = scene.path("image_4.png");
  const DetectionDataset set = read_detection_dataset(scene.write("set/set.json"));
  EXPECT_THAT(ids_of(set), ElementsAre(1, 2));
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_NAME", "E_NAME"));
  EXPECT_THAT(set.notes[0].message, HasSubstr("../image_3.png"));
}

TEST(DetectionDataset, AImageOfVocIsAName) {
  DetectionScene scene("voc_names");
  scene.add_image(1, 16, 16);
  write_voc(scene, "");
  scene.write_text("Annotations/b.xml", "<annotation><filename>..</filename></annotation>");
  const DetectionDataset set = read_detection_dataset(scene.path(""));
  EXPECT_EQ(set.images.size(), 1u);
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_NAME"));
}

TEST(DetectionDataset, TheFramesOfAMotSequenceLieBelowIt) {
  DetectionScene scene("mot_names");
  scene.write_text("set/gt/gt.txt", "1,1,2,3,4,5,1,1,1\n");
  scene.write_text("set/seqinfo.ini", "[Sequence]\nimDir=../..\n");
  try {
    read_detection_dataset(scene.path("set"));
    ADD_FAILURE() << "looked for pictures elsewhere";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_NAME");
  }
}

TEST(DetectionDataset, OneImageUnderSeveralNamesCountsOnce) {
  DetectionScene scene("twice");
  for (int id = 1; id <= 6; ++id) scene.add_image(id, 16, 16);
  std::filesystem::create_directories(scene.path("images"));
  std::filesystem::rename(scene.path("image_1.png"), scene.path("images/image_1.png"));
  std::filesystem::create_symlink(scene.path("images/image_1.png"), scene.path("images/other.png"));
  scene.set.images[1].file = "./image_1.png";
  scene.set.images[2].file = "images/image_1.png";
  scene.set.images[3].file = "other.png";
  scene.set.images[5].file = "image_5.png";
  const DetectionDataset set = read_detection_dataset(scene.write("set.json"));
  EXPECT_THAT(ids_of(set), ElementsAre(1, 5));
  EXPECT_THAT(codes_of(set.notes), ElementsAre("E_DUPLICATE", "E_DUPLICATE", "E_DUPLICATE", "E_DUPLICATE"));
  EXPECT_EQ(read_detection_dataset(scene.path("set.json"), DetectionUse::kScoring).images.size(), 6u);
}

TEST(DetectionDataset, WhatValidatesDoesNotTrain) {
  DetectionScene scene("leak");
  for (int id = 1; id <= 4; ++id) scene.add_image(id, 16, 16);
  const auto all = scene.write("all.json");
  scene.set.images = {scene.set.images[2]};
  scene.set.images[0].id = 77, scene.set.images[0].file = "./image_3.png";
  const auto val = scene.write("val.json");
  const DetectionSets sets = read_detection_sets({.data = all, .val = val});
  EXPECT_THAT(ids_of(sets.train), ElementsAre(1, 2, 4));
  EXPECT_THAT(ids_of(sets.val), ElementsAre(77));
  EXPECT_THAT(codes_of(sets.train.notes), ElementsAre("E_DUPLICATE"));
  EXPECT_THAT(sets.train.notes[0].message, HasSubstr("also validates"));
  try {
    read_detection_sets({.data = val, .val = all});
    ADD_FAILURE() << "trained on nothing";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("none is left to train"));
  }
}

TEST(FindImages, AFolderThatTrainsIsPredicted) {
  DetectionScene scene("find");
  for (int id = 1; id <= 2; ++id) scene.add_image(id, 16, 16);
  write_voc(scene, "voc/");
  const auto names = [&](const std::filesystem::path& input) {
    std::vector<std::string> found;
    for (const FoundImage& image : find_input_images(input, std::nullopt, kMostPixels).list)
      found.push_back(image.file.filename().string());
    return found;
  };
  EXPECT_TRUE(is_data_set(scene.path("voc")));
  EXPECT_THAT(names(scene.path("voc")), ElementsAre("image_1.png"));
  std::filesystem::create_directories(scene.path("coco/images"));
  for (const char* name : {"image_1.png", "image_2.png"})
    std::filesystem::rename(scene.path(name), scene.path("coco/images") / name);
  scene.write("coco/annotations/instances_train.json");
  scene.set.images.erase(scene.set.images.begin());
  scene.write("coco/annotations/instances_val.json");
  EXPECT_THAT(names(scene.path("coco")), ElementsAre("image_2.png")) << "what was not trained on";
  EXPECT_FALSE(is_data_set(scene.path("coco/images")));
  EXPECT_THAT(names(scene.path("coco/images")), ElementsAre("image_1.png", "image_2.png"));
}

}  // namespace
}  // namespace voxshard
