// Compressed pixels of DICOM files in RLE, JPEG-LS and JPEG 2000, and samples in fewer bits than a pixel has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "io/dicom/dicom_codec.h"
#include "io/dicom/jpeg2000.h"
#include "tests/expect_error.h"
#include "tests/io/dicom/compressed_images.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;

/// The pixels of a description, of which each is a `Value`.
template <class Value>
std::vector<Value> pixels_of(const CompressedPixels& description, const std::vector<std::string>& fragments) {
  std::vector<std::vector<char>> all;
  for (const std::string& bytes : fragments) all.emplace_back(bytes.begin(), bytes.end());
  const std::vector<char> bytes = decode_dicom_pixels(description, all);
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

const CompressedPixels kRle{.path = "slice.dcm", .syntax = "1.2.840.10008.1.2.5", .columns = 3, .rows = 1};

TEST(RlePixels, SegmentsAreTheBytesOfAPixelTheHighestFirst) {
  CompressedPixels shape = kRle;
  shape.is_signed = true;
  EXPECT_THAT(pixels_of<std::int16_t>(shape, {rle_frame({std::string("\xff\x01\x00", 3), "\xfe\x2c\x05"})}),
              ElementsAre(-2, 300, 5));
}

TEST(RlePixels, FramesOfAnOddNumberOfBytesFollowEachOtherWithoutAGap) {
  CompressedPixels shape = kRle;
  shape.bits = shape.bits_stored = 8, shape.high_bit = 7, shape.frames = 2;
  EXPECT_THAT(pixels_of<std::uint8_t>(shape, {rle_frame({"\x01\x02\x03"}), rle_frame({"\x04\x05\x06"})}),
              ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(RlePixels, WhatIsCutIsAnErrorOfItsFile) {
  const std::string whole = rle_frame({std::string("\xff\x01\x00", 3), "\xfe\x2c\x05"});
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{10}, std::size_t{64}, whole.size() - 4})
    expect_error(ErrorKind::kInput, "slice.dcm", [&] { pixels_of<std::int16_t>(kRle, {whole.substr(0, bytes)}); });
}

TEST(CompressedPixels, ThoseOfOneBitAreSaidNotToBeRead) {
  CompressedPixels shape = kRle;
  shape.bits = shape.bits_stored = 1, shape.high_bit = 0;
  for (const char* kind : {"5", "4.70", "4.80", "4.90"}) {
    shape.syntax = std::string("1.2.840.10008.1.2.") + kind;
    expect_error(ErrorKind::kInput, "slice.dcm: has compressed pixels of 1 bit, which are not read; export it without",
                 [&] { pixels_of<std::uint8_t>(shape, {rle_frame({"\x05"})}); });
  }
}

TEST(CompressedPixels, AnUnknownTransferSyntaxIsNamed) {
  CompressedPixels shape = kRle;
  shape.syntax = "1.2.840.10008.1.2.4.100";
  expect_error(ErrorKind::kInput, "not read, 1.2.840.10008.1.2.4.100", [&] { pixels_of<std::int16_t>(shape, {"x"}); });
}

TEST(JpegLsPixels, PixelsOf16And12BitsKeepTheirSign) {
  CompressedPixels shape{
      .path = "slice.dcm", .syntax = "1.2.840.10008.1.2.4.80", .columns = 3, .rows = 2, .is_signed = true};
  const std::string stream(kJpegLs16);
  EXPECT_THAT(pixels_of<std::int16_t>(shape, {stream}), ElementsAre(-32768, -2, -1, 0, 300, 32767));
  EXPECT_THAT(pixels_of<std::int16_t>(shape, {stream.substr(0, 40), stream.substr(40)}),
              ElementsAre(-32768, -2, -1, 0, 300, 32767))
      << "one frame in two fragments";
  expect_error(ErrorKind::kInput, "slice.dcm", [&] { pixels_of<std::int16_t>(shape, {stream.substr(0, 60)}); });
  shape.bits_stored = 12, shape.high_bit = 11;
  EXPECT_THAT(pixels_of<std::int16_t>(shape, {std::string(kJpegLs12)}), ElementsAre(-2048, -2, -1, 0, 300, 2047));
  std::swap(shape.columns, shape.rows);
  expect_error(ErrorKind::kInput, "3 x 2 pixels, not of 2 x 3",
               [&] { pixels_of<std::int16_t>(shape, {std::string(kJpegLs12)}); });
}

const CompressedPixels kOfJpeg2000{.path = "slice.dcm",
                                   .syntax = "1.2.840.10008.1.2.4.90",
                                   .columns = 7,
                                   .rows = 5,
                                   .bits_stored = 12,
                                   .high_bit = 11};

TEST(Jpeg2000Pixels, LosslessPixelsAreDecodedToTheBit) {
  const std::string stream(kJpeg2000);
  std::vector<std::uint16_t> expected;
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x) expected.push_back(static_cast<std::uint16_t>(100 * x + 37 * x * y + y));
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {stream}), expected);
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {stream.substr(0, 80), stream.substr(80)}), expected)
      << "one frame in two fragments";
  CompressedPixels two = kOfJpeg2000;
  two.frames = 2;
  EXPECT_EQ(pixels_of<std::uint16_t>(two, {stream, stream}).size(), 2 * expected.size());
  expect_error(ErrorKind::kInput, "several parts", [&] { pixels_of<std::uint16_t>(two, {stream, stream, stream}); });
}

