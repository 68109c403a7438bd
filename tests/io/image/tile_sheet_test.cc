#include "io/image/tile_sheet.h"

#include "io/image/overlay.h"
#include "tests/io/image/pixel.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using test::Pixel, test::pixel;

constexpr Pixel kGround = {90, 90, 90};

Tensor grey(std::int64_t rows, std::int64_t columns) {
  Tensor rgb(DType::kU8, {rows, columns, 3});
  std::fill_n(rgb.as<std::uint8_t>(), rgb.count(), kGround[0]);
  return rgb;
}

Box box(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) { return {{r0, c0}, {r1 - r0, c1 - c0}}; }

/// Returns two tiles of a 40 x 30 image of 20 rows each: the upper holds 2 rows of the lower, the lower 3 of the upper
/// and 1 row beyond the image.
TileView two_tiles() {
  return {.caption = "two",
          .extent = {40, 30},
          .rgb = grey(40, 30),
          .tiles = {{"0", 1, box(0, 20, 0, 30), box(0, 22, 0, 30)}, {"1", 2, box(20, 40, 0, 30), box(17, 41, 0, 30)}}};
}

std::int64_t of_colour(const Tensor& rgb, int colour, int y0, int y1, int x0, int x1) {
  std::int64_t count = 0;
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) count += pixel(rgb, y, x) == class_colour(colour);
  return count;
}

TEST(TileSheet, EachTileIsOutlinedWhereItsBoxSays) {
  const DrawnSheet sheet = draw_tiles({.title = "t", .views = {two_tiles()}});
  const PlacedView& at = sheet.views[0];
  EXPECT_EQ(at.row_px, 32) << "1280 over 40 rows";
  const int left = at.x(0), right = at.x(30), middle = at.x(1) - 5;
  for (const auto& [y, colour] : {std::pair{at.y(0), 1}, {at.y(20) - 1, 1}, {at.y(20), 2}, {at.y(40) - 1, 2}})
    for (const int x : {left, middle, right - 1})
      EXPECT_EQ(pixel(sheet.rgb, y, x), class_colour(colour)) << y << " " << x;
  for (const int y : {at.y(10), at.y(30)})
    for (const int x : {left, right - 1})
      EXPECT_EQ(pixel(sheet.rgb, y, x), class_colour(y < at.y(20) ? 1 : 2)) << y << " " << x;
  EXPECT_EQ(pixel(sheet.rgb, at.y(5), at.x(5)), kGround) << "the inside stays as it is";
}

TEST(TileSheet, AHaloIsStripedInTheColourOfItsCoreAndNoWider) {
  const DrawnSheet sheet = draw_tiles({.title = "t", .views = {two_tiles()}});
  const PlacedView& at = sheet.views[0];
  const int x0 = at.x(4), x1 = at.x(5);
  EXPECT_GT(of_colour(sheet.rgb, 1, at.y(21), at.y(22), x0, x1), 32 * 32 / 3) << "rows 20 and 21 are held by tile 0";
  EXPECT_EQ(of_colour(sheet.rgb, 1, at.y(22), at.y(40), x0, x1), 0);
  EXPECT_GT(of_colour(sheet.rgb, 2, at.y(17), at.y(18), x0, x1), 32 * 32 / 3);
  EXPECT_EQ(of_colour(sheet.rgb, 2, at.y(0), at.y(17), x0, x1), 0);
  const Pixel outside = pixel(sheet.rgb, at.y(40) + 8, at.x(15));
  EXPECT_NE(outside, kGround) << "what is held beyond the view is drawn around it";
  EXPECT_EQ(of_colour(sheet.rgb, 2, at.y(40), at.y(40) + 32, x0, x1), 0) << "and darker";
}

TEST(TileSheet, AViewDrawnUpwardsHasItsFirstRowBelow) {
  TileView view = two_tiles();
  view.upwards = true;
  std::fill_n(view.rgb.as<std::uint8_t>(), 30 * 3, std::uint8_t{200});  // row 0
  const DrawnSheet sheet = draw_tiles({.title = "t", .views = {view}});
  const PlacedView& at = sheet.views[0];
  EXPECT_GT(at.y(0), at.y(40));
  EXPECT_EQ(pixel(sheet.rgb, at.y(0) - 16, at.x(15)), (Pixel{200, 200, 200}));
  EXPECT_EQ(pixel(sheet.rgb, at.y(0) - 1, at.x(15)), class_colour(1));
  EXPECT_EQ(pixel(sheet.rgb, at.y(20), at.x(1) - 5), class_colour(1)) << "the last row of tile 0";
  EXPECT_EQ(pixel(sheet.rgb, at.y(20) - 1, at.x(1) - 5), class_colour(2));
}

