// The image of confusion and calibration.
#include "io/image/class_plots.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/io/image/pixel.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using test::Pixel, test::pixel;

ClassPlots plots(std::vector<std::int64_t> confusion) {
  return {.classes = {"red", "white"},
          .confusion = std::move(confusion),
          .bars = {{0, 0.5, 0.25, 0.4, 0.5}, {0.5, 1, 0.75, 0.9, 0.7}, {0.9, 1, 0, NAN, NAN}},
          .title = "accuracy",
          .note = "calibration"};
}

TEST(ClassPlots, ACellIsShadedByItsShareOfTheRow) {
  const Tensor image = class_plots(plots({30, 10, 0, 20}));
  // The matrix begins at (130, 64) with cells of 240 pixels; a corner of a cell holds no number.
  EXPECT_EQ(pixel(image, 64 + 20, 130 + 20), (Pixel{86, 139, 188})) << "three quarters";
  EXPECT_EQ(pixel(image, 64 + 260, 130 + 20), (Pixel{255, 255, 255})) << "nothing";
  EXPECT_EQ(pixel(image, 64 + 260, 130 + 260), (Pixel{30, 100, 165})) << "all";
}

TEST(ClassPlots, ColoursTellWhatIsTooSureFromWhatIsTooCautious) {
  const auto gap_of = [](double confidence, double accuracy) {
    ClassPlots p = plots({1, 0, 0, 1});
    p.bars = {{.low = 0.5, .high = 1, .share = 0, .confidence = confidence, .accuracy = accuracy}};
    const Tensor image = class_plots(p);
    // The diagram begins at (706, 64) with 480 pixels a side: three quarters to the right, at 0.7.
    return pixel(image, 64 + 480 - 336, 706 + 360);
  };
  EXPECT_EQ(gap_of(0.9, 0.6), (Pixel{225, 120, 110})) << "confidence beyond accuracy";
  EXPECT_EQ(gap_of(0.6, 0.9), (Pixel{240, 200, 80})) << "accuracy beyond confidence";
}

TEST(ClassPlots, TheSameNumbersGiveTheSamePixels) {
  EXPECT_TRUE(compare(class_plots(plots({1, 2, 3, 4})).view(), class_plots(plots({1, 2, 3, 4})).view()).bit_equal);
  EXPECT_FALSE(compare(class_plots(plots({1, 2, 3, 4})).view(), class_plots(plots({1, 2, 4, 3})).view()).bit_equal);
}

TEST(ClassPlots, ManyClassesStillMakeAImage) {
  ClassPlots many;
  for (int i = 0; i < 1000; ++i) many.classes.push_back("class \xc3\xa9 " + std::to_string(i));
  many.confusion.assign(1000 * 1000, 1);
  EXPECT_LT(class_plots(many).shape()[1], 3000);
  many.confusion.pop_back();
  EXPECT_THROW(class_plots(many), Error);
}

}  // namespace
}  // namespace voxshard
