#include "io/image/draw_boxes.h"

#include <limits>

#include "io/image/draw_caption.h"
#include "io/image/overlay.h"
#include "tests/io/image/pixel.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using test::Pixel, test::pixel;

constexpr Pixel kBlack = {0, 0, 0};

std::int64_t coloured(const Tensor& rgb) {
  std::int64_t count = 0;
  for (std::int64_t y = 0; y < rgb.shape()[0]; ++y)
    for (std::int64_t x = 0; x < rgb.shape()[1]; ++x) count += pixel(rgb, y, x) != kBlack;
  return count;
}

Tensor black(std::int64_t height, std::int64_t width) { return Tensor(DType::kU8, {height, width, 3}); }

void draw(Tensor& rgb, const DrawnBox& box) { draw_boxes(rgb, std::array{box}); }

TEST(DrawBoxes, TheOutermostPixelsHaveTheColourAndTheInsideStays) {
  Tensor rgb = black(40, 60);
  draw(rgb, {.box = {.x = 10.4, .y = 5, .width = 20, .height = 8}, .colour = 3});
  EXPECT_EQ(coloured(rgb), 2 * 20 + 2 * 8 - 4);
  for (const auto& [y, x] : {std::pair{5, 10}, {5, 29}, {12, 10}, {12, 29}})
    EXPECT_EQ(pixel(rgb, y, x), class_colour(3));
  EXPECT_EQ(pixel(rgb, 6, 11), kBlack);
  EXPECT_EQ(pixel(rgb, 5, 30), kBlack);
}

TEST(DrawBoxes, LaterBoxesLieOnTop) {
  Tensor rgb = black(40, 60);
  const CocoBox box{.x = 4, .y = 4, .width = 9, .height = 9};
  draw_boxes(rgb, std::array{DrawnBox{.box = box, .colour = 1}, DrawnBox{.box = box, .colour = 2}});
  EXPECT_EQ(pixel(rgb, 4, 4), class_colour(2));
}

TEST(DrawBoxes, ABoxThatReachesBeyondTheImageIsCut) {
  Tensor rgb = black(40, 60);
  draw(rgb, {.box = {.x = -1e9, .y = 10, .width = 2e9, .height = 5}, .colour = 1});
  EXPECT_EQ(coloured(rgb), 2 * 60);  // its upper and lower line
}

TEST(DrawBoxes, WhatCannotBeSeenIsNotDrawn) {
  Tensor rgb = black(40, 60);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const CocoBox& box : {CocoBox{60, 0, 5, 5}, CocoBox{0, 40, 5, 5}, CocoBox{-5, 0, 5, 5}, CocoBox{0, 0, 0, 5},
                             CocoBox{nan, 0, 5, 5}, CocoBox{0, 0, inf, 5}})
    draw(rgb, {.box = box, .caption = "hidden"});
  EXPECT_EQ(coloured(rgb), 0);
}

TEST(DrawBoxes, TheCaptionStandsAboveOrWhereThereIsNoRoomInside) {
  Tensor above = black(100, 200), inside = black(100, 200);
  draw(above, {.box = {.x = 20, .y = 50, .width = 80, .height = 40}, .colour = 1, .caption = "cell"});
  draw(inside, {.box = {.x = 20, .y = 0, .width = 80, .height = 40}, .colour = 1, .caption = "cell"});
  EXPECT_NE(pixel(above, 48, 22), kBlack);
  EXPECT_EQ(pixel(above, 55, 22), kBlack);
  EXPECT_NE(pixel(inside, 3, 22), kBlack);
}

/// Counts the pixels of a colour that lie in rows of a box's captions, far from its lines.
std::int64_t count_of(const Tensor& rgb, const Pixel& colour) {
  std::int64_t count = 0;
  for (std::int64_t y = 0; y < rgb.shape()[0]; ++y)
    for (std::int64_t x = 0; x < rgb.shape()[1]; ++x) count += pixel(rgb, y, x) == colour;
  return count;
}

TEST(DrawBoxes, CaptionsDoNotCoverEachOther) {
  const Dims shape = {200, 200, 3};
  const auto one = [](int i) {
    return DrawnBox{
        .box = {.x = 20.0 + i, .y = 60.0 + i, .width = 80, .height = 40}, .colour = i + 1, .caption = "cell 0.9"};
  };
  Tensor all = black(200, 200);
  std::vector<DrawnBox> boxes;
  for (int i = 0; i < 4; ++i) boxes.push_back(one(i));
  draw_boxes(all, boxes);
  const CaptionPlace last = caption_place(shape, {.x = 23, .y = 63, .text = "cell 0.9"});
  for (int i = 0; i < 4; ++i) {
    Tensor alone = black(200, 200);
    draw(alone, one(i));
    const std::int64_t paper = count_of(alone, class_colour(i + 1)) - 2 * 80 - 2 * 40 + 4;
    EXPECT_GE(count_of(all, class_colour(i + 1)), paper) << "the whole caption of box " << i << " is seen";
  }
  EXPECT_EQ(pixel(all, last.top, last.left), class_colour(4)) << "the box on top has its caption where it belongs";

  Tensor low = black(14, 200);  // room for one caption alone
  std::vector<DrawnBox> crowded;
  for (int i = 0; i < 3; ++i)
    crowded.push_back({.box = {.x = 20, .y = 2, .width = 80, .height = 6}, .colour = i + 1, .caption = "cell"});
  draw_boxes(low, crowded);
  Tensor top = black(14, 200);
  draw(top, crowded.back());
  EXPECT_EQ(count_of(low, class_colour(3)), count_of(top, class_colour(3)));
}

TEST(DrawBoxes, ACaptionInAnyEncodingIsDrawn) {
  Tensor rgb = black(100, 200), marks = black(100, 200);
  const CocoBox box{.x = 20, .y = 50, .width = 80, .height = 40};
  draw(rgb, {.box = box, .caption = "\xC3\xA9\n"});
  draw(marks, {.box = box, .caption = "???"});
  EXPECT_TRUE(compare(rgb.view(), marks.view()).bit_equal);
}

TEST(DrawBoxes, LinesGrowWithTheImage) {
  Tensor rgb = black(100, 2000);
  draw(rgb, {.box = {.x = 100, .y = 30, .width = 500, .height = 40}});
  EXPECT_NE(pixel(rgb, 32, 300), kBlack);  // four pixels around the edge
  EXPECT_EQ(pixel(rgb, 50, 300), kBlack);
}

}  // namespace
}  // namespace voxshard
