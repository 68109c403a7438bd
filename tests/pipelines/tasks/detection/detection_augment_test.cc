// Changes of training images: boxes follow the pixels, and the same key gives the same image.
#include <gtest/gtest.h>

#include <cmath>

#include "pipelines/tasks/augmentation/image_pieces.h"
#include "pipelines/tasks/detection/samples/augment_image.h"

namespace voxshard {
namespace {

/// Returns a dark image with a bright rectangle at its only box.
AugmentedImage scene(std::int64_t height, std::int64_t width, const CocoBox& box) {
  AugmentedImage image{Tensor(DType::kF32, {height, width, 3}), {{.category = 1, .box = box, .area = box.area()}}};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto px = static_cast<double>(x), py = static_cast<double>(y);
      const bool inside = px >= box.x && px < box.x + box.width && py >= box.y && py < box.y + box.height;
      float* pixel = image.pixels.as<float>() + 3 * (y * width + x);
      pixel[0] = inside ? 0.9f : 0.2f, pixel[1] = inside ? 0.7f : 0.2f, pixel[2] = inside ? 0.5f : 0.2f;
    }
  return image;
}

/// Returns the box of the pixels that are brighter than `level`.
CocoBox bright_box(const Tensor& pixels, float level) {
  const std::int64_t height = pixels.shape()[0], width = pixels.shape()[1];
  std::int64_t x0 = width, y0 = height, x1 = 0, y1 = 0;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      if (pixels.as<float>()[3 * (y * width + x)] > level)
        x0 = std::min(x0, x), y0 = std::min(y0, y), x1 = std::max(x1, x + 1), y1 = std::max(y1, y + 1);
  return {static_cast<double>(x0), static_cast<double>(y0), static_cast<double>(x1 - x0), static_cast<double>(y1 - y0)};
}

TEST(AugmentImage, BoxesFollowTheMirror) {
  for (const std::int64_t width : {30, 31}) {
    const auto image = scene(20, width, {3, 4, 10, 6});
    const auto once = augment_image(image, {.mirror = 1}, {});
    EXPECT_EQ(once.boxes[0].box, (CocoBox{static_cast<double>(width) - 13, 4, 10, 6}));
    EXPECT_EQ(bright_box(once.pixels, 0.5f), once.boxes[0].box);
    const auto twice = augment_image(once, {.mirror = 1}, {});
    EXPECT_TRUE(compare(twice.pixels.view(), image.pixels.view()).bit_equal);
    EXPECT_EQ(twice.boxes[0].box, image.boxes[0].box);
  }
}

TEST(AugmentImage, BoxesFollowTheMirrorFromTopToBottom) {
  for (const std::int64_t height : {20, 21}) {
    const auto image = scene(height, 30, {3, 4, 10, 6});
    const auto once = augment_image(image, {.mirror_vertical = 1}, {});
    EXPECT_EQ(once.boxes[0].box, (CocoBox{3, static_cast<double>(height) - 10, 10, 6}));
    EXPECT_EQ(bright_box(once.pixels, 0.5f), once.boxes[0].box);
    EXPECT_TRUE(compare(augment_image(once, {.mirror_vertical = 1}, {}).pixels.view(), image.pixels.view()).bit_equal);
  }
}

/// Returns a part of an image as a rotated sample shows it, (h, w, 3).
Tensor rotated_pixels(const Tensor& image, const ImagePart& part, double degrees) {
  const Shape shape{part.extent[0], part.extent[1], 3};
  const std::vector<ImagePiece> pieces = {
      moved_piece(image, Box::whole(shape), map_of_part(part, {.degrees = degrees}))};
  Tensor made(DType::kF32, {1, shape[0], shape[1], 3});
  place_pieces(pieces, 0, made.view());
  Tensor flat(DType::kF32, shape);
  std::copy_n(made.as<float>(), made.count(), flat.as<float>());
  return flat;
}

/// Returns the largest distance between the edges of two boxes.
double edge_distance(const CocoBox& a, const CocoBox& b) {
  return std::max({std::abs(a.x - b.x), std::abs(a.y - b.y), std::abs(a.x + a.width - b.x - b.width),
                   std::abs(a.y + a.height - b.y - b.height)});
}

TEST(AugmentImage, BoxesFollowTheRotation) {
  const CocoBox square{52, 40, 24, 24};
  const auto image = scene(120, 130, square);
  for (const ImagePart& part : {ImagePart{.extent = {120, 130}}, ImagePart{.begin = {10, 15}, .extent = {90, 101}}})
    for (double degrees = -180; degrees <= 180; degrees += 12) {
      const CocoBox expected = coco_box(rotated_box(pixel_box(square), part, degrees));
      const CocoBox seen = bright_box(rotated_pixels(image.pixels, part, degrees), 0.45f);
      EXPECT_LT(edge_distance(seen, expected), 1.25) << degrees << ": a pixel, and what is dark in a corner's tip";
      // a box that turns the other way is wrong
      if (std::abs(std::remainder(degrees, 180)) > 20) {
        const CocoBox other = coco_box(rotated_box(pixel_box(square), part, -degrees));
        EXPECT_GT(edge_distance(seen, other), 1.25) << degrees;
      }
    }
}

TEST(AugmentImage, WithoutRotationABoxKeepsItsPlace) {
  EXPECT_EQ(rotated_box({1, 2, 3, 4}, {.extent = {10, 20}}, 0), (PixelBox{1, 2, 3, 4}));
  EXPECT_EQ(augment_image(scene(9, 7, {1, 1, 3, 3}), {}, {.epoch = 3}).degrees, 0);
  EXPECT_NE(augment_image(scene(9, 7, {1, 1, 3, 3}), {.rotation_degrees = 5}, {.epoch = 3}).degrees, 0);
}

TEST(AugmentImage, BoxesFollowTheScale) {
  const auto image = scene(40, 60, {10, 8, 20, 16});
  const auto large = augment_image(image, {.mirror = 0, .scale = {2, 2}}, {});
  EXPECT_EQ(large.pixels.shape(), (Shape{80, 120, 3}));
  EXPECT_EQ(large.boxes[0].box, (CocoBox{20, 16, 40, 32}));
  EXPECT_EQ(large.boxes[0].area, 4 * 320);
  EXPECT_EQ(bright_box(large.pixels, 0.55f), large.boxes[0].box);
  const auto odd = augment_image(image, {.mirror = 0, .scale = {0.77, 0.77}}, {});  // 30.8 and 46.2 are rounded
  EXPECT_EQ(odd.pixels.shape(), (Shape{31, 46, 3}));
  EXPECT_DOUBLE_EQ(odd.boxes[0].box.y, 8 * 31.0 / 40);
  EXPECT_DOUBLE_EQ(odd.boxes[0].box.width, 20 * 46.0 / 60);
}

TEST(AugmentImage, TheDefaultKeepsTheSizeAndTheColours) {
  const auto image = scene(9, 7, {1, 1, 3, 3});
  const auto same = augment_image(image, {.mirror = 0}, {.seed = 5, .image = 6, .epoch = 7});
  EXPECT_TRUE(compare(same.pixels.view(), image.pixels.view()).bit_equal);
}

TEST(AugmentImage, TheKeyAloneDecides) {
  const ImageAugmentation all{
      .mirror = 0.5, .scale = {0.8, 1.25}, .brightness = 0.2, .contrast = 0.2, .saturation = 0.3};
  const auto image = scene(40, 60, {10, 8, 20, 16});
  const AugmentationKey key{.seed = 1, .image = 2, .epoch = 3};
  const auto a = augment_image(image, all, key), b = augment_image(image, all, key);
  EXPECT_TRUE(compare(a.pixels.view(), b.pixels.view()).bit_equal);
  for (const AugmentationKey& other :
       {AugmentationKey{2, 2, 3}, AugmentationKey{1, 3, 3}, AugmentationKey{1, 2, 4}, AugmentationKey{1, 3, 2}}) {
    const auto c = augment_image(image, all, other);
    EXPECT_FALSE(c.pixels.shape() == a.pixels.shape() && compare(c.pixels.view(), a.pixels.view()).bit_equal);
  }
}

TEST(AugmentImage, DrawsFillTheirRange) {
  const auto image = scene(100, 100, {10, 10, 20, 20});
  int mirrored = 0;
  std::int64_t smallest = 1000, largest = 0;
  for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
    const auto a = augment_image(image, {.mirror = 0.5, .scale = {0.5, 2}}, {.epoch = epoch});
    mirrored += a.boxes[0].box.x > 0.3 * static_cast<double>(a.pixels.shape()[1]);
    smallest = std::min(smallest, a.pixels.shape()[0]), largest = std::max(largest, a.pixels.shape()[0]);
  }
  EXPECT_GT(mirrored, 70);
  EXPECT_LT(mirrored, 130);
  EXPECT_LT(smallest, 55);
  EXPECT_GE(smallest, 50);
  EXPECT_GT(largest, 185);
  EXPECT_LE(largest, 200);
}