TEST(TileSheet, ALargeViewShrinksAndItsHalosStayVisible) {
  TileView view{.caption = "large",
                .extent = {2560, 2560},
                .rgb = grey(512, 512),
                .tiles = {{"0", 1, box(0, 1280, 0, 2560), box(0, 1281, 0, 2560)},
                          {"1", 2, box(1280, 2560, 0, 2560), box(1280, 2560, 0, 2560)}}};
  const DrawnSheet sheet = draw_tiles({.title = "t", .views = {view}});
  const PlacedView& at = sheet.views[0];
  EXPECT_EQ(at.row_px, 0.5);
  EXPECT_LT(sheet.rgb.shape()[1], 1400);
  EXPECT_GT(of_colour(sheet.rgb, 1, at.y(1280), at.y(1280) + 6, at.x(200), at.x(400)), 0)
      << "half a pixel is drawn as six";
  EXPECT_EQ(of_colour(sheet.rgb, 1, at.y(1280) + 6, at.y(1280) + 20, at.x(200), at.x(400)), 0);
}

TEST(TileSheet, OddShapesAreDrawnWithTheirSizes) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 700}, {513, 3}, {7, 5}, {3001, 2}}) {
    const TileView view{.caption = "odd",
                        .extent = {rows, columns},
                        .rgb = grey(std::min<std::int64_t>(rows, 64), std::min<std::int64_t>(columns, 64)),
                        .tiles = {{"0", 1, box(0, rows, 0, columns), box(-1, rows + 1, -1, columns + 1)}}};
    for (const std::size_t count : {1u, 3u}) {
      const TileSheet asked{.title = "t", .views = std::vector(count, view)};
      const DrawnSheet sheet = draw_tiles(asked);
      ASSERT_EQ(sheet.views.size(), count);
      for (const PlacedView& at : sheet.views) {
        EXPECT_GE(at.y(rows) - at.y(0), 40)
            << rows << " x " << columns << ": thin axes are stretched until they can be seen";
        EXPECT_GE(at.x(columns) - at.x(0), 40);
        EXPECT_EQ(pixel(sheet.rgb, at.y(0), at.x(0)), class_colour(1));
        EXPECT_EQ(pixel(sheet.rgb, at.y(rows) - 1, at.x(columns) - 1), class_colour(1));
        EXPECT_LT(at.x(columns), sheet.rgb.shape()[1]);
      }
      EXPECT_EQ(
          std::memcmp(sheet.rgb.data(), draw_tiles(asked).rgb.data(), static_cast<std::size_t>(sheet.rgb.bytes())), 0);
    }
  }
}

TEST(TileSheet, AnEndlessTextMakesNoEndlessSheet) {
  const std::string text(200'000, 'W');
  const Tensor rgb = draw_tiles({.title = text, .views = {two_tiles()}, .lines = {text}, .key = {{1, text}}}).rgb;
  EXPECT_LT(rgb.shape()[1], 6000);
}

TEST(TileSheet, NoTextIsCutOffAtTheEdge) {
  const std::string text(150, 'W');
  for (const TileSheet& sheet :
       {TileSheet{.title = text, .views = {two_tiles()}},
        TileSheet{.title = "t", .views = {two_tiles()}, .lines = {text}},
        TileSheet{.title = "t", .views = {two_tiles()}, .lines = {}, .key = {{1, text}, {2, text + "\x1b\xff"}}}}) {
    const Tensor rgb = draw_tiles(sheet).rgb;
    const Pixel paper = pixel(rgb, 0, 0);
    for (std::int64_t y = 0; y < rgb.shape()[0]; ++y)
      ASSERT_EQ(pixel(rgb, y, rgb.shape()[1] - 2), paper) << "row " << y;
    for (std::int64_t x = 0; x < rgb.shape()[1]; ++x)
      ASSERT_EQ(pixel(rgb, rgb.shape()[0] - 2, x), paper) << "column " << x;
  }
}

}  // namespace
}  // namespace voxshard
