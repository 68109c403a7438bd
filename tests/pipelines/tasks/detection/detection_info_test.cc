// `info` on pictures and on data sets of pictures with boxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipelines/commands/run_info.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"

namespace voxshard {
namespace {

TEST(DetectionInfo, CountsBoxesByClassAndNamesWhatIsLeftOut) {
  DetectionScene scene("info");
  const CocoBox inside = {1, 1, 4, 4}, outside = {50, 50, 4, 4}, across = {6, 6, 100, 100};
  scene.add_image(1, 16, 12,
                  {{.category = 1, .box = inside, .area = 16},
                   {.category = 1, .box = across, .area = 1e4, .crowd = true},
                   {.category = 0, .box = outside, .area = 16}});
  scene.add_image(2, 20, 8);
  const InfoReport report = run_info({scene.write("annotations.json"), scene.path("image_2.png")});
  ASSERT_EQ(report.detection_sets.size(), 1u);
  const DetectionSetInfo& info = report.detection_sets[0];
  EXPECT_EQ(info.images, 2);
  EXPECT_EQ(info.boxes, 2);
  EXPECT_EQ(info.crowds, 1);
  EXPECT_EQ(info.mended, 1);
  EXPECT_EQ(info.classes[0].boxes, 0);
  EXPECT_EQ(info.classes[1].boxes, 2);
  EXPECT_THAT(info.smallest, testing::ElementsAre(16, 8));
  EXPECT_THAT(info.largest, testing::ElementsAre(20, 12));
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "image_1.png box 2");
  ASSERT_EQ(report.pictures.size(), 1u);
  EXPECT_EQ(report.pictures[0].header.width, 20);
  const auto json = to_json(report);
  EXPECT_EQ(json["detection_sets"][0]["classes"][1]["boxes"], 2);
  EXPECT_EQ(json["pictures"][0]["format"], "PNG");
}

TEST(DetectionInfo, AFolderIsDescribedByEachOfItsAnnotationFiles) {
  DetectionScene scene("info_folder");
  scene.add_image(1, 16, 12);
  scene.write("annotations/instances_train.json");
  scene.write("annotations/instances_val.json");
  const InfoReport report = run_info({scene.path("")});
  EXPECT_EQ(report.detection_sets.size(), 2u);
  EXPECT_TRUE(report.folders.empty());
}

}  // namespace
}  // namespace voxshard
