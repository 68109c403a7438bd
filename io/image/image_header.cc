#include "io/image/image_header.h"

#include <libexif/exif-data.h>
#include <tiffio.h>

#include <algorithm>
#include <memory>

#include "io/files/file_error.h"
#include "io/files/now_reading.h"
#include "io/files/open_file.h"
#include "io/image/image_formats.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPngBegin = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kDicomMark = "DICM";  // behind a preamble (DICOM PS3.10, 7.1)
constexpr std::size_t kDicomPreambleBytes = 128;
constexpr const char* kGetAgain = "copy the file again from its source";

[[noreturn]] void throw_cut_off(const fs::path& path) { throw input_error(path, "is cut off", kGetAgain); }

/// A big-endian number of `width` bytes.
std::int64_t number(std::string_view bytes, std::size_t at, unsigned width, const fs::path& path) {
  if (at > bytes.size() || bytes.size() - at < width) throw_cut_off(path);
  std::int64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Returns the orientation in EXIF data, which begin with "Exif\0\0" or are part of a JPEG; 1 without.
int exif_orientation(std::string_view bytes) {
  const std::unique_ptr<ExifData, decltype(&exif_data_unref)> data(
      exif_data_new_from_data(reinterpret_cast<const unsigned char*>(bytes.data()),
                              static_cast<unsigned>(bytes.size())),
      exif_data_unref);
  const ExifEntry* entry = data ? exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION) : nullptr;
  if (!entry || entry->format != EXIF_FORMAT_SHORT || entry->components < 1) return 1;
  return exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
}

ImageHeader parse_png(std::string_view bytes, const fs::path& path) {
  ImageHeader h{.format = ImageFormat::kPng};
  h.width = number(bytes, 16, 4, path), h.height = number(bytes, 20, 4, path);
  h.bits = static_cast<int>(number(bytes, 24, 1, path));
  constexpr int kChannels[] = {1, 0, 3, 3, 2, 0, 4};  // by colour type; 3 is a palette
  const auto colour = number(bytes, 25, 1, path);
  h.channels = colour < 7 ? kChannels[colour] : 0;
  if (bytes.rfind("IEND") == std::string_view::npos) throw_cut_off(path);
  const auto exif = bytes.find("eXIf");
  if (exif != std::string_view::npos && exif < bytes.find("IDAT")) {
    const auto length = static_cast<std::size_t>(number(bytes, exif - 4, 4, path));
    h.orientation = exif_orientation(std::string("Exif\0\0", 6) + std::string(bytes.substr(exif + 4, length)));
  }
  return h;
}

bool is_frame(std::int64_t marker) {  // SOF0 to SOF15 without DHT, JPG and DAC
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

ImageHeader parse_jpeg(std::string_view bytes, const fs::path& path) {
  ImageHeader h{.format = ImageFormat::kJpeg};
  std::size_t at = 2;
  for (std::int64_t marker = 0; marker != 0xda;) {  // up to the first scan
    if (number(bytes, at, 1, path) != 0xff)
      throw input_error(path, "has a damaged JPEG marker at byte " + std::to_string(at), kGetAgain);
    while (number(bytes, at + 1, 1, path) == 0xff) ++at;  // fill bytes
    marker = number(bytes, at + 1, 1, path);
    if (is_frame(marker)) {
      h.bits = static_cast<int>(number(bytes, at + 4, 1, path));
      h.height = number(bytes, at + 5, 2, path), h.width = number(bytes, at + 7, 2, path);
      h.channels = static_cast<int>(number(bytes, at + 9, 1, path));
    }
    at += 2 + static_cast<std::size_t>(number(bytes, at + 2, 2, path));
  }
  if (bytes.find("\xff\xd9", std::min(at, bytes.size())) == std::string_view::npos) throw_cut_off(path);
  h.orientation = exif_orientation(bytes);
  return h;
}

TIFF* tiff_of(const fs::path& path) {
  Descriptor file = open_regular_file(path);
  TIFF* tiff = TIFFFdOpen(file.number(), path.c_str(), "r");
  if (tiff != nullptr) file.release();  // TIFFClose closes it
  return tiff;
}

ImageHeader parse_tiff(std::string_view bytes, const fs::path& path) {
  [[maybe_unused]] static const bool quiet = (TIFFSetWarningHandler(nullptr), TIFFSetErrorHandler(nullptr), true);
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(tiff_of(path), TIFFClose);
  if (!tiff) throw input_error(path, "is a damaged TIFF", kGetAgain);
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 1, channels = 1, orientation = 1, format = SAMPLEFORMAT_UINT;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &channels);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLEFORMAT, &format);
  if (format != SAMPLEFORMAT_UINT)
    throw input_error(path, "has signed or floating-point pixels; expected 8 or 16 bits without sign",
                      "convert it, or use it as a volume");
  const std::uint32_t parts = TIFFIsTiled(tiff.get()) ? TIFFNumberOfTiles(tiff.get()) : TIFFNumberOfStrips(tiff.get());
  for (std::uint32_t i = 0; i < parts; ++i) {
    const std::uint64_t begin = TIFFGetStrileOffset(tiff.get(), i), length = TIFFGetStrileByteCount(tiff.get(), i);
    if (begin > bytes.size() || bytes.size() - begin < length) throw_cut_off(path);
  }
  return {.format = ImageFormat::kTiff,
          .width = width,
          .height = height,
          .orientation = orientation,
          .channels = channels,
          .bits = bits};
}

