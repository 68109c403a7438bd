// Images: PNG, JPEG and TIFF of every kind that is read, and every way in which they are broken.
#include "io/image/image.h"

#include "io/image/image_resize.h"
#include "tests/io/dicom_files.h"
#include "tests/io/image/image_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::vector<int> levels(const Tensor& rgb) {
  const auto* v = rgb.as<std::uint8_t>();
  return {v, v + rgb.count()};
}

Tensor read(const ScratchFolder& dir, const std::string& name, const std::string& bytes, DType dtype = DType::kU8) {
  write_bytes(dir.path() / name, bytes);
  return read_rgb(dir.path() / name, {.dtype = dtype});
}

TEST(Image, GreyBecomesThreeEqualChannelsAndColourIsRedFirst) {
  ScratchFolder dir;
  const ImageSpec grey{.width = 2, .height = 1}, colour{.width = 1, .height = 2, .channels = 3};
  const std::vector<int> rgb = {250, 130, 10, 20, 140, 200}, greys = {7, 7, 7, 201, 201, 201};
  EXPECT_EQ(levels(read(dir, "a.png", png_bytes(grey, {7, 201}))), greys);
  EXPECT_EQ(levels(read(dir, "a.tif", tiff_bytes(grey, {7, 201}))), greys);
  EXPECT_EQ(levels(read(dir, "b.png", png_bytes(colour, rgb))), rgb);
  EXPECT_EQ(levels(read(dir, "b.tif", tiff_bytes(colour, rgb))), rgb);
  EXPECT_EQ(read(dir, "b.png", png_bytes(colour, rgb)).shape(), (Shape{2, 1, 3}));
}

TEST(Image, SixteenBitsAreKeptAsF32AndRoundedAsU8) {
  ScratchFolder dir;
  const std::vector<int> deep = {0, 25700, 65535, 385, 386};  // 385 / 257 = 1.498, 386 / 257 = 1.502
  ImageSpec spec{.width = 5, .height = 1, .bits = 16};
  for (const std::string& bytes : {png_bytes(spec, deep), tiff_bytes(spec, deep)}) {
    const Tensor u8 = read(dir, "a", bytes), f32 = read(dir, "a", bytes, DType::kF32);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(u8.as<std::uint8_t>()[3 * i], (std::vector<int>{0, 100, 255, 1, 2}[i]));
      EXPECT_NEAR(f32.as<float>()[3 * i], deep[i] / 65535.0, 1e-7);
    }
  }
  spec.big_endian = true;
  EXPECT_EQ(read(dir, "a", tiff_bytes(spec, deep)).as<std::uint8_t>()[3], 100);
}

TEST(Image, AlphaIsDroppedAndColourBelowItKept) {
  ScratchFolder dir;
  const ImageSpec spec{.width = 2, .height = 1, .channels = 4};
  EXPECT_EQ(levels(read(dir, "a.png", png_bytes(spec, {10, 20, 30, 0, 40, 50, 60, 255}))),
            (std::vector<int>{10, 20, 30, 40, 50, 60}));
}

/// Four flat quarters, a b over c d, large enough for JPEG to keep them apart.
constexpr int kQuarter[] = {20, 90, 160, 230};
constexpr int kWide = 96, kHigh = 64;

std::vector<int> quarters(int channels) {
  std::vector<int> values;
  for (int y = 0; y < kHigh; ++y)
    for (int x = 0; x < kWide; ++x)
      for (int c = 0; c < channels; ++c) values.push_back(kQuarter[2 * (y >= kHigh / 2) + (x >= kWide / 2)]);
  return values;
}

/// Returns the quarters of the upright image (top left, top right, bottom left, bottom right) as letters of the stored
/// ones.
std::string corners(const Tensor& rgb) {
  const std::int64_t height = rgb.shape()[0], width = rgb.shape()[1];
  std::string text;
  for (const std::int64_t y : {height / 4, 3 * height / 4})
    for (const std::int64_t x : {width / 4, 3 * width / 4}) {
      const int value = rgb.as<std::uint8_t>()[3 * (y * width + x)];
      for (int q = 0; q < 4; ++q)
        if (std::abs(value - kQuarter[q]) < 8) text += static_cast<char>('a' + q);
    }
  return text;
}

