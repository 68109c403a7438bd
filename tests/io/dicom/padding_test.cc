// What a CT stores outside of its round field of view enters as air, not as metal or as a value below all air: pixels
// of PixelPaddingValue, and of the value of all corners.
#include <algorithm>

#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

/// Returns the values of a slice of 2 x 2 pixels.
std::vector<float> values_of(const DicomSpec& spec, const std::vector<std::int16_t>& stored) {
  ScratchFolder dir;
  write_bytes(dir.path() / "1.dcm", dicom_bytes(spec, stored));
  const Volume volume = read_image(dir.path());
  const auto* v = volume.voxels.as<float>();
  return {v, v + volume.voxels.count()};
}

TEST(DicomPadding, PixelsBelowAllAirAreAir) {
  EXPECT_THAT(values_of({.intercept = "-1024", .padding = -2000}, {-2000, 0, 1064, -500}),
              ElementsAre(-1024, -1024, 40, -1524))
      << "-3024 HU; what is not padded stays, noise below air too";
  EXPECT_THAT(values_of({.slope = "2", .intercept = "0", .padding = -32768}, {-32768, 0, 20, -500}),
              ElementsAre(-1024, 0, 40, -1000));
}

TEST(DicomPadding, PixelsAboveAllMetalAreAir) {
  // 63536, which is -2000 as 16 bits with a sign.
  EXPECT_THAT(values_of({.is_signed = 0, .intercept = "-1024", .padding = 63536}, {-2000, 0, 1064, 4095}),
              ElementsAre(-1024, -1024, 40, 3071));
}

TEST(DicomPadding, AHeaderThatMistakesTheSignMeansTheSameBits) {
  std::string bytes = dicom_bytes({.intercept = "-1024", .padding = -2000}, {-2000, 0, 1064, -500});
  const std::size_t at = bytes.find(std::string("\x28\x00\x20\x01SS", 6));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 4] = 'U';
  ScratchFolder dir;
  write_bytes(dir.path() / "1.dcm", bytes);
  EXPECT_EQ(read_image(dir.path()).voxels.as<float>()[0], -1024);
}

TEST(DicomPadding, ALimitMakesItARange) {
  for (const auto& [padding, limit] : {std::pair(-2000, -1500), std::pair(-1500, -2000)})
    EXPECT_THAT(values_of({.padding = padding, .padding_limit = limit}, {-2000, -1700, -1500, -1499}),
                ElementsAre(-1024, -1024, -1024, -2523));
}

TEST(DicomPadding, ValuesThatTissueHasStay) {
  EXPECT_THAT(values_of({.intercept = "-1024", .padding = 0}, {0, 1, 2, 3}), ElementsAre(-1024, -1023, -1022, -1021))
      << "the padding is air already";
  EXPECT_THAT(values_of({.intercept = "0", .padding = 0}, {0, -1000, 40, 3}), ElementsAre(0, -1000, 40, 3))
      << "water has the value of the padding";
}

TEST(DicomPadding, EachFileHasItsOwn) {
  ScratchFolder dir;
  for (int i = 0; i < 2; ++i) {
    DicomSpec spec{.instance = "1.2.3." + std::to_string(i), .position = {{0, 0, 2.0 * i}}};
    if (i == 1) spec.padding = -2000;
    write_bytes(dir.path() / std::to_string(i), dicom_bytes(spec, {-2000, 0, 0, 0}));
  }
  const Volume volume = read_image(dir.path());
  EXPECT_EQ(volume.voxels.as<float>()[0], -3024) << "nobody says that it is padding";
  EXPECT_EQ(volume.voxels.as<float>()[4], -1024);
}

TEST(DicomPadding, OnlyHounsfieldUnitsHaveAnAir) {
  EXPECT_EQ(values_of({.modality = "MR", .intercept = "0", .padding = -2000}, {-2000, 0, 1, 2})[0], -2000);
  EXPECT_EQ(values_of({.rescale_type = "MGML", .padding = -2000}, {-2000, 0, 1, 2})[0], -3024) << "iodine in mg/ml";
  EXPECT_EQ(values_of({.rescale_type = "HU", .padding = -2000}, {-2000, 0, 1, 2})[0], -1024);
}

/// A slice of 3 x 3 pixels with these corners, and -1000, 0 and 40 HU in the cross between them.
std::vector<float> values_of_corners(DicomSpec spec, std::int16_t corner, std::int16_t last) {
  spec.rows = spec.columns = 3;
  return values_of(spec, {corner, 24, corner, 1024, 1064, 24, corner, 24, last});
}

TEST(DicomPadding, OneValueBelowAllAirInTheFourCornersIsAirWhateverTheHeaderSays) {
  for (const std::optional<int> named : {std::optional<int>(), std::optional(-32768)})
    EXPECT_THAT(values_of_corners({.padding = named}, -2000, -2000),
                ElementsAre(-1024, -1000, -1024, 0, 40, -1000, -1024, -1000, -1024));
}

TEST(DicomPadding, CornersThatDifferOrThatACtMeasuresStay) {
  EXPECT_EQ(values_of_corners({}, -2000, -1900)[0], -3024) << "no one value";
  EXPECT_EQ(values_of_corners({}, -100, -100)[0], -1124) << "noise of air may reach it";
  EXPECT_EQ(values_of_corners({}, 0, 0)[0], -1024);
  EXPECT_EQ(values_of_corners({}, 10, 10)[0], -1014);
  EXPECT_EQ(values_of_corners({.modality = "MR", .slope = "", .intercept = ""}, -2000, -2000)[0], -2000);
  EXPECT_EQ(values_of_corners({.rescale_type = "US"}, -2000, -2000)[0], -3024) << "another unit than HU";
  EXPECT_EQ(values_of_corners({.slope = "", .intercept = ""}, -2000, -2000)[0], -2000) << "it may be no HU at all";
}

TEST(DicomPadding, ARealScannersUnnamedPaddingIsAir) {
  const fs::path file = test_data() / "dicom_tricky" / "cornerstone3D" / "CTImage.dcm";
  REQUIRE_TEST_DATA(file);
  const Volume ct = read_image(file);
  const float* v = ct.voxels.as<float>();
  EXPECT_EQ(*std::min_element(v, v + ct.voxels.count()), -1024);
  // PixelPaddingValue is -32768; 55,772 pixels outside of the circle are -2000, counted in the stored bytes.
  EXPECT_EQ(std::count(v, v + ct.voxels.count(), -1024.0F), 55772 + 67) << "67 pixels of air were 0";
}

TEST(DicomPadding, ARealScannersPaddingIsAir) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi" / "ct-3slice";
  REQUIRE_TEST_DATA(folder);
  const Volume ct = read_image(folder);
  const float* v = ct.voxels.as<float>();
  const std::int64_t count = ct.voxels.count();
  EXPECT_EQ(*std::min_element(v, v + count), -1024);
  // 55,772 pixels of each of the 3 slices are -2000, counted in the stored bytes.
  EXPECT_GE(std::count(v, v + count, -1024.0F), 3 * 55772);
}

}  // namespace
}  // namespace voxshard
