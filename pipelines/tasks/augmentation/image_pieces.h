// A sample that is made of pieces of images: one, or the four of a mosaic. A piece holds the pixels that it shows, and
// each core interpolates those of its own box alone; a pixel is computed from its own index, so that a sample is the
// same however it is cut.
//
//   const std::vector<ImagePiece> pieces = {moved_piece(pixels, Box::whole(pixels.shape()), map)};
//   place_pieces(pieces, 0, box);                      // a core's box of (N, H, W, C), zeros where no piece lies
#pragma once

#include <optional>
#include <span>

#include "libcore/tensor/spatial_map.h"

namespace voxshard {

struct ImagePiece {
  Tensor pixels;                       // (h, w, C) f32, normalised
  Box held;                            // (y, x, C) of the image that `pixels` hold
  Box place;                           // (y, x, C) of the sample that the piece fills
  std::optional<SpatialMap> map = {};  // from the sample to the image; none: `pixels` lie at `place` as they are
};

/// Returns the piece that shows `pixels` as they are, from (y, x) of the sample on.
ImagePiece unmoved_piece(Tensor pixels, std::int64_t y, std::int64_t x);
/// Returns the piece whose pixels at `place` are those of the image at mapped places, 0 outside of the image. Keeps of
/// the image what the piece shows.
///   image  (H, W, C) f32, normalised
///   map    from (y, x, c) of the sample to those of the image; it leaves c as it is
ImagePiece moved_piece(const Tensor& image, const Box& place, const SpatialMap& map);

/// Fills the part of sample `n` that lies in `box` (N, H, W, C). Linear interpolation.
/// Requires: pieces do not overlap.   Memory: moved_bytes().   Threads: any number at once.
void place_pieces(std::span<const ImagePiece> pieces, std::int64_t n, const TensorView& box);

/// Returns the most bytes that place_pieces() holds at once, in each thread.
///   least_factor  by which a piece is enlarged
std::int64_t moved_bytes(double least_factor);
/// Returns the most pixels of an image that a rotated piece of this size keeps; more than the image has for a large
/// one.
std::int64_t kept_pixels(const Dims& size, double least_factor);

}  // namespace voxshard
