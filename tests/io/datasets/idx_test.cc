// IDX files, whole and damaged: nothing is allocated that the file cannot hold.
#include "io/datasets/idx.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

std::string idx_bytes(const std::vector<std::uint32_t>& extents, const std::string& values, char type = 8) {
  std::string bytes = {0, 0, type, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xff);
  return bytes + values;
}

/// Two images of 2 x 3, labels 7 and 1.
struct IdxFolder : ScratchFolder {
  const std::string images = idx_bytes({2, 2, 3}, std::string("\x00\x01\x02\x03\x04\xff\x0a\x0b\x0c\x0d\x0e\x0f", 12));
  const std::string labels = idx_bytes({2}, "\x07\x01");
  void write(const std::string& image_bytes, const std::string& label_bytes, const std::string& ending = "") const {
    write_bytes(path() / ("train-images-idx3-ubyte" + ending), image_bytes);
    write_bytes(path() / ("train-labels-idx1-ubyte" + ending), label_bytes);
  }
  IdxImages read() const { return read_idx_images(find_idx(path(), IdxPart::kTrain).value()); }
  void expect_refused(const std::string& piece) const {
    expect_error(ErrorKind::kInput, piece, [&] { read(); });
  }
};

TEST(Idx, ImagesAndLabelsAreReadPlainAndGzipped) {
  for (const bool packed : {false, true}) {
    const IdxFolder dir;
    if (packed)
      dir.write(gzipped(dir.images, dir.path()), gzipped(dir.labels, dir.path()), ".gz");
    else
      dir.write(dir.images, dir.labels);
    const IdxImages read = dir.read();
    EXPECT_EQ(read.pixels.shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(read.pixels.as<std::uint8_t>()[5], 255);
    EXPECT_EQ(read.pixels.as<std::uint8_t>()[11], 15);
    EXPECT_EQ(read.labels, (std::vector<std::int32_t>{7, 1}));
  }
}

TEST(Idx, TheUsualNamesAreFound) {
  const ScratchFolder dir;
  EXPECT_FALSE(find_idx(dir.path(), IdxPart::kTest));
  write_bytes(dir.path() / "t10k-images.idx3-ubyte", "x");
  expect_error(ErrorKind::kInput, "t10k-labels-idx1-ubyte", [&] { find_idx(dir.path(), IdxPart::kTest); });
  write_bytes(dir.path() / "t10k-labels.idx1-ubyte.gz", "x");
  EXPECT_EQ(find_idx(dir.path(), IdxPart::kTest)->images, dir.path() / "t10k-images.idx3-ubyte");
  EXPECT_EQ(find_idx(dir.path(), IdxPart::kTest)->labels, dir.path() / "t10k-labels.idx1-ubyte.gz");
  EXPECT_FALSE(find_idx(dir.path(), IdxPart::kTrain));
}

TEST(Idx, WhatIsWrittenIsRead) {
  const IdxFolder dir;
  dir.write(dir.images, dir.labels);
  const Tensor pixels = dir.read().pixels;
  write_idx(dir.path() / "again", pixels);
  EXPECT_EQ(read_bytes(dir.path() / "again"), dir.images);
}

TEST(Idx, ACutOffFileIsNamed) {
  const IdxFolder dir;
  for (std::size_t length = 0; length < dir.images.size(); ++length) {
    dir.write(dir.images.substr(0, length), dir.labels);
    dir.expect_refused("train-images-idx3-ubyte");
  }
  dir.write(dir.images, dir.labels.substr(0, 9));
  dir.expect_refused("train-labels-idx1-ubyte");
}

TEST(Idx, ACutOffGzipStreamIsNamed) {
  const IdxFolder dir;
  const std::string packed = gzipped(dir.images, dir.path());
  for (const std::size_t length : {std::size_t{5}, std::size_t{20}, packed.size() - 9, packed.size() - 1}) {
    dir.write(packed.substr(0, length), gzipped(dir.labels, dir.path()), ".gz");
    dir.expect_refused("train-images-idx3-ubyte.gz");
  }
}

TEST(Idx, SurplusBytesAreRefused) {
  const IdxFolder dir;
  dir.write(dir.images + "x", dir.labels);
  dir.expect_refused("goes on behind");
}

TEST(Idx, ADifferentMagicIsRefused) {
  const IdxFolder dir;
  dir.write(idx_bytes({2, 2, 3}, std::string(48, 'x'), 0x0d), dir.labels);
  dir.expect_refused("unsigned bytes");
  dir.write(dir.labels, dir.labels);
  dir.expect_refused("of 1 axes; expected 3");
  dir.write("P5 28 28 255 and so on", dir.labels);
  dir.expect_refused("00 00 08");
}

TEST(Idx, AHeaderThatPromisesMoreThanTheFileHoldsAllocatesNothing) {
  const IdxFolder dir;
  dir.write(idx_bytes({60000, 28, 28}, "few"), dir.labels);
  dir.expect_refused("can hold");
  dir.write(idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, "few"), dir.labels);
  dir.expect_refused("promises more than");
  dir.write(gzipped(idx_bytes({1u << 12, 1u << 10, 1u << 10}, "few"), dir.path()), gzipped(dir.labels, dir.path()),
            ".gz");
  fs::remove(dir.path() / "train-images-idx3-ubyte");
  fs::remove(dir.path() / "train-labels-idx1-ubyte");
  dir.expect_refused("can hold");
}

TEST(Idx, ABombIsReadNoFurtherThanItsHeader) {
  const IdxFolder dir;
  const std::string bomb = dir.images + std::string(std::size_t{64} << 20, '\0');
  dir.write(gzipped(bomb, dir.path()), gzipped(dir.labels, dir.path()), ".gz");
  ASSERT_LT(fs::file_size(dir.path() / "train-images-idx3-ubyte.gz"), 100'000u);
  dir.expect_refused("goes on behind");
  EXPECT_EQ(read_idx_extents(dir.path() / "train-images-idx3-ubyte.gz", 3), (Shape{2, 2, 3}));
}

TEST(Idx, LabelsAndImagesBelongTogether) {
  const IdxFolder dir;
  dir.write(dir.images, idx_bytes({1}, "\x01"));
  dir.expect_refused("holds 1 labels for the 2 images");
  dir.write(dir.images, idx_bytes({3}, "\x01\x02\x03"));
  dir.expect_refused("holds 3 labels for the 2 images");
  dir.write(idx_bytes({0, 2, 3}, ""), idx_bytes({0}, ""));
  dir.expect_refused("holds no pixel");
  dir.write(idx_bytes({1, 1u << 17, 1}, std::string(1u << 17, 'x')), idx_bytes({1}, "\x01"));
  dir.expect_refused("sides of at most 65536");
}

}  // namespace
}  // namespace voxshard
