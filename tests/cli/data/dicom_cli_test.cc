// DICOM on the command line: listed, converted, predicted on its own grid, refused by its numbers, and without a trace
// of who it is.
#include <cmath>

#include "tests/cli/trained_cli.h"
#include "tests/io/dicom_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPlantedName = "Planted^Person";
constexpr const char* kPlantedStudy = "1.2.840.99.77.1";
constexpr const char* kPlantedSeries = "1.2.840.99.77.2";

class DicomCli : public TrainedCli {
 protected:
  /// Writes 32 slices of 48 x 48 pixels of 2 mm, 3 mm apart, without those of `missing`: a bright ball in air.
  std::string write_scan(const std::vector<int>& missing = {}) const {
    const fs::path folder = fs::path(scratch_ / "study") / "ct";
    fs::create_directories(folder);
    for (int z = 0; z < 32; ++z) {
      if (std::find(missing.begin(), missing.end(), z) != missing.end()) continue;
      DicomSpec spec{.instance = std::string(kPlantedSeries) + "." + std::to_string(z),
                     .study = kPlantedStudy,
                     .series = kPlantedSeries};
      spec.patient = kPlantedName, spec.rows = spec.columns = 48, spec.pixel_spacing = "2\\2";
      spec.position = {{-48, -40, 3.0 * z}}, spec.intercept = "-1000";
      std::vector<std::int16_t> pixels;
      for (int y = 0; y < 48; ++y)
        for (int x = 0; x < 48; ++x) pixels.push_back(std::hypot(x - 24, y - 24, 1.5 * (z - 16)) < 15 ? 1040 : 0);
      const std::string bytes = dicom_bytes(spec, pixels);
      std::ofstream(folder / ("IM" + std::to_string(100 - z)), std::ios::binary) << bytes;
    }
    return fs::path(scratch_ / "study").string();
  }
  /// Expects nothing of the header's identity in a text.
  static void expect_nobody(const std::string& text) {
    for (const char* planted : {kPlantedName, "Planted", kPlantedStudy, kPlantedSeries})
      EXPECT_THAT(text, Not(HasSubstr(planted)));
  }
  static void expect_nobody(const CommandResult& r) { expect_nobody(r.out), expect_nobody(r.err); }
  static nlohmann::json only_series(const std::string& study) {
    const CommandResult r = run_voxshard("info " + study + " --json");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    expect_nobody(r);
    return r.json().at("folders").at(0).at("files").at(0);
  }
  Folder scratch_{"dicom"};
};

TEST_F(DicomCli, AStudyIsListedAndConverted) {
  const std::string study = write_scan(), nifti = scratch_ / "ct.nii.gz";
  const nlohmann::json series = only_series(study);
  EXPECT_EQ(series.at("size"), nlohmann::json({48, 48, 32}));
  EXPECT_EQ(series.at("spacing_mm"), nlohmann::json({2.0, 2.0, 3.0}));
  const CommandResult r = run_voxshard("convert '" + series.at("path").get<std::string>() + "' -o " + nifti);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  const nlohmann::json written = run_voxshard("info " + nifti + " --json").json().at("files").at(0);
  for (const char* key : {"size", "spacing_mm", "origin_mm", "direction", "orientation"})
    EXPECT_EQ(written.at(key), series.at(key)) << key;
  expect_nobody(file_text(nifti));
}

TEST_F(DicomCli, APredictionHasTheSeriesOwnGridAndTheNameOfItsId) {
  const std::string study = write_scan(), output = scratch_ / "predictions";
  const nlohmann::json series = only_series(study);
  const CommandResult r = run_voxshard("predict " + run() + " " + study + " -o " + output + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  const std::string address = series.at("path"), id = address.substr(address.find("=") + 1);
  const nlohmann::json labels = run_voxshard("info " + output + "/" + id + ".nii.gz --json").json().at("files").at(0);
  for (const char* key : {"size", "spacing_mm", "origin_mm", "direction"})
    EXPECT_EQ(labels.at(key), series.at(key)) << key;
  for (const auto& file : fs::recursive_directory_iterator(output)) {
    expect_nobody(file.path().filename().string());
    if (file.is_regular_file()) expect_nobody(file_text(file.path()));
  }
}

TEST_F(DicomCli, SeriesBesideVolumeFilesAreNotLeftOutWithoutAWord) {
  const std::string study = write_scan(), nifti = study + "/other.nii.gz";
  ASSERT_EQ(run_voxshard("convert " + study + "/ct -o " + nifti).exit_code, 0);
  EXPECT_THAT(run_voxshard("info " + study).out, HasSubstr("1 DICOM series beside volume files"));
  const CommandResult r = run_voxshard("predict " + run() + " " + study + " -o " + (scratch_ / "predictions"));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("1 DICOM series beside volume files"));
}

TEST_F(DicomCli, LabelMapsGoToAFolderAndNotToAFileOfThatName) {
  const std::string study = write_scan(), output = scratch_ / "labels.nii.gz";
  const CommandResult r = run_voxshard("predict " + run() + " " + study + " -o " + output);
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("give a folder"));
  EXPECT_FALSE(fs::exists(output));
}

TEST_F(DicomCli, AGapIsRefusedWithItsPlaceAndResampledWhenAskedFor) {
  const std::string study = write_scan({9, 10}), output = scratch_ / "predictions";
  const std::string predict = "predict " + run() + " " + study + " -o " + output;
  const CommandResult refused = run_voxshard(predict);
  EXPECT_EQ(refused.exit_code, 4) << "no case is left";
  EXPECT_THAT(refused.err, HasSubstr("lacks 2 slices where its spacing is 3.00 mm"));
  EXPECT_THAT(file_text(output + "/quarantine.csv"), HasSubstr("E_GAP"));
  expect_nobody(refused);
  const CommandResult r = run_voxshard(predict + " --irregular-slices resample");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("W_RESAMPLED"));
  const std::string nifti = scratch_ / "ct.nii";
  EXPECT_EQ(run_voxshard("convert " + study + " -o " + nifti).exit_code, 3);
  EXPECT_FALSE(fs::exists(nifti));
  EXPECT_EQ(run_voxshard("convert " + study + " -o " + nifti + " --irregular-slices resample").exit_code, 0);
  EXPECT_EQ(run_voxshard("info " + nifti + " --json").json().at("files").at(0).at("size"),
            nlohmann::json({48, 48, 32}));
}

}  // namespace
}  // namespace voxshard
