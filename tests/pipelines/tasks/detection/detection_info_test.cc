// `info` on images and on data sets of images with boxes.
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
  const auto json = to_json(report);
  ASSERT_EQ(json.at("detection_sets").size(), 1u);
  const auto& info = json["detection_sets"][0];
  EXPECT_EQ(info.at("images"), 2);
  EXPECT_EQ(info.at("boxes"), 2);
  EXPECT_EQ(info.at("crowds"), 1);
  EXPECT_EQ(info.at("mended"), 1);
  EXPECT_THAT(to_text(report), testing::HasSubstr("W_CLIPPED image_1.png box 1 reaches beyond the picture"));
  EXPECT_EQ(info.at("classes").at(0).at("boxes"), 0);
  EXPECT_EQ(info.at("classes").at(1).at("boxes"), 2);
  EXPECT_EQ(info.at("width"), (nlohmann::ordered_json{{"min", 16}, {"max", 20}}));
  EXPECT_EQ(info.at("height"), (nlohmann::ordered_json{{"min", 8}, {"max", 12}}));
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "image_1.png box 2");
  ASSERT_EQ(json.at("pictures").size(), 1u);
  EXPECT_EQ(json["pictures"][0].at("width"), 20);
  EXPECT_EQ(json["pictures"][0].at("format"), "PNG");
}

TEST(DetectionInfo, AFolderIsDescribedByEachOfItsAnnotationFiles) {
  DetectionScene scene("info_folder");
  scene.add_image(1, 16, 12);
  scene.write("annotations/instances_train.json");
  scene.write("annotations/instances_val.json");
  const InfoReport report = run_info({scene.path("")});
  EXPECT_EQ(to_json(report).at("detection_sets").size(), 2u);
  EXPECT_TRUE(report.folders.json.empty());
}

}  // namespace
}  // namespace voxshard
