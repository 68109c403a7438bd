// The rules by which slices become series and grids, on headers made by hand.
#include "io/dicom/dicom_series.h"

#include <cmath>
#include <numbers>

#include "libcore/base/coded_text.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Vector = std::array<double, 3>;

TEST(DicomSeries, AFolderOfManyFilesIsParsedOnce) {
  ScratchFolder dir;
  for (int i = 0; i <= 20'000; ++i) std::ofstream(dir / std::to_string(i));
  EXPECT_EQ(find_dicom_series(dir.path()), find_dicom_series(dir.path()));
}

DicomHeader slice_at(const Vector& position, const std::string& name) {
  return {.file = name,
          .sop_class = "1.2.840.10008.5.1.4.1.1.2",
          .sop_instance = "1." + name,
          .study = "1.2",
          .series = "1.2.3",
          .modality = "CT",
          .kind = "AXIAL",
          .thickness_mm = 9,
          .rows = 4,
          .columns = 3,
          .colours = "MONOCHROME2",
          .bits = 16,
          .frames = {{.position = position,
                      .orientation = {{1, 0, 0, 0, 1, 0}},
                      .spacing = {{0.5, 0.75}},
                      .slope = 1,
                      .intercept = -1024}}};
}

/// Slices at these places along z, in files "a", "b", "c" ...
std::vector<DicomHeader> slices(const std::vector<double>& z) {
  std::vector<DicomHeader> headers;
  for (std::size_t i = 0; i < z.size(); ++i)
    headers.push_back(slice_at({-10, -20, z[i]}, std::string("scan/") + static_cast<char>('a' + i)));
  return headers;
}

DicomSeries only(const std::vector<DicomHeader>& headers) {
  DicomFolder found = sort_dicom_series(headers);
  EXPECT_EQ(found.series.size(), 1U);
  return found.series.empty() ? DicomSeries{} : found.series.front();
}

void expect_refused(const std::vector<DicomHeader>& headers, const char* code, const std::string& piece) {
  const DicomSeries series = only(headers);
  EXPECT_STREQ(series.problem_code, code);
  EXPECT_THAT(series.problem, HasSubstr(piece));
}

TEST(DicomSeries, SlicesAreOrderedByPositionAndTheSpacingIsThatOfPositions) {
  const DicomSeries series = only(slices({10, 0, 5, 15}));  // SliceThickness says 9
  EXPECT_EQ(series.problem, "");
  EXPECT_THAT(series.grid.size, ElementsAre(3, 4, 4)) << "columns, rows, slices";
  EXPECT_THAT(series.grid.spacing, ElementsAre(0.75, 0.5, 5)) << "between columns, rows, slices";
  EXPECT_THAT(series.grid.origin, ElementsAre(-10, -20, 0));
  std::vector<std::string> names;
  for (const DicomSlice& slice : series.slices) names.push_back(series.files[slice.file].path.filename());
  EXPECT_THAT(names, ElementsAre("b", "c", "a", "d"));
}

TEST(DicomSeries, AnObliquePlaneKeepsItsDirections) {
  // Sagittal slices: a row goes to the back, a column goes down; their normal is -x.
  auto headers = slices({0, 1});
  for (std::size_t i = 0; i < 2; ++i) {
    headers[i].frames[0].orientation = {{0, 1, 0, 0, 0, -1}};
    headers[i].frames[0].position = {{static_cast<double>(4 * i), 7, 9}};
  }
  const DicomSeries series = only(headers);
  EXPECT_EQ(series.problem, "");
  EXPECT_THAT(series.grid.direction, ElementsAre(0, 0, -1, 1, 0, 0, 0, -1, 0));
  EXPECT_THAT(series.grid.origin, ElementsAre(4, 7, 9)) << "the first slice along the normal";
  EXPECT_DOUBLE_EQ(series.grid.spacing[2], 4);
}

TEST(DicomSeries, MissingSlicesAreCountedAndTheirPlaceIsNamed) {
  expect_refused(
      slices({0, 5, 10, 25, 30}), "E_GAP",
      "lacks 2 slices where its spacing is 5.00 mm; the first gap is between slices 3 and 4, at 10.00 mm and 25.00 mm");
}

TEST(DicomSeries, DoubledSlicesAreRefused) {
  expect_refused(slices({0, 5, 5, 10}), "E_DOUBLED", "1 slice at a place where another one lies, the first at 5.00 mm");
}

TEST(DicomSeries, IrregularDistancesAreRefusedWithTheirRange) {
  expect_refused(slices({0, 5, 11.5, 16}), "E_IRREGULAR", "4.50 mm to 6.50 mm, the widest between slices 2 and 3");
}

TEST(DicomSeries, PositionsThatWereRoundedAreRegular) {
  const DicomSeries series = only(slices({0, 0.6, 1.3, 1.9, 2.5}));  // 0.625 mm, to one decimal
  EXPECT_EQ(series.problem, "");
  EXPECT_DOUBLE_EQ(series.grid.spacing[2], 0.625);
}

TEST(DicomSeries, ATiltedGantryIsRefusedWithItsAngle) {
  auto headers = slices({0, 5, 10});
  const double shift = 5 * std::tan(12 * std::numbers::pi / 180);
  for (std::size_t i = 0; i < 3; ++i)
    headers[i].frames[0].position = {{-10, -20 + shift * static_cast<double>(i), 5.0 * static_cast<double>(i)}};
  expect_refused(headers, "E_TILT", "12.00 degrees");
}

TEST(DicomSeries, SlicesWithoutAPlaceOrAPixelSizeAreRefused) {
  auto headers = slices({0, 5});
  headers[1].frames[0].position.reset();
  expect_refused(headers, "E_POSITION", "ImagePositionPatient");
  headers = slices({0});
  headers[0].frames[0].spacing.reset();
  expect_refused(headers, "E_SPACING", "PixelSpacing");
  headers[0].frames[0].spacing = {{1e-300, 1}};
  expect_refused(headers, "E_SPACING", "PixelSpacing");
  headers = slices({0, 5});
  for (DicomHeader& h : headers) h.frames[0].orientation = {{1, 0, 0, 0.3, 0.9, 0}};
  expect_refused(headers, "E_GEOMETRY", "right angle");
  headers = slices({0});
  headers[0].samples = 3, headers[0].colours = "RGB";
  expect_refused(headers, "E_READ", "holds RGB pixels");
}

TEST(DicomSeries, OneSeriesUidWithTwoReconstructionsIsTwoSeries) {
  auto headers = slices({0, 5, 0, 5});
  headers[2].kernel = headers[3].kernel = "BONE";
  DicomFolder found = sort_dicom_series(headers);
  ASSERT_EQ(found.series.size(), 2U);
  for (const DicomSeries& series : found.series) EXPECT_EQ(series.problem, "");
  EXPECT_NE(found.series[0].key, found.series[1].key);
}

TEST(DicomSeries, AcquisitionsAreSplitOnlyWhereTheirSlicesCoincide) {
  auto headers = slices({0, 5, 10, 15});
  headers[2].acquisition = headers[3].acquisition = "2";
  EXPECT_EQ(only(headers).slices.size(), 4U) << "one scan in two acquisitions";
  headers = slices({0, 5, 0, 5});
  headers[2].acquisition = headers[3].acquisition = "2";
  const DicomFolder found = sort_dicom_series(headers);
  ASSERT_EQ(found.series.size(), 2U);
  EXPECT_EQ(found.series[0].problem + found.series[1].problem, "");
}

TEST(DicomSeries, ASeriesOverTwoFoldersIsOneVolume) {
  auto headers = slices({0, 5, 10});
  headers[1].file = "scan/more/b";
  headers[2].file = "scan/rest/c";
  const DicomSeries series = only(headers);
  EXPECT_EQ(series.problem, "");
  EXPECT_EQ(series.folder, "scan");
}

TEST(DicomSeries, SeriesWhoseUidsWereRemovedAreToldApartByTheirFolders) {
  auto headers = slices({0, 5, 0, 5});
  for (std::size_t i = 0; i < 4; ++i) {
    headers[i].series.clear();
    if (i > 1) headers[i].file = "other" / headers[i].file.filename();
  }
  const DicomFolder found = sort_dicom_series(headers);
  ASSERT_EQ(found.series.size(), 2U);
  EXPECT_THAT(found.series[0].warning, HasSubstr("W_UIDS"));
}

TEST(DicomSeries, FilesThatRepeatAUidAreReadAndCounted) {
  auto headers = slices({0, 5, 10, 15});
  headers[2].sop_instance = headers[3].sop_instance = headers[0].sop_instance;
  const DicomSeries series = only(headers);
  EXPECT_EQ(series.problem, "");
  EXPECT_EQ(
      series.warning,
      "W_UIDS 2 of its files repeat the SOPInstanceUID of another one: it is read, but what refers to such a file "
      "may mean either");
  headers = slices({0});
  headers[0].frames.assign(2, headers[0].frames[0]);
  headers[0].frames[1].position = {{-10, -20, 5}};
  EXPECT_EQ(only(headers).warning, "") << "two frames of one file";
}

TEST(DicomSeries, EverythingWorthSayingIsSaid) {
  auto headers = slices({0, 5});
  for (DicomHeader& h : headers) h.modality = "PT", h.pet = PetHeader{.units = "BQML"}, h.study.clear();
  const auto said = coded_texts(only(headers).warning);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].code, "W_SUV");
  EXPECT_EQ(said[1].code, "W_UIDS");
  EXPECT_THAT(said[1].text, HasSubstr("removed or are incomplete"));
  headers = slices({0, 5});
  headers[1].sop_instance = headers[0].sop_instance;
  for (DicomHeader& h : headers) h.frames[0].slope.reset();
  EXPECT_THAT(only(headers).warning,
              testing::AllOf(HasSubstr("W_UIDS 1 of its files repeats"), HasSubstr("W_RESCALE")));
}

TEST(DicomSeries, WhatIsNoSliceIsLeftOutAndCounted) {
  auto headers = slices({0, 5, 0, 0, 0});
  headers[2].kind = "LOCALIZER";
  headers[3].sop_class = "1.2.840.10008.5.1.4.1.1.7";
  headers[4].rows = headers[4].columns = 0;
  const DicomFolder found = sort_dicom_series(headers);
  EXPECT_EQ(found.series.size(), 1U);
  EXPECT_THAT(found.left_out, ElementsAre(std::pair("localizer", 1), std::pair("object without an image", 1),
                                          std::pair("secondary capture", 1)));
}

TEST(DicomSeries, TheKeyHoldsNothingOfTheNames) {
  auto headers = slices({0, 5});
  const std::string key = only(headers).key;
  for (DicomHeader& h : headers) h.file = "Planted Name" / h.file.filename();
  EXPECT_EQ(only(headers).key, key) << "the same series elsewhere";
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(key.size(), 12U);
}

}  // namespace
}  // namespace voxshard
