// Irregular and tilted series on upright grids: Gaussian spheres keep their place.
#include "io/dicom/series_resample.h"

#include <cmath>

#include "io/volume/dicom.h"
#include "io/volume/volume.h"
#include "tests/io/dicom_files.h"
#include "tests/io/spheres.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using Vector = std::array<double, 3>;

const std::vector<Sphere> kSpheres = {{{20, 22, 18}, 6}, {{44, 30, 30}, 8}, {{30, 46, 42}, 10}};
constexpr double kAir = -1000;

/// Writes slices of 64 x 64 pixels of 1 mm whose first voxels lie at these places.
void write_scan(const fs::path& folder, const std::vector<Vector>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    DicomSpec spec{.instance = "1.2.3.9." + std::to_string(i)};
    spec.rows = spec.columns = 64, spec.pixel_spacing = "1\\1", spec.position = places[i], spec.intercept = "0";
    std::vector<std::int16_t> pixels;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        pixels.push_back(static_cast<std::int16_t>(
            std::lround(kAir + light_of(kSpheres, {places[i][0] + x, places[i][1] + y, places[i][2]}))));
    write_bytes(folder / std::to_string(i), dicom_bytes(spec, pixels));
  }
}

/// Expects the scan to be refused with `code`, and its spheres at their places when it is resampled.
void expect_mended(const std::vector<Vector>& places, const char* code) {
  ScratchFolder dir;
  write_scan(dir.path(), places);
  EXPECT_EQ(read_volume_info(dir.path()).problem_code, code);
  EXPECT_THROW(read_image(dir.path()), Error);
  const VolumeFormats mending = volume_formats_with(IrregularSlices::kResample);
  const VolumeInfo info = read_volume_info(dir.path(), mending);
  EXPECT_TRUE(info.readable);
  EXPECT_THAT(info.warning, HasSubstr("W_RESAMPLED"));
  const Volume volume = read_image(dir.path(), mending);
  EXPECT_TRUE(same_geometry(volume.geometry, info.geometry, 0));
  expect_spheres(volume, kSpheres, kAir);
}

std::vector<Vector> upright(const std::vector<double>& z) {
  std::vector<Vector> places;
  for (const double one : z) places.push_back({0, 0, one});
  return places;
}

TEST(SeriesResample, ARegularScanKeepsItsSpheres) {
  ScratchFolder dir;
  std::vector<double> z;
  for (int i = 0; i < 31; ++i) z.push_back(2 * i);
  write_scan(dir.path(), upright(z));
  expect_spheres(read_image(dir.path()), kSpheres, kAir);
}

TEST(SeriesResample, IrregularDistancesAreMended) {
  std::vector<double> z = {0};
  while (z.back() < 60) z.push_back(z.back() + (z.size() % 3 == 0 ? 1.5 : 2.25));
  expect_mended(upright(z), "E_IRREGULAR");
}

TEST(SeriesResample, AMissingSliceIsInterpolated) {
  std::vector<double> z;
  for (int i = 0; i < 31; ++i)
    if (i != 3) z.push_back(2 * i);  // beside the spheres: within one, 4 mm between slices cut off its top
  expect_mended(upright(z), "E_GAP");
}

TEST(SeriesResample, ATiltedGantryIsStraightened) {
  std::vector<Vector> places;
  for (int i = 0; i < 31; ++i) places.push_back({0, -8 + 0.5 * i, 2.0 * i});  // 14 degrees
  expect_mended(places, "E_TILT");
}

TEST(SeriesResample, WhatElseIsWorthSayingIsSaidToo) {
  ScratchFolder dir;
  for (int i = 0; i < 3; ++i)
    write_bytes(dir.path() / std::to_string(i),
                dicom_bytes({.instance = "1.2.3.1", .position = {{0, 0.5 * i, 2.0 * i}}}, {1, 2, 3, 4}));
  EXPECT_THAT(read_volume_info(dir.path(), volume_formats_with(IrregularSlices::kResample)).warning,
              testing::AllOf(testing::StartsWith("W_RESAMPLED it was scanned with a tilted gantry"),
                             HasSubstr("; W_UIDS 2 of its files repeat")));
}

TEST(SeriesResample, TheGridHoldsAllPixelsOfATiltedScan) {
  ScratchFolder dir;
  write_scan(dir.path(), {{0, 0, 0}, {0, 3, 2}, {0, 6, 4}});
  const Volume volume = read_image(dir.path(), volume_formats_with(IrregularSlices::kResample));
  EXPECT_THAT(volume.geometry.size, testing::ElementsAre(64, 70, 3));
  EXPECT_THAT(volume.geometry.origin, testing::ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace voxshard
