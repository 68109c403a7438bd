// DICOM on the command line: listed, converted, predicted on its own grid, refused by its numbers, and without a trace
// of who it is.
#include "tests/cli/data/planted_scan.h"
#include "tests/cli/trained_cli.h"
#include "tests/io/structure_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DicomCli : public TrainedCli {
 protected:
  /// Writes 32 slices of 48 x 48 pixels of 2 mm, 3 mm apart, without those of `missing`: a bright ball in air.
  std::string write_scan(const std::vector<int>& missing = {}) const {
    write_planted_scan(fs::path(scratch_ / "study") / "ct", {.missing = missing});
    return fs::path(scratch_ / "study").string();
  }
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

TEST_F(DicomCli, ATreeBecomesTestImagesOfNnUNetWithoutATraceOfWhoItIs) {
  const std::string study = write_scan({9, 10}), output = scratch_ / "nnunet";
  const std::string convert = "convert " + study + " -o " + output + " --to nnunet --provenance";
  EXPECT_EQ(run_voxshard(convert).exit_code, 4) << "the only series has a gap";
  const CommandResult r = run_voxshard(convert + " --irregular-slices resample");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  int images = 0;
  for (const auto& file : fs::recursive_directory_iterator(output)) {
    expect_nobody(file.path().filename().string());
    if (!file.is_regular_file()) continue;
    expect_nobody(file_text(file.path()));
    if (!file.path().string().ends_with("_0000.json")) continue;
    ++images;
    const nlohmann::json json = nlohmann::json::parse(file_text(file.path()));
    EXPECT_EQ(json.at("source").at("format"), "DICOM");
    EXPECT_EQ(json.at("source").at("files"), 30);
    EXPECT_EQ(json.at("repaired").at("resampled"), true);
  }
  EXPECT_EQ(images, 1);
  EXPECT_EQ(nlohmann::json::parse(file_text(output + "/dataset.json")).at("channel_names").at("0"), "CT");
}

