// Series of one scan are told from others, and one of them stands for it.
#include "io/dicom/same_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/dicom/dicom_series.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

struct Scan {
  std::string kernel = "B30f", acquisition = "2", study = "1.2";
  double step_mm = 5, first_mm = 0, length_mm = 100;
};

/// Returns the series of these scans, by key.
std::vector<DicomSeries> series_of(const std::vector<Scan>& scans) {
  std::vector<DicomSeries> all;
  for (std::size_t s = 0; s < scans.size(); ++s) {
    std::vector<DicomHeader> headers;
    for (double z = 0; z <= scans[s].length_mm; z += scans[s].step_mm) {
      DicomHeader h{.file = "s" + std::to_string(s) + "/" + std::to_string(z)};
      h.study = scans[s].study, h.series = "1.2." + std::to_string(s), h.modality = "CT";
      h.sop_class = "1.2.840.10008.5.1.4.1.1.2", h.sop_instance = "1", h.kernel = scans[s].kernel;
      h.acquisition = scans[s].acquisition, h.rows = h.columns = 4, h.colours = "MONOCHROME2", h.bits = 16;
      h.frames = {{.position = std::array<double, 3>{0, 0, scans[s].first_mm + z},
                   .orientation = std::array<double, 6>{1, 0, 0, 0, 1, 0},
                   .spacing = std::array<double, 2>{1, 1}}};
      headers.push_back(std::move(h));
    }
    for (DicomSeries& one : sort_dicom_series(std::move(headers)).series) all.push_back(std::move(one));
  }
  return all;
}

DicomFolder folder_of(std::vector<DicomSeries> series) {
  DicomFolder folder;
  folder.series = std::move(series);
  return folder;
}

std::vector<std::size_t> best_of(const std::vector<Scan>& scans) {
  return best_of_their_scans(folder_of(series_of(scans)));
}

TEST(SameScan, TheThinnestSlicesStandForAScan) {
  EXPECT_THAT(best_of({{.step_mm = 5}, {.step_mm = 1}, {.step_mm = 2}}), ElementsAre(1, 1, 1));
  EXPECT_THAT(best_of({{.kernel = "B70f"}, {.kernel = "B30f"}}), ElementsAre(1, 1)) << "the softer of two alike";
}

TEST(SameScan, ASeriesThatCannotBeReadIsNeverTheBest) {
  std::vector<DicomSeries> series = series_of({{.step_mm = 1}, {.step_mm = 5}});
  series[0].problem = "lacks slices";
  EXPECT_THAT(best_of_their_scans(folder_of(series)), ElementsAre(1, 1));
}

TEST(SameScan, OtherScansStayApart) {
  const Scan one{.step_mm = 1};
  EXPECT_THAT(best_of({one, {.acquisition = "3"}}), ElementsAre(0, 1)) << "a second phase";
  EXPECT_THAT(best_of({one, {.study = "1.3"}}), ElementsAre(0, 1));
  EXPECT_THAT(best_of({one, {.first_mm = 60}}), ElementsAre(0, 1)) << "another region";
  EXPECT_THAT(best_of({{.step_mm = 5}, {.step_mm = 1, .length_mm = 30}}), ElementsAre(0, 1)) << "a part of the scan";
  EXPECT_THAT(best_of({{.acquisition = ""}, {.acquisition = ""}}), ElementsAre(0, 1)) << "it is not said";
}

TEST(SameScan, SequencesOfMrAndTimesOfAPerfusionAndOtherUnitsStayApart) {
  const std::vector<DicomSeries> two = series_of({{.kernel = "B30f"}, {.kernel = "B70f"}});
  const auto best_with = [&](auto edit) {
    std::vector<DicomSeries> edited = two;
    edit(edited);
    return best_of_their_scans(folder_of(std::move(edited)));
  };
  EXPECT_THAT(best_with([](auto& s) { s[0].common.modality = s[1].common.modality = "MR"; }), ElementsAre(0, 1));
  EXPECT_THAT(best_with([](auto& s) { s[1].common.frames[0].temporal_position = 2; }), ElementsAre(0, 1));
  EXPECT_THAT(best_with([](auto& s) { s[1].common.frames[0].rescale_type = "MGML"; }), ElementsAre(0, 1)) << "iodine";
  EXPECT_THAT(best_with([](auto&) {}), ElementsAre(0, 0));
}

TEST(SameScan, PhasesThatScannersGiveOneNumberStayApartByTheirTimesOrBecauseTheyAreAlike) {
  EXPECT_THAT(best_of({{}, {}}), ElementsAre(0, 1)) << "nothing says that one is a version of the other";
  std::vector<DicomSeries> two = series_of({{.step_mm = 5}, {.step_mm = 1}});
  const auto best_at = [&](std::optional<std::array<double, 2>> a, std::optional<std::array<double, 2>> b) {
    two[0].acquired_s = a, two[1].acquired_s = b;
    return best_of_their_scans(folder_of(two));
  };
  const std::array<double, 2> native = {100, 108}, contrast = {140, 148};
  EXPECT_THAT(best_at(native, native), ElementsAre(1, 1));
  EXPECT_THAT(best_at(native, contrast), ElementsAre(0, 1));
  EXPECT_THAT(best_at(native, std::nullopt), ElementsAre(0, 1));
  EXPECT_THAT(best_at(std::nullopt, std::nullopt), ElementsAre(1, 1)) << "their numbers alone tell";
}

TEST(SameScan, TheSeriesThatLabelsReferToStandsForItsScan) {
  DicomFolder folder = folder_of(series_of({{.step_mm = 1}, {.step_mm = 5}, {.acquisition = "3"}}));
  EXPECT_EQ(best_of_their_scans(folder)[1], 0U);
  EXPECT_FALSE(series_of_one_scan(folder)) << "two phases";
  folder.labelled = {folder.series[1].common.series};
  EXPECT_THAT(best_of_their_scans(folder), ElementsAre(1, 1, 2));
  folder.series.pop_back();
  EXPECT_EQ(series_of_one_scan(folder), 1U);
  EXPECT_FALSE(series_of_one_scan({}));
}

TEST(SameScan, TheTextSaysWhy) {
  EXPECT_EQ(reconstruction_text(series_of({{.kernel = "LUNG", .step_mm = 1.25}})[0]),
            "slices 1.25 mm apart, kernel sharpness 85 of 100");
}

}  // namespace
}  // namespace voxshard
