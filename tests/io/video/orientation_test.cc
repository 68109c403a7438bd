// The display matrix as one of eight ways to turn an image, on an image of 2 rows and 3 columns that can be turned by
// hand.
#include "io/video/orientation.h"

#include "tests/io/test_files.h"

namespace voxshard {
namespace {

constexpr std::int32_t k1 = 65536;

VideoOrientation from(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  return orientation_from_matrix({a, b, 0, c, d, 0, 0, 0, 1 << 30});
}

/// Returns the red channel of 1 2 3 / 4 5 6 after turning, row by row, "/" between rows.
std::string turned(const VideoOrientation& o) {
  Tensor stored(DType::kU8, {2, 3, 3}), upright;
  for (std::int64_t i = 0; i < 6; ++i) stored.as<std::uint8_t>()[3 * i] = static_cast<std::uint8_t>(i + 1);
  turn(stored, o, upright);
  std::string text;
  for (std::int64_t y = 0; y < upright.shape()[0]; ++y) {
    if (y) text += "/";
    for (std::int64_t x = 0; x < upright.shape()[1]; ++x)
      text += std::to_string(upright.as<std::uint8_t>()[3 * (y * upright.shape()[1] + x)]);
  }
  return text;
}

TEST(VideoOrientation, EachMatrixTurnsTheImageAsItMovesPoints) {
  struct Case {
    VideoOrientation orientation;
    const char* image;
    int degrees;
    bool mirrored;
  };
  const Case cases[] = {{from(k1, 0, 0, k1), "123/456", 0, false},     {from(0, k1, -k1, 0), "41/52/63", 90, false},
                        {from(-k1, 0, 0, -k1), "654/321", 180, false}, {from(0, -k1, k1, 0), "36/25/14", 270, false},
                        {from(-k1, 0, 0, k1), "321/654", 0, true},     {from(k1, 0, 0, -k1), "456/123", 180, true},
                        {from(0, k1, k1, 0), "14/25/36", 270, true},   {from(0, -k1, -k1, 0), "63/52/41", 90, true}};
  for (const auto& c : cases) {
    EXPECT_EQ(turned(c.orientation), c.image);
    EXPECT_EQ(c.orientation.clockwise_degrees(), c.degrees) << c.image;
    EXPECT_EQ(c.orientation.mirrored(), c.mirrored) << c.image;
    EXPECT_TRUE(c.orientation.exact) << c.image;
  }
}

TEST(VideoOrientation, AnEmptyMatrixTurnsNothing) { EXPECT_TRUE(from(0, 0, 0, 0).is_identity()); }

TEST(VideoOrientation, AnObliqueMatrixTakesTheNearestTurnAndSaysSo) {
  // 100 degrees clockwise: cosine -0.1736, sine 0.9848
  const VideoOrientation o = from(-11380, 64540, -64540, -11380);
  EXPECT_EQ(o.clockwise_degrees(), 90);
  EXPECT_FALSE(o.mirrored());
  EXPECT_FALSE(o.exact);
}

}  // namespace
}  // namespace voxshard
