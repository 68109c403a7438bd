#include "io/image/time_band.h"

#include <gtest/gtest.h>

#include "io/image/draw_caption.h"
#include "io/image/overlay.h"
#include "tests/io/image/pixel.h"

namespace voxshard {
namespace {

using test::Pixel, test::pixel;

TEST(TimeBand, PartsHaveTheirColourAndTheRestIsGrey) {
  const TimeBand band(96, 200, {{.begin = 0, .end = 0.25, .colour = 1}, {.begin = 0.5, .end = 1, .colour = 2}});
  EXPECT_EQ(band.top(), 92);
  Tensor rgb(DType::kU8, {96, 200, 3});
  band.draw(rgb, 0.75);
  EXPECT_EQ(pixel(rgb, 92, 0), class_colour(1));
  EXPECT_EQ(pixel(rgb, 95, 49), class_colour(1));
  EXPECT_EQ(pixel(rgb, 95, 60), (Pixel{96, 96, 96}));
  EXPECT_EQ(pixel(rgb, 95, 100), class_colour(2));
  EXPECT_EQ(pixel(rgb, 95, 150), (Pixel{255, 255, 255})) << "the moment";
  EXPECT_EQ(pixel(rgb, 95, 152), (Pixel{0, 0, 0})) << "between the mark and any colour";
  EXPECT_EQ(pixel(rgb, 95, 199), class_colour(2));
  EXPECT_EQ(pixel(rgb, 91, 100), (Pixel{0, 0, 0})) << "above it nothing is drawn";
}

TEST(TimeBand, APartOfNoWidthIsSeenAndEdgesStayInside) {
  const TimeBand band(3, 10,
                      {{.begin = 0, .end = 1, .colour = 1},
                       {.begin = 0.42, .end = 0.421, .colour = 2},
                       {.begin = 1, .end = 1, .colour = 3}});
  Tensor rgb(DType::kU8, {3, 10, 3});
  band.draw(rgb, 0);
  EXPECT_EQ(band.top(), 0) << "a picture lower than the band";
  EXPECT_EQ(pixel(rgb, 1, 4), class_colour(2));
  EXPECT_EQ(pixel(rgb, 1, 5), class_colour(1));
  EXPECT_EQ(pixel(rgb, 1, 9), class_colour(3));
  band.draw(rgb, 7);
  EXPECT_EQ(pixel(rgb, 0, 9), (Pixel{255, 255, 255}));
  Tensor other(DType::kU8, {4, 10, 3});
  EXPECT_ANY_THROW(band.draw(other, 0));
}

TEST(TimeBand, ACaptionStandsAboveTheBand) {
  Tensor rgb(DType::kU8, {120, 160, 3});
  const TimeBand band(120, 160, {});
  draw_caption(rgb, {.x = 0, .y = band.top(), .colour = 1, .text = "left 0.93"});
  EXPECT_EQ(pixel(rgb, band.top() - 1, 0), class_colour(1));
  EXPECT_EQ(pixel(rgb, band.top(), 0), (Pixel{0, 0, 0}));
}

}  // namespace
}  // namespace voxshard
