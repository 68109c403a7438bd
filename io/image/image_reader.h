// Reads an image from an image file or from a frame of a video, written "clip.mp4#frame=17" (0 is the first frame that
// is shown). Code that trains, predicts and scores on images need not tell the two apart.
//
//   ImageReader images;
//   Tensor cell = images.read("cells_00.png");
//   Tensor frame = images.read(frame_path("clip.mp4", 17), {.dtype = DType::kF32});
//
// Frames are decoded in place, at full resolution; nothing is unpacked to disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "io/image/image.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ImageAddress {
  std::filesystem::path file;         // image or video on disk
  std::optional<std::int64_t> frame;  // frame number in a video; none for an image file
};

/// Splits "clip.mp4#frame=17"; any other name is an image file.
ImageAddress image_address(const std::filesystem::path& image);
/// Returns the address of a frame: "clip.mp4#frame=17".
std::filesystem::path frame_path(const std::filesystem::path& video, std::int64_t frame);

/// Converts an image from u8 to f32: 255 becomes 1.
Tensor unit_range(const Tensor& u8);

struct ImageReaderOptions {
  int threads = 1;                                     // of each decoder
  std::size_t most_videos = 2;                         // open at once; the one used least recently is closed
  std::int64_t cache_bytes = std::int64_t{256} << 20;  // cache of decoded frames, least recently used dropped first
  std::int64_t most_pixels = kMostPixels;              // per image or frame; more is E_SIZE
};

struct ImageSize {
  std::int64_t width = 0, height = 0;  // pixels, upright
};

/// Threads: any number at once; frames are decoded one after the other.
class ImageReader {
 public:
  explicit ImageReader(const ImageReaderOptions& options = {});
  ~ImageReader();
  ImageReader(ImageReader&&) noexcept;
  ImageReader& operator=(ImageReader&&) noexcept;

  /// Returns (H, W, 3), red first, as read_rgb; a frame read as kF32 is converted by unit_range.
  /// Errors: kInput as read_rgb and VideoReader; also for a frame beyond the last and one too damaged to decode.
  /// Cost: a frame is decoded from the keyframe before it, unless it is kept or follows the last one read.
  Tensor read(const std::filesystem::path& image, const ImageReadOptions& options = {}) const;

  /// Returns the size, from the headers only. Errors: kInput as above.
  ImageSize size(const std::filesystem::path& image) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