bool is_tiff(std::string_view bytes) {
  const auto begins = [&](const char* four) { return bytes.starts_with(std::string_view(four, 4)); };
  return begins("II*\0") || begins("MM\0*") || begins("II+\0") || begins("MM\0+");
}

}  // namespace

const char* format_name(ImageFormat format) { return kImageFileFormats.at(static_cast<std::size_t>(format)).name; }

bool is_image_name(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return !ending.empty() && std::ranges::any_of(kImageFileFormats, [&](const ImageFileFormat& format) {
    return std::ranges::find(format.endings, ending) != format.endings.end();
  });
}

std::string read_image_bytes(const fs::path& path) {
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "give a picture, and check the path and its permissions");
  const std::int64_t bytes = in.bytes();
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;
  if (bytes == 0) throw input_error(path, "is empty", kGetAgain);
  if (bytes > kMostBytes - 1) throw input_error(path, "has 2 GiB or more", "cut the picture into smaller ones");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  if (!in) throw input_error(path, "cannot be read", "check its permissions");
  return text;
}

ImageHeader parse_image_header(std::string_view bytes, const fs::path& path) {
  ImageHeader h;
  if (bytes.starts_with(kPngBegin))
    h = parse_png(bytes, path);
  else if (bytes.starts_with("\xff\xd8"))
    h = parse_jpeg(bytes, path);
  else if (is_tiff(bytes))
    h = parse_tiff(bytes, path);
  else if (bytes.size() > kDicomPreambleBytes && bytes.substr(kDicomPreambleBytes).starts_with(kDicomMark))
    throw input_error(path, "is a DICOM file, no PNG, JPEG or TIFF", "convert it to one of these");
  else  // OpenCV would choose a decoder of its own for it
    throw input_error(path, "is no PNG, JPEG or TIFF", "convert it to one of these");
  h.file_bytes = static_cast<std::int64_t>(bytes.size());
  if (h.width < 1 || h.height < 1 || h.channels < 1)
    throw input_error(path, "has no pixels or a damaged header", kGetAgain);
  if (h.bits > 16 || (h.format == ImageFormat::kJpeg && h.bits != 8))
    throw input_error(path, "has " + std::to_string(h.bits) + " bits per channel; expected 8 or 16", "convert it");
  if (h.orientation < 1 || h.orientation > 8) h.orientation = 1;
  if (h.orientation >= 5) std::swap(h.width, h.height);
  return h;
}

ImageHeader read_image_header(const fs::path& path) {
  const NowReading reading(path);
  return parse_image_header(read_image_bytes(path), path);
}

}  // namespace voxshard
