// Reads an image file's header without decoding the image: format, upright size, bit depth, and a check that the file
// is complete. OpenCV decodes a truncated JPEG into a half-grey image without an error; this check refuses it.
//
//   ImageHeader h = read_image_header("cells_00.jpg");     // h.width is that of the upright image
//
// EXIF is read by libexif, TIFF by libtiff. Other sources: PNG (ISO/IEC 15948), JPEG (ITU-T T.81, annex B).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace voxshard {

enum class ImageFormat : std::uint8_t { kPng, kJpeg, kTiff };
const char* format_name(ImageFormat format);

struct ImageHeader {
  ImageFormat format = ImageFormat::kPng;
  std::int64_t width = 0, height = 0;  // pixels, upright: after the EXIF orientation
  int orientation = 1;                 // EXIF 1 to 8, already in width and height
  int channels = 1;                    // alpha included; 3 for a palette
  int bits = 8;                        // per channel
  std::int64_t file_bytes = 0;
};

/// Reads the header. Errors: kInput naming `path`: missing, empty, not PNG, JPEG or TIFF, truncated, more than 2 GiB,
/// pixels that are not unsigned with 8 or 16 bits.   Cost: reads the whole file.
ImageHeader read_image_header(const std::filesystem::path& path);

/// The same from the bytes of a file; a TIFF is opened at `path`.
ImageHeader parse_image_header(std::string_view bytes, const std::filesystem::path& path);

/// The bytes of a file. Errors: kInput as above.
std::string read_image_bytes(const std::filesystem::path& path);

/// Returns true when a name ends in .png, .jpg, .jpeg, .tif or .tiff, in any case.
bool is_image_name(const std::filesystem::path& path);

}  // namespace voxshard
