// Images built byte by byte, so that what is read does not depend on what is written: PNG and TIFF of any depth,
// EXIF.
//
//   write_bytes(dir.path() / "a.png", png_bytes({.width = 2, .height = 1, .bits = 16}, {0, 65535}));
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace voxshard {

struct ImageSpec {
  int width = 1, height = 1, channels = 1, bits = 8;
  int orientation = 0;      // EXIF; 0: none
  bool big_endian = false;  // TIFF
};

inline std::string number_bytes(std::uint64_t value, int width, bool big_endian) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * (big_endian ? width - 1 - i : i) & 0xff);
  return bytes;
}

/// Returns a TIFF without compression; `values` are the samples in rows, repeated as often as needed.
inline std::string tiff_bytes(const ImageSpec& s, const std::vector<int>& values, int sample_format = 1) {
  const auto number = [&](std::uint64_t v, int width) { return number_bytes(v, width, s.big_endian); };
  std::string pixels;
  const int count = s.width * s.height * s.channels;
  for (int i = 0; i < count; ++i) pixels += number(static_cast<std::uint64_t>(values[i % values.size()]), s.bits / 8);
  struct Field {
    int tag, type;
    std::uint64_t value;
  };
  std::vector<Field> fields = {{256, 4, static_cast<std::uint64_t>(s.width)},
                               {257, 4, static_cast<std::uint64_t>(s.height)},
                               {258, 3, static_cast<std::uint64_t>(s.bits)},
                               {259, 3, 1},
                               {262, 3, s.channels == 1 ? 1u : 2u},
                               {273, 4, 8},
                               {274, 3, static_cast<std::uint64_t>(s.orientation > 0 ? s.orientation : 1)},
                               {277, 3, static_cast<std::uint64_t>(s.channels)},
                               {278, 4, static_cast<std::uint64_t>(s.height)},
                               {279, 4, pixels.size()},
                               {339, 3, static_cast<std::uint64_t>(sample_format)}};
  if (pixels.size() % 2) pixels += '\0';
  std::string file = (s.big_endian ? "MM" : "II") + number(42, 2) + number(8 + pixels.size(), 4) + pixels;
  file += number(fields.size(), 2);
  const std::size_t behind = file.size() + 12 * fields.size() + 4;  // offset of three 16-bit values
  for (const auto& f : fields) {
    const bool per_channel = (f.tag == 258 || f.tag == 339) && s.channels > 2;
    file += number(static_cast<std::uint64_t>(f.tag), 2) + number(static_cast<std::uint64_t>(f.type), 2);
    file += number(per_channel ? static_cast<std::uint64_t>(s.channels) : 1, 4);
    if (per_channel)
      file += number(behind + (f.tag == 339 ? 2 * static_cast<std::size_t>(s.channels) : 0), 4);
    else
      file += f.type == 3 ? number(f.value, 2) + number(0, 2) : number(f.value, 4);
  }
  file += number(0, 4);
  for (const int value : {s.bits, sample_format})
    for (int c = 0; c < s.channels; ++c) file += number(static_cast<std::uint64_t>(value), 2);
  return file;
}

/// Returns the EXIF data of an orientation, from "II" or "MM" on.
inline std::string exif_bytes(int orientation) {
  return "II" + number_bytes(42, 2, false) + number_bytes(8, 4, false) + number_bytes(1, 2, false) +
         number_bytes(274, 2, false) + number_bytes(3, 2, false) + number_bytes(1, 4, false) +
         number_bytes(static_cast<std::uint64_t>(orientation), 4, false) + number_bytes(0, 4, false);
}

/// Returns the JPEG with an orientation inserted after its first marker.
inline std::string jpeg_with_orientation(const std::string& jpeg, int orientation) {
  const std::string data = std::string("Exif\0\0", 6) + exif_bytes(orientation);
  return jpeg.substr(0, 2) + "\xff\xe1" + number_bytes(data.size() + 2, 2, true) + data + jpeg.substr(2);
}

inline std::string png_chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<unsigned>(body.size()));
  return number_bytes(data.size(), 4, true) + body + number_bytes(sum, 4, true);
}

/// Returns a PNG: 1 channel grey, 2 grey and alpha, 3 colour, 4 colour and alpha. `promised_width`: the width in its
/// header, if it is to differ.
inline std::string png_bytes(const ImageSpec& s, const std::vector<int>& values, int promised_width = 0) {
  std::string rows;
  for (int y = 0, i = 0; y < s.height; ++y) {
    rows += '\0';  // no filter
    for (int x = 0; x < s.width * s.channels; ++x, ++i)
      rows += number_bytes(static_cast<std::uint64_t>(values[static_cast<std::size_t>(i) % values.size()]), s.bits / 8,
                           true);
  }
  uLongf packed_size = compressBound(rows.size());
  std::string packed(packed_size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &packed_size, reinterpret_cast<const Bytef*>(rows.data()),
           rows.size());
  packed.resize(packed_size);
  constexpr int kColourType[] = {0, 0, 4, 2, 6};
  const auto width = static_cast<std::uint64_t>(promised_width > 0 ? promised_width : s.width);
  std::string file = "\x89PNG\r\n\x1a\n";
  file += png_chunk("IHDR", number_bytes(width, 4, true) + number_bytes(static_cast<std::uint64_t>(s.height), 4, true) +
                                static_cast<char>(s.bits) + static_cast<char>(kColourType[s.channels]) +
                                std::string(3, '\0'));
  if (s.orientation > 0) file += png_chunk("eXIf", exif_bytes(s.orientation));
  return file + png_chunk("IDAT", packed) + png_chunk("IEND", "");
}

}  // namespace voxshard
