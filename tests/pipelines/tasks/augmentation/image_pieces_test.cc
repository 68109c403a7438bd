// Samples of pieces of images: interpolated as the slow version does, the same however they are cut, zeros where no
// piece lies, and no more memory than is promised.
#include "pipelines/tasks/augmentation/image_pieces.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/rng.h"
#include "pipelines/tasks/augmentation/image_augmentation.h"

namespace voxshard {
namespace {

Tensor noise_image(std::int64_t height, std::int64_t width, std::int64_t channels = 3) {
  Tensor image(DType::kF32, {height, width, channels});
  for (std::int64_t i = 0; i < image.count(); ++i)
    image.as<float>()[i] =
        static_cast<float>(rng_uniform({3, rng_stream("noise_image")}, static_cast<std::uint64_t>(i)));
  return image;
}

Tensor placed(std::span<const ImagePiece> pieces, const Shape& shape) {
  Tensor whole(DType::kF32, shape);
  fill(whole.view(), 77);  // shows unwritten values
  place_pieces(pieces, 0, whole.view());
  return whole;
}

/// Returns the value at a place of an image, 0 outside: a double loop over the four pixels around it.
double slow_value(const Tensor& image, double y, double x, std::int64_t c) {
  double sum = 0;
  for (std::int64_t row = 0; row < image.shape()[0]; ++row)
    for (std::int64_t column = 0; column < image.shape()[1]; ++column) {
      const double near_y = 1 - std::abs(y - static_cast<double>(row));
      const double near_x = 1 - std::abs(x - static_cast<double>(column));
      if (near_y > 0 && near_x > 0)
        sum += near_y * near_x * image.as<float>()[(row * image.shape()[1] + column) * image.shape()[2] + c];
    }
  return sum;
}

/// Returns two pieces that are rotated and one that is not, side by side, with a gap below the second.
std::vector<ImagePiece> three_pieces() {
  const Tensor image = noise_image(90, 120);
  const SpatialMap one = map_of_part({.begin = {10, 20}, .extent = {70, 80}}, {.degrees = 25});
  const SpatialMap two = map_of_part({.begin = {-3, 50}, .extent = {30, 40}}, {.factor = 0.7, .degrees = -100});
  return {moved_piece(image, {{0, 0, 0}, {70, 80, 3}}, one),
          moved_piece(image, {{0, 80, 0}, {30, 40, 3}}, two.on_lattice({1, 1, 1}, {0, -80, 0})),
          unmoved_piece(noise_image(20, 120), 70, 0)};
}

TEST(ImagePieces, AreInterpolatedAsTheSlowVersionDoes) {
  for (const std::int64_t channels : {1, 3})
    for (const double degrees : {0.0, 7.0, 90.0, 133.0, -60.0})
      for (const double factor : {1.0, 0.6, 1.7}) {
        const Tensor image = noise_image(17, 23, channels);
        const ImagePart part{.begin = {4, 3}, .extent = {10, 15}};
        const ImageChange change{.mirrored = degrees > 50, .factor = factor, .degrees = degrees};
        const SpatialMap map = map_of_part(part, change);
        const std::vector<ImagePiece> pieces = {moved_piece(image, {{0, 0, 0}, {10, 15, channels}}, map)};
        const Tensor made = placed(pieces, {1, 10, 15, channels});
        for (std::int64_t i = 0; i < made.count(); ++i) {
          const Vector3 place = map.at({i / channels / 15, i / channels % 15, 0});
          ASSERT_NEAR(made.as<float>()[i], slow_value(image, place[0], place[1], i % channels), 1e-6)
              << degrees << " " << factor << " " << i;
        }
      }
}

TEST(ImagePieces, AMirroredImageHasTheSameBits) {
  const Tensor image = noise_image(5, 8);
  const SpatialMap map = map_of_part({.extent = {5, 8}}, {.mirrored = true, .mirrored_vertically = true});
  const std::vector<ImagePiece> pieces = {moved_piece(image, Box::whole(image.shape()), map)};
  const Tensor made = placed(pieces, {1, 5, 8, 3});
  for (std::int64_t y = 0; y < 5; ++y)
    for (std::int64_t x = 0; x < 8; ++x)
      for (std::int64_t c = 0; c < 3; ++c)
        EXPECT_EQ(made.as<float>()[(y * 8 + x) * 3 + c], image.as<float>()[((4 - y) * 8 + 7 - x) * 3 + c]);
}

TEST(ImagePieces, TheBoxesOfTheCoresMakeTheWhole) {
  const std::vector<ImagePiece> pieces = three_pieces();
  const Shape shape{1, 100, 130, 3};
  const Tensor whole = placed(pieces, shape);
  for (const int axis : {1, 2})
    for (const std::int64_t at : {1, 29, 64, 65, 80}) {
      Tensor parts(DType::kF32, shape);
      for (const auto& [begin, end] : {std::pair{std::int64_t{0}, at}, std::pair{at, shape[axis]}}) {
        Box box = Box::whole(shape);
        box.set(axis, begin, end);
        place_pieces(pieces, 0, parts.view().sub(box));
      }
      EXPECT_TRUE(compare(whole.view(), parts.view()).bit_equal) << axis << " " << at;
    }
}

TEST(ImagePieces, WhereNoPieceLiesAreZeros) {
  const Tensor whole = placed(three_pieces(), {1, 100, 130, 3});
  const auto at = [&](std::int64_t y, std::int64_t x) { return whole.as<float>()[(y * 130 + x) * 3]; };
  EXPECT_EQ(at(35, 100), 0) << "the gap";
  EXPECT_EQ(at(95, 5), 0);
  EXPECT_EQ(at(5, 125), 0);
  EXPECT_NE(at(35, 40), 0);
  EXPECT_NE(at(75, 5), 0);
}

TEST(ImagePieces, OtherSamplesAreLeftAlone) {
  Tensor batch(DType::kF32, {2, 90, 120, 3});
  fill(batch.view(), 77);
  place_pieces(three_pieces(), 1, batch.view());
  for (std::int64_t i = 0; i < batch.count() / 2; ++i) ASSERT_EQ(batch.as<float>()[i], 77);
}

TEST(ImagePieces, KeepNoMoreThanIsPlanned) {
  for (int degrees = -180; degrees <= 180; degrees += 5)
    for (const double factor : {0.25, 1.0, 4.0}) {
      const ImageChange change{.factor = factor, .degrees = static_cast<double>(degrees)};
      const Box tile = map_of_part({.extent = {64, 64}}, change).sources({{0, 0, 0}, {64, 64, 3}});
      EXPECT_LE(4 * (tile.count() + 64 * 64 * 3), moved_bytes(factor)) << degrees << " " << factor;
      const Box piece = map_of_part({.extent = {30, 200}}, change).sources({{0, 0, 0}, {30, 200, 3}});
      EXPECT_LE(piece.extent[0] * piece.extent[1], kept_pixels({30, 200}, factor)) << degrees << " " << factor;
    }
}

}  // namespace
}  // namespace voxshard
