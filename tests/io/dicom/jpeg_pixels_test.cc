// JPEG pixels of DICOM files, whole and damaged before their first scan.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "io/dicom/dicom_codec.h"
#include "tests/expect_error.h"
#include "tests/io/dicom/compressed_images.h"

namespace voxshard {
namespace {

std::vector<char> decoded(const std::vector<std::string>& fragments, int bits = 8, int bits_stored = 8,
                          int high_bit = 7, bool is_signed = false) {
  std::vector<std::vector<char>> all;
  for (const std::string& bytes : fragments) all.emplace_back(bytes.begin(), bytes.end());
  return decode_dicom_pixels({.path = "slice.dcm",
                              .syntax = "1.2.840.10008.1.2.4.50",
                              .columns = kJpegSide,
                              .rows = kJpegSide,
                              .frames = static_cast<std::int64_t>(fragments.size()),
                              .bits = bits,
                              .bits_stored = bits_stored,
                              .high_bit = high_bit,
                              .is_signed = is_signed},
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
        jpeg.substr(0, jpeg.find(start)), std::string("\xff\xd8"),
        std::string(jpeg).insert(2, "\xff\x01"),                                         // TEM: DCMTK did not end
        with(jpeg, "\xff\xc0", 1, '\xf7').insert(jpeg.find(start) + 10, "\xff\x01")}) {  // of JPEG-LS: nor here
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

TEST(JpegPixels, AnImageOfAnotherSizeThanTheHeaderSaysIsAnErrorOfItsFile) {
  const std::string jpeg(kJpeg);
  expect_error(ErrorKind::kInput, "16 x 8 pixels, not of 16 x 16", [&] { decoded({with(jpeg, "\xff\xc0", 6, 8)}); });
  expect_error(ErrorKind::kInput, "8 x 16 pixels, not of 16 x 16", [&] { decoded({with(jpeg, "\xff\xc0", 8, 8)}); });
  expect_error(ErrorKind::kInput, "slice.dcm", [&] { decoded({jpeg, with(jpeg, "\xff\xc0", 6, 8)}); });
}

TEST(JpegPixels, SamplesInFewerBitsThanAPixelKeepTheirSign) {
  const std::string jpeg(kJpeg);
  const std::vector<char> samples = decoded({jpeg}), pixels = decoded({jpeg}, 16, 8, 7),
                          with_sign = decoded({jpeg}, 16, 8, 7, true);
  ASSERT_EQ(pixels.size(), 2 * samples.size());
  ASSERT_EQ(with_sign.size(), 2 * samples.size());
  ASSERT_LT(samples.back(), 0) << "240 without a sign";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint16_t pixel = 0;
    std::int16_t number = 0;
    std::memcpy(&pixel, pixels.data() + 2 * i, 2), std::memcpy(&number, with_sign.data() + 2 * i, 2);
    EXPECT_EQ(pixel, static_cast<unsigned char>(samples[i]));
    EXPECT_EQ(number, static_cast<signed char>(samples[i]));
  }
  expect_error(ErrorKind::kInput, "cannot be decoded", [&] { decoded({with(jpeg, "\xff\xc0", 4, 12)}); });
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