TEST(Image, EveryExifOrientationIsTurnedUpright) {
  ScratchFolder dir;
  Tensor stored(DType::kU8, {kHigh, kWide, 3});
  const auto values = quarters(3);
  std::copy(values.begin(), values.end(), stored.as<std::uint8_t>());
  write_rgb(dir.path() / "stored.jpg", stored);
  const std::string jpeg = read_bytes(dir.path() / "stored.jpg");
  const char* upright[] = {"abcd", "abcd", "badc", "dcba", "cdab", "acbd", "cadb", "dbca", "bdac"};
  for (int orientation = 0; orientation <= 8; ++orientation) {
    const ImageSpec spec{.width = kWide, .height = kHigh, .orientation = orientation};
    for (const std::string& bytes : {orientation > 0 ? jpeg_with_orientation(jpeg, orientation) : jpeg,
                                     png_bytes(spec, quarters(1)), tiff_bytes(spec, quarters(1))}) {
      const Tensor rgb = read(dir, "a", bytes);
      const ImageHeader h = read_image_header(dir.path() / "a");
      EXPECT_EQ(corners(rgb), upright[orientation]) << format_name(h.format) << " " << orientation;
      EXPECT_EQ(rgb.shape(), (Shape{h.height, h.width, 3}));
      EXPECT_EQ(h.width, orientation >= 5 ? kHigh : kWide);
    }
  }
}

TEST(Image, SixteenBitTiffsAreTurnedToo) {
  ScratchFolder dir;
  auto values = quarters(1);
  for (int& v : values) v *= 257;
  const ImageSpec spec{.width = kWide, .height = kHigh, .bits = 16, .orientation = 6};
  EXPECT_EQ(corners(read(dir, "a.tif", tiff_bytes(spec, values))), "cadb");
}

TEST(Image, AHeaderSaysWhatTheFileHolds) {
  ScratchFolder dir;
  write_bytes(dir.path() / "a.png", png_bytes({.width = 7, .height = 5, .channels = 4, .bits = 16}, {1}));
  const ImageHeader h = read_image_header(dir.path() / "a.png");
  EXPECT_EQ(h.format, ImageFormat::kPng);
  EXPECT_EQ(h.width, 7);
  EXPECT_EQ(h.height, 5);
  EXPECT_EQ(h.channels, 4);
  EXPECT_EQ(h.bits, 16);
}

TEST(Image, CutOffFilesAreRefusedWhereverTheyEnd) {
  ScratchFolder dir;
  Tensor stored(DType::kU8, {kHigh, kWide, 3});
  for (std::int64_t i = 0; i < stored.count(); ++i)
    stored.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * i % 251);
  for (const std::string name : {"a.jpg", "a.png", "a.tif"}) {
    write_rgb(dir.path() / name, stored);
    const std::string whole = read_bytes(dir.path() / name);
    for (std::size_t part = 1; part < 20; ++part) {
      write_bytes(dir.path() / name, whole.substr(0, whole.size() * part / 20));
      expect_error(ErrorKind::kInput, name, [&] { read_rgb(dir.path() / name); });
      expect_error(ErrorKind::kInput, name, [&] { read_image_header(dir.path() / name); });
    }
  }
}

TEST(Image, DamagedBytesGiveAImageOrAnErrorThatNamesTheFile) {
  ScratchFolder dir;
  Tensor stored(DType::kU8, {24, 20, 3});
  int errors = 0;
  for (const std::string name : {"a.jpg", "a.png", "a.tif"}) {
    write_rgb(dir.path() / name, stored);
    const std::string whole = read_bytes(dir.path() / name);
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
      write_bytes(dir.path() / name, bytes);
      try {
        read_rgb(dir.path() / name, {.most_pixels = 1 << 16});
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kInput);
        EXPECT_THAT(e.what(), testing::HasSubstr(name));
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 10);
}

TEST(Image, WhatIsNoImageIsSaidToBeNone) {
  ScratchFolder dir;
  const auto path = [&](const std::string& name) { return dir.path() / name; };
  write_bytes(path("empty.png"), "");
  write_bytes(path("text.png"), "not a picture");
  write_bytes(path("float.tif"), tiff_bytes({.width = 2, .height = 2, .bits = 32}, {1}, 3));
  write_bytes(path("bits.tif"), tiff_bytes({.width = 2, .height = 2, .bits = 32}, {1}));
  fs::create_directory(path("folder.png"));
  expect_error(ErrorKind::kInput, "missing.png: cannot be read: No such file", [&] { read_rgb(path("missing.png")); });
  expect_error(ErrorKind::kInput, "empty.png: is empty", [&] { read_rgb(path("empty.png")); });
  expect_error(ErrorKind::kInput, "text.png: is no PNG", [&] { read_rgb(path("text.png")); });
  expect_error(ErrorKind::kInput, "folder.png: cannot be read: it is a folder", [&] { read_rgb(path("folder.png")); });
  expect_error(ErrorKind::kInput, "float.tif: has signed or floating-point", [&] { read_rgb(path("float.tif")); });
  expect_error(ErrorKind::kInput, "bits.tif: has 32 bits", [&] { read_rgb(path("bits.tif")); });
}

