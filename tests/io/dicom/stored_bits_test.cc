// Pixels that are not compressed, of which fewer bits are stored than allocated: their sign, and the bits above it.
#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

/// Returns the values of a slice of 2 x 2 pixels with an intercept of 0.
std::vector<float> values_of_bits(DicomSpec spec, const std::vector<int>& stored) {
  spec.intercept = "0";
  const ScratchFolder dir;
  write_bytes(dir.path() / "1.dcm", dicom_bytes(spec, {stored.begin(), stored.end()}));
  const Volume volume = read_image(dir.path());
  const auto* v = volume.voxels.as<float>();
  return {v, v + volume.voxels.count()};
}

TEST(StoredBits, TheSignOf12BitsIsExtendedWhereTheWriterLeftItOut) {
  EXPECT_THAT(values_of_bits({.bits_stored = 12}, {0xfff, 0xc18, 40, 2047}), ElementsAre(-1, -1000, 40, 2047));
  EXPECT_THAT(values_of_bits({.bits_stored = 12}, {-1, -1000, 40, 2047}), ElementsAre(-1, -1000, 40, 2047))
      << "it is extended already";
}

TEST(StoredBits, APixelWithABitAboveTheStoredOnesLeavesAllAsTheyAre) {
  EXPECT_THAT(values_of_bits({.bits_stored = 12}, {0xfff, -2000, 40, 0}), ElementsAre(4095, -2000, 40, 0));
  EXPECT_THAT(values_of_bits({.is_signed = 0, .bits_stored = 12}, {0xfff, 0x1000, 40, 0}),
              ElementsAre(4095, 4096, 40, 0));
}

TEST(StoredBits, OverlaysInTheBitsAboveAreNoPartOfTheValues) {
  EXPECT_THAT(values_of_bits({.is_signed = 0, .bits_stored = 12, .overlay_bit = 12}, {0xfff, 0x1028, 40, 0x1000}),
              ElementsAre(4095, 40, 40, 0));
  EXPECT_THAT(values_of_bits({.bits_stored = 12, .overlay_bit = 15}, {0xfff, 0x8c18, 40, 0x8028}),
              ElementsAre(-1, -1000, 40, 40));
  EXPECT_THAT(values_of_bits({.is_signed = 0, .bits_stored = 12, .overlay_bit = 0}, {0xfff, 0x1000, 40, 0}),
              ElementsAre(4095, 4096, 40, 0))
      << "an overlay with data of its own";
}

TEST(StoredBits, AHighestBitThatIsNotTheOneAboveTheOthersIsRefused) {
  for (const std::uint16_t is_signed : {std::uint16_t{0}, std::uint16_t{1}})
    expect_error(ErrorKind::kInput, "says that 12 of 16 bits are stored, the highest of them bit 15 in place of 11",
                 [&] {
                   values_of_bits({.is_signed = is_signed, .bits_stored = 12, .high_bit = 15}, {0, 16, 32, 48});
                 });
  expect_error(ErrorKind::kInput, "says that 20 of 16 bits are stored", [] {
    values_of_bits({.bits_stored = 20}, {0, 1, 2, 3});
  });
}

}  // namespace
}  // namespace voxshard
