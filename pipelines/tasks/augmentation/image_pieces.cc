#include "pipelines/tasks/augmentation/image_pieces.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pipelines/tasks/augmentation/warp.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTileSide = 64;
constexpr std::int64_t kImageChannels = 3;
constexpr double kInterpolationMargin = 3;  // pixels that a side has more than the rotated one

Box in_batch(const Box& of_sample, std::int64_t n) {
  return {{n, of_sample.begin[0], of_sample.begin[1], of_sample.begin[2]},
          {1, of_sample.extent[0], of_sample.extent[1], of_sample.extent[2]}};
}

Box in_sample(const Box& of_batch) {
  return {{of_batch.begin[1], of_batch.begin[2], of_batch.begin[3]},
          {of_batch.extent[1], of_batch.extent[2], of_batch.extent[3]}};
}

/// Returns the pixels of `wanted` (y, x, c of the image), 0 where the piece holds none.
Tensor pixels_around(const ImagePiece& piece, const Box& wanted) {
  Tensor values(DType::kF32, wanted.extent);
  const Box inside = intersect(wanted, piece.held);
  if (inside.empty()) return values;
  const TensorView source = dense_view(piece.pixels.data(), DType::kF32, piece.held);
  copy(source.sub(inside), dense_view(values.data(), DType::kF32, wanted).sub(inside));
  return values;
}

/// Fills `box`, which lies in the place of a piece with a map, tile by tile.
void interpolate_piece(const ImagePiece& piece, std::int64_t n, const TensorView& box) {
  const Box whole = in_sample(box.box);
  Box tile = whole;
  for (std::int64_t y = whole.begin[0]; y < whole.end(0); y += kTileSide)
    for (std::int64_t x = whole.begin[1]; x < whole.end(1); x += kTileSide) {
      tile.set(0, y, std::min(y + kTileSide, whole.end(0)));
      tile.set(1, x, std::min(x + kTileSide, whole.end(1)));
      const Box read = piece.map->sources(tile);
      const Tensor values = interpolate(pixels_around(piece, read), read, *piece.map, tile);
      const Box at = in_batch(tile, n);
      copy(dense_view(values.data(), DType::kF32, at), box.sub(at));
    }
}

}  // namespace

ImagePiece unmoved_piece(Tensor pixels, std::int64_t y, std::int64_t x) {
  const Box place{{y, x, 0}, pixels.shape()};
  return {.pixels = std::move(pixels), .held = place, .place = place};
}

ImagePiece moved_piece(const Tensor& image, const Box& place, const SpatialMap& map) {
  const Box held = intersect(map.sources(place), Box::whole(image.shape()));
  ImagePiece piece{.pixels = Tensor(DType::kF32, held.extent), .held = held, .place = place, .map = map};
  if (!held.empty()) copy(image.view().sub(held), dense_view(piece.pixels.data(), DType::kF32, held));
  return piece;
}

void place_pieces(std::span<const ImagePiece> pieces, std::int64_t n, const TensorView& box) {
  ensure(box.axes() == 4, "pieces of images are placed into (N, H, W, C)");
  Box wanted = box.box;
  wanted.set(0, std::max(n, box.box.begin[0]), std::min(n + 1, box.box.end(0)));
  if (wanted.empty()) return;
  std::int64_t filled = 0;
  for (const ImagePiece& piece : pieces) filled += intersect(wanted, in_batch(piece.place, n)).count();
  if (filled != wanted.count()) fill_zero(box.sub(wanted));
  for (const ImagePiece& piece : pieces) {
    const Box whole = in_batch(piece.place, n), inside = intersect(wanted, whole);
    if (inside.empty()) continue;
    if (piece.map)
      interpolate_piece(piece, n, box.sub(inside));
    else
      copy(dense_view(piece.pixels.data(), DType::kF32, whole).sub(inside), box.sub(inside));
  }
}

std::int64_t moved_bytes(double least_factor) {
  const double rotated_side =
      std::numbers::sqrt2 * static_cast<double>(kTileSide) / std::min(1.0, least_factor) + kInterpolationMargin;
  // of a rotated tile also the channel after the last, which interpolation reads with a weight of 0
  return static_cast<std::int64_t>(
      std::ceil(sizeof(float) * (static_cast<double>(kImageChannels + 1) * rotated_side * rotated_side +
                                 static_cast<double>(kImageChannels * kTileSide * kTileSide))));
}

std::int64_t kept_pixels(const Dims& size, double least_factor) {
  // h |cos| + w |sin| and w |cos| + h |sin| multiply to at most (h + w)^2 / 2
  const double sides = static_cast<double>(size[0] + size[1]) / std::min(1.0, least_factor) + 2 * kInterpolationMargin;
  return static_cast<std::int64_t>(std::ceil(sides * sides / 2));
}

}  // namespace voxshard