TEST(Jpeg2000Pixels, AnImageThatIsNotTheOneOfTheHeaderIsAnErrorOfItsFile) {
  const auto refused = [](const char* why, auto change, std::string stream = std::string(kJpeg2000)) {
    CompressedPixels shape = kOfJpeg2000;
    change(shape);
    expect_error(ErrorKind::kInput, why, [&] { pixels_of<std::uint16_t>(shape, {stream}); });
  };
  refused("7 x 5 pixels, not of 5 x 7", [](CompressedPixels& p) { std::swap(p.columns, p.rows); });
  refused("its JPEG 2000 pixels are unsigned", [](CompressedPixels& p) { p.is_signed = true; });
  refused("of 12 bits for 8", [](CompressedPixels& p) { p.bits = p.bits_stored = 8; });
  const auto nothing = [](CompressedPixels&) {};
  refused("cannot be decoded", nothing, std::string(kJpeg2000.substr(0, 60)));
  refused("cannot be decoded", nothing, std::string(kJpeg2000.substr(0, 130)));
  refused("cannot be decoded", nothing, "no codestream");
  refused("without a byte", nothing, "");
}

TEST(Jpeg2000Pixels, TheSizeIsCheckedBeforeTheHeaderIsRead) {
  const std::string cut(kJpeg2000.substr(0, 60));  // behind the marker segment with the size
  CompressedPixels other = kOfJpeg2000;
  other.columns = 8;
  expect_error(ErrorKind::kInput, "7 x 5 pixels, not of 8 x 5", [&] { pixels_of<std::uint16_t>(other, {cut}); });
  std::string many(kJpeg2000);  // 255 x 255 pixels in as many tiles, of which OpenJPEG reads the header
  many[11] = many[15] = '\xff', many[27] = many[31] = 1;
  int checks = 0;
  EXPECT_FALSE(decode_jpeg2000(many, [&](const Jpeg2000Image&) { ++checks; }));
  EXPECT_EQ(checks, 0);
  for (const std::size_t at : {11, 15, 27, 31, 43, 44}) {  // no columns, rows, tiles, or steps between samples
    std::string none(kJpeg2000);
    none[at] = 0;
    EXPECT_FALSE(decode_jpeg2000(none, [&](const Jpeg2000Image&) { ++checks; })) << at;
  }
  EXPECT_EQ(checks, 0);
}

TEST(Jpeg2000Pixels, ATileThatIsMissingIsNoticed) {
  const std::string whole(kTiledJpeg2000);
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {whole}),
            pixels_of<std::uint16_t>(kOfJpeg2000, {std::string(kJpeg2000)}));
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {whole + '\0'}).size(), 35u) << "of even length";
  std::string cut = whole.substr(0, kSecondTile) + "\xff\xd9";
  expect_error(ErrorKind::kInput, "cannot be decoded", [&] { pixels_of<std::uint16_t>(kOfJpeg2000, {cut}); });
  cut.replace(kSecondTile - 0x25 + 6, 4, 4, '\0');  // its length is not said: it reaches to the end
  expect_error(ErrorKind::kInput, "cannot be decoded", [&] { pixels_of<std::uint16_t>(kOfJpeg2000, {cut}); });
}

/// A box of a JP2 file.
std::string jp2_box(const std::string& type, const std::string& content) {
  const std::size_t length = 8 + content.size();
  return std::string{0, 0, static_cast<char>(length >> 8), static_cast<char>(length & 0xff)} + type + content;
}

/// A JP2 file of kJpeg2000.
///   further  boxes of its header
std::string jp2_file(const std::string& further) {
  const std::string size("\0\0\0\5\0\0\0\7\0\1\x0b\7\0\0", 14), grey("\1\0\0\0\0\0\x11", 7);
  return jp2_box("jP  ", "\r\n\x87\n") + jp2_box("ftyp", std::string("jp2 \0\0\0\0jp2 ", 12)) +
         jp2_box("jp2h", jp2_box("ihdr", size) + jp2_box("colr", grey) + further) +
         jp2_box("jp2c", std::string(kJpeg2000));
}

TEST(Jpeg2000Pixels, OfAJp2FileTheCodestreamIsRead) {
  const std::vector<std::uint16_t> expected = pixels_of<std::uint16_t>(kOfJpeg2000, {std::string(kJpeg2000)});
  const std::string file = jp2_file("");
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {file}), expected);
  EXPECT_EQ(pixels_of<std::uint16_t>(kOfJpeg2000, {file + '\0'}), expected) << "of even length";
  for (const std::size_t bytes : {std::size_t{13}, std::size_t{40}, file.size() - 60})
    expect_error(ErrorKind::kInput, "cannot be decoded",
                 [&] { pixels_of<std::uint16_t>(kOfJpeg2000, {file.substr(0, bytes)}); });
}

TEST(Jpeg2000Pixels, ThoseOfAPaletteAreNoGreyValues) {
  const std::string entries("\0\2\1\x0b\0\1\0\2", 8), of_first("\0\0\1\0", 4);  // two, of one column of 12 bits
  expect_error(ErrorKind::kInput, "cannot be decoded", [&] {
    pixels_of<std::uint16_t>(kOfJpeg2000, {jp2_file(jp2_box("pclr", entries) + jp2_box("cmap", of_first))});
  });
}

}  // namespace
}  // namespace voxshard
