// Boxes of images cut out into a folder per class: which pixels, which names, and the loss by one bad entry.
#include "pipelines/records/classes_from_boxes.h"

#include "io/boxes/coco.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"
#include "tests/pipelines/records/record_scene.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;

constexpr int kHeight = 24, kWidth = 32;

/// Writes two images whose red is the column and whose green is the row.
void write_boxes(const Scene& scene, const std::vector<TrueBox>& boxes, const std::string& second_class = "book") {
  std::filesystem::create_directories(scene.data() / "images");
  DetectionDataset set{.source = scene.data(), .classes = {{"cat", 17}, {second_class, 84}}, .images = {}, .notes = {}};
  Tensor rgb(DType::kU8, {kHeight, kWidth, 3});
  for (int i = 0; i < kHeight * kWidth; ++i) {
    rgb.as<std::uint8_t>()[3 * i] = static_cast<std::uint8_t>(i % kWidth);
    rgb.as<std::uint8_t>()[3 * i + 1] = static_cast<std::uint8_t>(i / kWidth);
  }
  for (int i = 0; i < 2; ++i) {
    const std::string name = "p" + std::to_string(i) + ".png";
    write_rgb(scene.data() / "images" / name, rgb);
    set.images.push_back({.file = name, .id = 40 + i, .width = kWidth, .height = kHeight, .boxes = boxes});
  }
  write_coco(scene.data() / "annotations.json", set);
}

TaskReport cut(Scene& scene, int threads = 2) {
  return run_convert({.input = scene.data() / "annotations.json", .output = scene.path("classes"), .threads = threads},
                     ConvertTo::kClasses, scene.progress);
}

TEST(ClassesFromBoxes, EachBoxIsThePixelsThatItTouches) {
  Scene scene("classes_from_boxes");
  write_boxes(scene, {{.category = 0, .box = {8.5, 6, 3, 2.25}, .area = 7},
                      {.category = 1, .box = {20, 10, 12, 14}, .area = 168},
                      {.category = 1, .box = {0, 0, 32, 24}, .area = 768, .crowd = true}});
  const TaskReport report = cut(scene);
  EXPECT_EQ(report.json.at("converted"), 4) << "crowds are left out";
  EXPECT_FALSE(report.partial);
  EXPECT_THAT(names_in(scene.path("classes/cat")), ElementsAre("p0_00000000_000.png", "p1_00000001_000.png"));
  const Tensor cat = read_rgb(scene.path("classes/cat/p0_00000000_000.png"));
  ASSERT_EQ(cat.shape(), (Shape{3, 4, 3}));
  EXPECT_EQ(cat.as<std::uint8_t>()[0], 8);
  EXPECT_EQ(cat.as<std::uint8_t>()[1], 6);
  EXPECT_EQ(read_rgb(scene.path("classes/book/p1_00000001_001.png")).shape(), (Shape{14, 12, 3}));
}

TEST(ClassesFromBoxes, WhatIsCutOutIsADataSetOfClasses) {
  Scene scene("classes_from_boxes_read");
  write_boxes(scene,
              {{.category = 0, .box = {8, 6, 5, 4}, .area = 20}, {.category = 1, .box = {2, 3, 7, 6}, .area = 42}});
  cut(scene);
  const ClassDataset set = read_unseen_classes(scene.path("classes"), {});
  EXPECT_THAT(set.classes, ElementsAre("book", "cat"));
  EXPECT_THAT(set.counts(), ElementsAre(2, 2));
  EXPECT_TRUE(set.failures.empty());
}

TEST(ClassesFromBoxes, OfAPartThatTrainsTheWholeSetIsNext) {
  Scene scene("classes_from_boxes_next");
  write_boxes(scene,
              {{.category = 0, .box = {8, 6, 5, 4}, .area = 20}, {.category = 1, .box = {2, 3, 7, 6}, .area = 42}});
  for (const char* output : {"cells/train", "cells/val"}) {
    const TaskReport report = run_convert({.input = scene.data() / "annotations.json", .output = scene.path(output)},
                                          ConvertTo::kClasses, scene.progress);
    EXPECT_EQ(report.next.at(1), scene.path(output == std::string("cells/train") ? "cells" : output).string());
  }
}

TEST(ClassesFromBoxes, AnyNumberOfThreadsGivesTheSameFiles) {
  Scene scene("classes_from_boxes_again");
  write_boxes(scene,
              {{.category = 0, .box = {8, 6, 5, 4}, .area = 20}, {.category = 1, .box = {2, 3, 7, 6}, .area = 42}});
  cut(scene, 1);
  const std::string once = read_bytes(scene.path("classes/cat/p1_00000001_000.png"));
  EXPECT_EQ(cut(scene, 2).json.at("converted"), 4);
  EXPECT_EQ(read_bytes(scene.path("classes/cat/p1_00000001_000.png")), once);
}

TEST(ClassesFromBoxes, AClassWhoseNameLeadsElsewhereAndADamagedImageCostThemselves) {
  Scene scene("classes_from_boxes_bad");
  write_boxes(scene,
              {{.category = 0, .box = {8, 6, 5, 4}, .area = 20}, {.category = 1, .box = {2, 3, 7, 6}, .area = 42}},
              "../book");
  std::string damaged = read_bytes(scene.data() / "images/p1.png");
  damaged.resize(damaged.size() / 2);
  std::ofstream(scene.data() / "images/p1.png", std::ios::binary) << damaged;
  const TaskReport report = cut(scene);
  EXPECT_EQ(report.json.at("converted"), 1);
  EXPECT_TRUE(report.partial);
  EXPECT_THAT(names_in(scene.path("classes/cat")), ElementsAre("p0_00000000_000.png"));
  EXPECT_FALSE(std::filesystem::exists(scene.path("book")));
}

}  // namespace
}  // namespace voxshard
