// Generated images with boxes, and the COCO set that `demo --task detection` makes of them.
#include "pipelines/phantoms/detection_phantom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libcore/metrics/average_precision_match.h"
#include "pipelines/commands/run_demo.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"

namespace voxshard {
namespace {

TEST(DetectionPhantom, EqualOptionsGiveEqualImagesAndOthersOthers) {
  const auto a = make_detection_phantom({.seed = 1, .index = 4}), b = make_detection_phantom({.seed = 1, .index = 4});
  EXPECT_TRUE(compare(a.pixels.view(), b.pixels.view()).bit_equal);
  ASSERT_EQ(a.boxes.size(), b.boxes.size());
  for (std::size_t i = 0; i < a.boxes.size(); ++i) EXPECT_EQ(a.boxes[i].box, b.boxes[i].box);
  const auto c = make_detection_phantom({.seed = 2, .index = 4});
  EXPECT_FALSE(a.pixels.shape() == c.pixels.shape() && compare(a.pixels.view(), c.pixels.view()).bit_equal);
}

TEST(DetectionPhantom, ObjectsLieInsideHaveTheirSizeAndDoNotTouch) {
  for (int index = 0; index < 20; ++index) {
    const auto p = make_detection_phantom({.index = index});
    const std::int64_t height = p.pixels.shape()[0], width = p.pixels.shape()[1];
    for (const std::int64_t side : {height, width}) {
      EXPECT_GE(side, 160);
      EXPECT_LE(side, 256);
    }
    EXPECT_GE(p.boxes.size(), 1u);
    for (std::size_t i = 0; i < p.boxes.size(); ++i) {
      const CocoBox& b = p.boxes[i].box;
      EXPECT_EQ(clipped_to_image(p.boxes[i], width, height)->box, b);
      EXPECT_GE(std::max(b.width, b.height), 20);
      EXPECT_LE(std::max(b.width, b.height), 64);
      EXPECT_GT(p.boxes[i].area, 0.3 * b.area());
      EXPECT_LE(p.boxes[i].area, b.area());
      for (std::size_t j = 0; j < i; ++j) EXPECT_LT(coco_iou(b, p.boxes[j].box, false), 0.3);
    }
  }
}

double brightness_at_centre(const DetectionPhantom& p, const CocoBox& b) {
  const std::int64_t width = p.pixels.shape()[1];
  double sum = 0;
  std::int64_t count = 0;
  for (auto y = static_cast<std::int64_t>(b.y); y < static_cast<std::int64_t>(b.y + b.height); ++y)
    for (auto x = static_cast<std::int64_t>(b.x); x < static_cast<std::int64_t>(b.x + b.width); ++x, ++count)
      sum += p.pixels.as<std::uint8_t>()[3 * (y * width + x) + 1];
  return sum / static_cast<double>(count);
}

TEST(DetectionPhantom, BrightnessAloneTellsNoClassFromAnother) {
  const std::size_t classes = detection_phantom_classes().size();
  std::vector<std::vector<double>> brightness(classes);
  for (int index = 0; index < 60; ++index) {
    const auto p = make_detection_phantom({.index = index});
    for (const auto& b : p.boxes) brightness[b.category].push_back(brightness_at_centre(p, b.box));
  }
  for (auto& values : brightness) {
    ASSERT_GE(values.size(), 20u);
    std::sort(values.begin(), values.end());
  }
  // The middle halves of any two classes overlap.
  for (const auto& a : brightness)
    for (const auto& b : brightness) EXPECT_LT(a[a.size() / 4], b[3 * b.size() / 4]);
}

TEST(DetectionPhantom, MagnifiedImagesAreLargerWithLargerObjects) {
  const auto p = make_detection_phantom({.index = 1, .magnify = 2});
  EXPECT_GE(p.pixels.shape()[0], 320);
  for (const auto& b : p.boxes) EXPECT_GE(std::max(b.box.width, b.box.height), 40);
}

TEST(DemoDetection, ASetIsReadBackWholeAndTheSameForAnyNumberOfThreads) {
  DetectionScene scene("demo");
  const DemoOptions options{.folder = scene.path("a"), .task = "detection", .cases = 5, .test_cases = 3, .threads = 2};
  const DemoReport report = run_demo(options, scene.progress);
  EXPECT_EQ(report.cases, 5);
  const DetectionSets sets = read_detection_sets({.data = scene.path("a")});
  EXPECT_EQ(sets.train.images.size(), 5u);
  EXPECT_EQ(sets.val.images.size(), 3u);
  EXPECT_TRUE(sets.train.notes.empty());
  EXPECT_EQ(sets.val.classes.size(), detection_phantom_classes().size());
  DemoOptions again = options;
  again.folder = scene.path("b"), again.threads = 1;
  run_demo(again, scene.progress);
  for (const std::string file : {"annotations/instances_train.json", "train/phantom_002.png", "val/phantom_007.png"}) {
    EXPECT_FALSE(Scene::bytes_of(scene.path("a") / file).empty()) << file;
    EXPECT_EQ(Scene::bytes_of(scene.path("a") / file), Scene::bytes_of(scene.path("b") / file)) << file;
  }
}

}  // namespace
}  // namespace voxshard
