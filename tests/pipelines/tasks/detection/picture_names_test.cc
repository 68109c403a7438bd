// Pictures whose names lead out of their folder: each costs itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/tasks/detection/detection_dataset.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DetectionDataset, APictureOutsideOfTheFolderCostsItself) {
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

TEST(DetectionDataset, APictureOfVocIsAName) {
  DetectionScene scene("voc_names");
  scene.add_image(1, 16, 16);
  std::filesystem::create_directories(scene.path("JPEGImages"));
  std::filesystem::copy_file(scene.path("image_1.png"), scene.path("JPEGImages/image_1.png"));
  scene.write_text("Annotations/a.xml", "<annotation><filename>image_1.png</filename></annotation>");
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

}  // namespace
}  // namespace voxshard
