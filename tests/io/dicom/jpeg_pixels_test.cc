// JPEG pixels of DICOM files, whole and damaged before their first scan.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/dicom/dicom_codec.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

constexpr int kJpegSide = 16;

/// A grey image as baseline JPEG of optimised tables with a JFIF header, made with cjpeg of libjpeg-turbo: 8 (x + y).
constexpr std::string_view kJpeg(
    "\xff\xd8\xff\xe0\x00\x10\x4a\x46\x49\x46\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb\x00\x43"
    "\x00\x10\x0b\x0c\x0e\x0c\x0a\x10\x0e\x0d\x0e\x12\x11\x10\x13\x18\x28\x1a\x18\x16\x16\x18\x31\x23"
    "\x25\x1d\x28\x3a\x33\x3d\x3c\x39\x33\x38\x37\x40\x48\x5c\x4e\x40\x44\x57\x45\x37\x38\x50\x6d\x51"
    "\x57\x5f\x62\x67\x68\x67\x3e\x4d\x71\x79\x70\x64\x78\x5c\x65\x67\x63\xff\xc0\x00\x0b\x08\x00\x10"
    "\x00\x10\x01\x01\x11\x00\xff\xc4\x00\x15\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x06\x00\xff\xc4\x00\x17\x10\x01\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x04\x00\x21\x31\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x36\x21\xe5\x44\x02\x1e\x54\x84"
    "\x3c\xa8\x80\x43\xca\x9f\xff\xd9",
    176);

std::vector<char> decoded(const std::vector<std::string>& fragments, int bits = 8, int bits_stored = 8,
                          int high_bit = 7) {
  std::vector<std::vector<char>> all;
  for (const std::string& bytes : fragments) all.emplace_back(bytes.begin(), bytes.end());
  return decode_dicom_pixels({.path = "slice.dcm",
                              .syntax = "1.2.840.10008.1.2.4.50",
                              .columns = kJpegSide,
                              .rows = kJpegSide,
                              .frames = static_cast<std::int64_t>(fragments.size()),
                              .bits = bits,
                              .bits_stored = bits_stored,
                              .high_bit = high_bit},
                             all);
}

std::string with(std::string bytes, const std::string& marker, std::size_t at, char value) {
  bytes.at(bytes.find(marker) + at) = value;
  return bytes;
}

TEST(JpegPixels, GreyImagesAreDecodedAlsoWithFillBytesBetweenTheirSegments) {
  const std::string jpeg(kJpeg);
  const std::vector<char> values = decoded({jpeg});
  ASSERT_EQ(values.size(), static_cast<std::size_t>(kJpegSide * kJpegSide));
  EXPECT_NEAR(static_cast<unsigned char>(values[kJpegSide + 2]), 24, 8) << "of row 1, column 2, as JPEG keeps it";
  EXPECT_EQ(decoded({std::string(jpeg).insert(2, "\xff\xff")}), values);
  EXPECT_EQ(decoded({jpeg, jpeg}).size(), 2 * values.size());
}

TEST(JpegPixels, WhatIsDamagedBeforeTheFirstScanIsAnErrorOfItsFile) {
  const std::string jpeg(kJpeg);
  const std::string start = "\xff\xda";
  for (const std::string& bytes :
       {std::string(jpeg).insert(2, std::string("\xff\xd3\0\x43\0", 5)), jpeg.substr(0, jpeg.find(start) + 6),
        jpeg.substr(0, jpeg.find(start)), std::string("\xff\xd8"), std::string()}) {
    expect_error(ErrorKind::kInput, "slice.dcm", [&] { decoded({bytes}); });
    expect_error(ErrorKind::kInput, "header is damaged", [&] { decoded({bytes}); });
  }
  expect_error(ErrorKind::kInput, "header is damaged", [&] {
    decoded({jpeg, std::string(jpeg).insert(2, std::string("\xff\xd3\0\x43\0", 5))});
  });
  expect_error(ErrorKind::kInput, "4 components", [&] { decoded({with(jpeg, "\xff\xc0", 9, 4)}); });
  for (const int bits : {0, 1, 17, 0x90})
    expect_error(ErrorKind::kInput, "JPEG pixels of " + std::to_string(bits) + " bits",
                 [&] { decoded({with(jpeg, "\xff\xc0", 4, static_cast<char>(bits))}); });
}

TEST(JpegPixels, BitsThatNoImageHasAreAnErrorOfTheFile) {
  expect_error(ErrorKind::kInput, "in 0 bits", [] { decoded({std::string(kJpeg)}, 0, 8); });
  expect_error(ErrorKind::kInput, "in 64 bits", [] { decoded({std::string(kJpeg)}, 64, 8); });
  expect_error(ErrorKind::kInput, "16 of 8 bits", [] { decoded({std::string(kJpeg)}, 8, 16); });
  expect_error(ErrorKind::kInput, "0 of 8 bits", [] { decoded({std::string(kJpeg)}, 8, 0); });
  for (const int high : {0, 7, 0x5503})
    expect_error(ErrorKind::kInput, "the highest of them bit " + std::to_string(high) + " in place of 11",
                 [&] { decoded({std::string(kJpeg)}, 16, 12, high); });
  EXPECT_EQ(decoded({std::string(kJpeg)}, 8, 8, 0), decoded({std::string(kJpeg)})) << "no bit is without use";
}

}  // namespace
}  // namespace voxshard
