// Colour images as tensors: PNG, JPEG and TIFF of 8 or 16 bits, grey or colour, through OpenCV. Alpha is dropped,
// grey becomes three equal channels, EXIF orientation is applied.
//
//   Tensor pixels = read_rgb("cells_00.jpg");                              // (H, W, 3) u8, red first
//   Tensor light = read_rgb("slide.tif", {.dtype = DType::kF32});          // 0 to 1, all 16 bits kept
//   write_rgb("boxes.png", pixels);
#pragma once

#include <filesystem>
#include <string>

#include "io/image/image_header.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// 11585 x 11585, as for the frames of videos: a damaged header must not ask for all memory.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

struct ImageReadOptions {
  DType dtype = DType::kU8;                // kU8, or kF32: the highest value of the file's type becomes 1
  std::int64_t most_pixels = kMostPixels;  // a header that promises more is refused before decoding
};

/// Reads the upright image, (H, W, 3), red first. 16 bits become 8 by rounding v / 257.
/// Errors: kInput as read_image_header, and for pixels that cannot be decoded or are too many (E_SIZE); those of
/// load_codecs().   Threads: any number at once.   Cost: the file, the decoded pixels and the result are held together.
Tensor read_rgb(const std::filesystem::path& path, const ImageReadOptions& options = {});

/// Throws kInput E_SIZE, naming the image, when it has more than `most_pixels` pixels.
void require_pixels_within(std::int64_t most_pixels, std::int64_t width, std::int64_t height,
                           const std::filesystem::path& image);

/// Returns an (H, W, 3) u8 image, red first, as the bytes of a file with this ending (".png", ".jpg", ".tif"); JPEG
/// with quality 95. Errors: those of load_codecs().
std::string encoded_rgb(const Tensor& rgb, const std::string& ending);

/// Encodes and decodes an image of one pixel, so that what OpenCV loads for its first image (its codecs, and in some
/// builds every driver of GDAL: some 40 MiB) is resident before memory is measured. Costs nothing the second time.
/// Errors: kConfig where the codecs cannot be loaded (io/image/codecs.h).
void load_codecs();

/// Writes (H, W, 3) u8, red first, atomically: PNG, JPEG (quality 95) or TIFF by the name's ending.
/// Errors: kOutput, also for another ending; those of load_codecs().
void write_rgb(const std::filesystem::path& path, const Tensor& rgb);

}  // namespace voxshard