TEST(Image, DicomFilesAreRefusedBeforeOpenCvChoosesADecoderWhateverTheirName) {
  ScratchFolder dir;
  const std::string dicom = dicom_bytes({}, {1, 2, 3, 4});
  for (const std::string name : {"a.png", "a.jpg", "a.tif"}) {
    write_bytes(dir.path() / name, dicom);
    const std::string said = name + ": is a DICOM file, no PNG, JPEG or TIFF";
    expect_error(ErrorKind::kInput, said, [&] { read_rgb(dir.path() / name); });
    expect_error(ErrorKind::kInput, said, [&] { read_image_header(dir.path() / name); });
  }
  write_bytes(dir.path() / "bare.png", dicom.substr(132));
  expect_error(ErrorKind::kInput, "bare.png: is no PNG", [&] { read_rgb(dir.path() / "bare.png"); });
  write_bytes(dir.path() / "bitmap.png", "BM" + std::string(200, '\0'));
  expect_error(ErrorKind::kInput, "bitmap.png: is no PNG", [&] { read_rgb(dir.path() / "bitmap.png"); });
}

TEST(Image, ATiffWithTheMarkOfADicomFileIsDecodedAsATiff) {
  ScratchFolder dir;
  std::string bytes = tiff_bytes({.width = 64, .height = 4}, {7});
  bytes.replace(128, 4, "DICM");
  const std::vector<int> values = levels(read(dir, "a.tif", bytes));
  for (const char level : std::string("DICM\a")) EXPECT_THAT(values, testing::Contains(int{level}));
}

TEST(Image, AHeaderThatPromisesTooMuchIsRefusedBeforeDecoding) {
  ScratchFolder dir;
  write_bytes(dir.path() / "bomb.png", png_bytes({.width = 1, .height = 100000}, {0}, 1000000));
  expect_error(ErrorKind::kInput, "bomb.png: has 1000000 x 100000 pixels", [&] { read_rgb(dir.path() / "bomb.png"); });
  write_bytes(dir.path() / "a.png", png_bytes({.width = 4, .height = 4}, {0}));
  EXPECT_EQ(read_rgb(dir.path() / "a.png", {.most_pixels = 16}).shape()[0], 4);
  expect_error(ErrorKind::kInput, "at most 15", [&] { read_rgb(dir.path() / "a.png", {.most_pixels = 15}); });
}

TEST(Image, PixelsComeBackAndBytesAreReproducible) {
  ScratchFolder dir;
  Tensor rgb(DType::kU8, {5, 7, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 2);
  for (const std::string ending : {".png", ".tif", ".PNG"}) {
    write_rgb(dir.path() / ("a" + ending), rgb);
    write_rgb(dir.path() / ("b" + ending), rgb);
    EXPECT_EQ(read_bytes(dir.path() / ("a" + ending)), read_bytes(dir.path() / ("b" + ending)));
    EXPECT_TRUE(compare(read_rgb(dir.path() / ("a" + ending)).view(), rgb.view()).bit_equal);
  }
  expect_error(ErrorKind::kOutput, "cannot write", [&] { write_rgb(dir.path() / "no" / "a.png", rgb); });
  expect_error(ErrorKind::kOutput, "ends in .png", [&] { write_rgb(dir.path() / "a.gif", rgb); });
}

TEST(Image, AShrunkImageIsTheMeanOfWhatEachPixelCovers) {
  Tensor rgb(DType::kF32, {2, 4, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<float>()[i] = static_cast<float>(i);
  const Tensor half = resized(rgb, 1, 2);
  EXPECT_EQ(half.shape(), (Shape{1, 2, 3}));
  EXPECT_FLOAT_EQ(half.as<float>()[0], (0 + 3 + 12 + 15) / 4.0f);
  EXPECT_FLOAT_EQ(half.as<float>()[5], (8 + 11 + 20 + 23) / 4.0f);
}

TEST(Image, AGrownFlatImageStaysFlat) {
  Tensor rgb(DType::kF32, {3, 2, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i) rgb.as<float>()[i] = 0.25f;
  const Tensor large = resized(rgb, 7, 11);
  for (std::int64_t i = 0; i < large.count(); ++i) EXPECT_FLOAT_EQ(large.as<float>()[i], 0.25f);
}

}  // namespace
}  // namespace voxshard