TEST_F(DicomCli, APredictionHasTheSeriesOwnGridAndANumber) {
  const std::string study = write_scan(), output = scratch_ / "predictions";
  const nlohmann::json series = only_series(study);
  const CommandResult r = run_voxshard("predict " + run() + " " + study + " -o " + output + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  const nlohmann::json labels = run_voxshard("info " + output + "/case_0001.nii.gz --json").json().at("files").at(0);
  for (const char* key : {"size", "spacing_mm", "origin_mm", "direction"})
    EXPECT_EQ(labels.at(key), series.at(key)) << key;
  const std::string address = series.at("path"), id = address.substr(address.find("=") + 1);
  EXPECT_EQ(r.out.find(id), std::string::npos) << "a hash of UIDs can be looked up by who has them";
  for (const auto& file : fs::recursive_directory_iterator(output)) {
    expect_nobody(file.path().filename().string());
    if (!file.is_regular_file()) continue;
    expect_nobody(file_text(file.path()));
    EXPECT_EQ(file_text(file.path()).find(id) != std::string::npos, file.path().filename() == "case_paths.jsonl");
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

TEST_F(DicomCli, PixelsOfTwelveBitsAreDecodedWithoutAWordOfTheDecoder) {
  const char* root = std::getenv("VOXSHARD_TEST_DATA");
  const fs::path folder = fs::path(root == nullptr ? "" : root) / "dicom_tricky/cornerstone3D";
  if (!fs::exists(folder)) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set, or has no dicom_tricky";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".51.dcm") || path.find("CT") == std::string::npos) continue;
    const CommandResult r = run_voxshard("convert " + path + " -o " + (scratch_ / "twelve.nii") + " -q");
    EXPECT_EQ(r.exit_code, 0) << path;
    EXPECT_EQ(r.err, "") << path;
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST_F(DicomCli, ExplainDrawsASeriesAsItsSample) {
  const std::string study = write_scan(), drawn = scratch_ / "tiles.png";
  for (const std::string& sample : {study, only_series(study).at("path").get<std::string>()}) {
    const CommandResult r = run_voxshard("explain --partition 1x2x1x1x1 --base-filters 2 --depth 3 --draw " + drawn +
                                         " --sample '" + sample + "'");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    expect_nobody(r);
    EXPECT_EQ(file_text(drawn).substr(1, 3), "PNG");
  }
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

TEST_F(DicomCli, AGapThatIsResampledIsListedAndDrawnToo) {
  const std::string study = write_scan({9, 10}), drawn = scratch_ / "tiles.png",
                    resample = " --irregular-slices resample";
  const std::string info = "info " + study + " --json",
                    explain = "explain --base-filters 2 --depth 3 --draw " + drawn + " --sample " + study;
  EXPECT_EQ(run_voxshard(info).json().at("failures").at(0).at("code"), "E_GAP");
  EXPECT_EQ(run_voxshard(explain).exit_code, 3);
  const CommandResult listed = run_voxshard(info + resample);
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  const nlohmann::json series = listed.json().at("folders").at(0).at("files").at(0);
  EXPECT_EQ(series.at("size"), nlohmann::json({48, 48, 32}));
  EXPECT_THAT(series.at("warning").get<std::string>(), HasSubstr("W_RESAMPLED"));
  expect_nobody(listed);
  const CommandResult r = run_voxshard(explain + resample);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(file_text(drawn).substr(1, 3), "PNG");
}

class StructuresCli : public DicomCli {
 protected:
  /// Writes a structure set on the scan: a square of 10 x 10 pixels on slices 4 to 6 at the image's left, and two more.
  std::string write_structures(const std::string& frame_of_reference = "1.2.3.9") const {
    RoiSpec parotid{.number = 3, .name = "Parotis links", .frame_of_reference = frame_of_reference};
    for (int z = 4; z < 7; ++z) parotid.contours.push_back({.points = square({9, -21, 3.0 * z}, 20)});
    const RoiSpec couch{.number = 9, .name = "Couch", .contours = {{.points = square({-30, -30, 30}, 4)}}};
    const RoiSpec point{.number = 5, .name = "Gl\xe4ndula", .contours = {{.points = {{1, 2, 3}}, .type = "POINT"}}};
    const bool of_scan = frame_of_reference == "1.2.3.9";
    StructureSetSpec spec{.character_set = "ISO_IR 100",
                          .series = of_scan ? kPlantedSeries : "1.2.3.55",
                          .rois = {parotid, couch, point}};
    spec.patient = kPlantedName;
    const std::string path = scratch_ / "RS.dcm";
    std::ofstream(path, std::ios::binary) << structure_set_bytes(spec);
    return path;
  }
  std::string write_map(const std::string& text) const {
    std::ofstream(scratch_ / "map.toml") << text;
    return scratch_ / "map.toml";
  }
};

TEST_F(StructuresCli, AStructureSetIsListedByItsNames) {
  const CommandResult r = run_voxshard("info " + write_structures());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("RT structure set: 3 structures"));
  EXPECT_THAT(r.out, HasSubstr("Parotis links"));
  EXPECT_THAT(r.out, HasSubstr("Gländula"));
  expect_nobody(r);
  const nlohmann::json set = run_voxshard("info " + write_structures() + " --json").json().at("structure_sets").at(0);
  EXPECT_EQ(set.at("structures").at(0).at("contours"), 3);
  EXPECT_EQ(set.at("structures").at(2).at("left_out"), 1);
}

TEST_F(StructuresCli, ContoursBecomeALabelMapOnTheSeriesByTheMapOfNames) {
  const std::string study = write_scan(), labels = scratch_ / "labels.nii.gz";
  const std::string map =
      write_map("[[class]]\nname = \"spine\"\n[[class]]\nname = \"parotid_left\"\naliases = [\"PAROTIS_LINKS\"]\n");
  const CommandResult r = run_voxshard("convert " + write_structures() + " --like " + study + " --classes " + map +
                                       " -o " + labels + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  const nlohmann::json report = r.json(), made = report.at("classes").at(0);
  EXPECT_EQ(made.at("class"), "parotid_left");
  EXPECT_EQ(made.at("number"), 2);
  EXPECT_EQ(made.at("voxels"), 300);
  EXPECT_THAT(report.at("notes").dump(), HasSubstr("W_UNMATCHED 2 structures belong to no class"));
  const nlohmann::json written = run_voxshard("info " + labels + " --json").json().at("files").at(0);
  EXPECT_EQ(written.at("size"), nlohmann::json({48, 48, 32}));
  EXPECT_EQ(written.at("scalar_type"), "uint8");
  EXPECT_EQ(written.at("origin_mm"), only_series(study).at("origin_mm"));
}

TEST_F(StructuresCli, WithoutAMapTheNumbersOfTheFileAreTheClasses) {
  const CommandResult r =
      run_voxshard("convert " + write_structures() + " --like " + write_scan() + " -o " + (scratch_ / "labels.nii.gz"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("Parotis links"));
  EXPECT_THAT(r.out, HasSubstr("W_CONTOURS 1 point or open contour of \"Gländula\""));
  expect_nobody(r);
}

TEST_F(StructuresCli, ContoursAskForTheirImageAndRefuseAnother) {
  const std::string study = write_scan(), output = " -o " + (scratch_ / "labels.nii.gz");
  const CommandResult alone = run_voxshard("convert " + write_structures() + output);
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--like"));
  const CommandResult other = run_voxshard("convert " + write_structures("1.2.3.10") + " --like " + study + output);
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.err, HasSubstr("another frame of reference"));
  EXPECT_THAT(other.err, Not(HasSubstr("1.2.3.10")));
  const CommandResult none = run_voxshard("convert " + write_structures() + " --like " + study + " --classes " +
                                          write_map("[[class]]\nname = \"heart\"\n") + output);
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("Couch (1 case)"));
  const CommandResult scan = run_voxshard("convert " + study + " --like " + study + output);
  EXPECT_EQ(scan.exit_code, 2);
  EXPECT_THAT(scan.err, HasSubstr("--like and --classes are for one DICOM segmentation"));
}

TEST_F(StructuresCli, AnImageThatIsNoVolumeIsRefusedByItsCode) {
  const CommandResult r = run_voxshard("convert " + write_structures() + " --like " + write_scan({9, 10}) + " -o " +
                                       (scratch_ / "labels.nii.gz") + " --json");
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.json().at("error").at("code"), "E_GAP") << r.err;
}

TEST_F(StructuresCli, ASegmentationIsBroughtToTheSeriesOrKeepsItsGridWithNewClasses) {
  const std::string study = write_scan(), seg = scratch_ / "seg.dcm", labels = scratch_ / "labels.nii.gz";
  SegmentationSpec spec{.segments = {"Liver", "Spleen"}, .spacing = {2, 2}, .rows = 3, .columns = 4, .step = "3"};
  spec.frames = {{.segment = 2, .position = {-40, -30, 9}, .values = std::string(12, '\xff')}};
  std::ofstream(seg, std::ios::binary) << segmentation_bytes(spec);
  const std::string map = " --classes " + write_map("[[class]]\nname = \"spleen\"\n");
  for (const auto& [like, size] : {std::pair(" --like " + study, nlohmann::json({48, 48, 32})),
                                   std::pair(std::string(), nlohmann::json({4, 3, 1}))}) {
    const CommandResult r = run_voxshard("convert " + seg + like + map + " -o " + labels + " --json");
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.json().at("classes").at(0).at("voxels"), 12);
    EXPECT_EQ(r.json().at("size"), size);
  }
}

}  // namespace
}  // namespace voxshard