TEST(AugmentImage, ColoursStayInTheirRange) {
  const ImageAugmentation strong{.mirror = 0.5, .brightness = 0.9, .contrast = 0.9, .saturation = 0.9};
  bool changed = false;
  const auto image = scene(8, 8, {2, 2, 4, 4});
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto a = augment_image(image, strong, {.epoch = epoch});
    for (std::int64_t i = 0; i < a.pixels.count(); ++i) {
      EXPECT_GE(a.pixels.as<float>()[i], 0.0f);
      EXPECT_LE(a.pixels.as<float>()[i], 1.0f);
    }
    changed |= !compare(a.pixels.view(), image.pixels.view()).bit_equal;
  }
  EXPECT_TRUE(changed);
}

TEST(AugmentImage, SaturationKeepsGreyAsItIs) {
  AugmentedImage grey{Tensor(DType::kF32, {4, 4, 3}), {}};
  for (std::int64_t i = 0; i < 16; ++i)
    for (int c = 0; c < 3; ++c) grey.pixels.as<float>()[3 * i + c] = static_cast<float>(i) / 16;
  const auto a = augment_image(grey, {.saturation = 0.9}, {.epoch = 1});
  EXPECT_LT(compare(a.pixels.view(), grey.pixels.view()).max_abs, 1e-6);
}

}  // namespace
}  // namespace voxshard
