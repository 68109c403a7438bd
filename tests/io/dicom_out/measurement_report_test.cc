// Reports of measurements: what they say, and to which segmentation they refer.
#include "io/dicom_out/measurement_report.h"

#include <set>

#include "io/dicom_out/segmentation_object.h"
#include "tests/io/dicom_out/object_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<ClassNumbers> numbers() {
  return {{},
          {.volume_ml = 1453.25, .mean_hu = 101.5, .deviation_hu = 12.25, .diameter_mm = 187.5},
          {.volume_ml = 0.125, .diameter_mm = 3.5},
          {},
          {.volume_ml = 2}};
}

void write_report(const ObjectScene& scene, const std::string& name, std::vector<ReportFlag> flags = {},
                  std::vector<SegmentPart> parts = {whole_segmentation(5)}) {
  write_measurement_report(scene.file(name), scene.labels(), SegmentTerms::builtin(),
                           {.numbers = numbers(), .parts = std::move(parts), .flags = std::move(flags)});
}

TEST(MeasurementReport, HoldsTheNumbersAndRefersToTheSegmentation) {
  const ObjectScene scene;
  write_report(scene, "a.sr.dcm");
  const DicomHeader header = read_dicom_header(scene.file("a.sr.dcm"));
  EXPECT_EQ(header.modality, "SR");
  EXPECT_EQ(header.study, "1.2.3");
  EXPECT_NE(header.series, segmentation_uids("a key").series);
  const std::string bytes = scene.bytes("a.sr.dcm");
  for (const char* part : {"1453.25", "101.5", "12.25", "187.5", "0.125", "10200004", "64033007", "118565006", "112031",
                           "[hnsf'U]", "cm3", "126000", "Planted^Name", "not for diagnostic use"})
    EXPECT_THAT(bytes, HasSubstr(part));
  EXPECT_THAT(bytes, HasSubstr(segmentation_uids("a key").instance));
  EXPECT_THAT(bytes, Not(HasSubstr("78961009"))) << "the spleen has no voxel";
  expect_nothing_foreign(scene, "a.sr.dcm");
}

TEST(MeasurementReport, TheSideIsThatOfTheTermWhateverItsWords) {
  const ObjectScene scene;
  write_report(scene, "a.sr.dcm");
  EXPECT_THAT(scene.bytes("a.sr.dcm"), HasSubstr("7771000"));
  EXPECT_THAT(scene.bytes("a.sr.dcm"), Not(HasSubstr("24028007")));
  write_bytes(scene.file("terms.toml"), "[sides]\nleft = {code = \"7771000\", meaning = \"left side\"}\n");
  write_measurement_report(scene.file("b.sr.dcm"), scene.labels(), SegmentTerms::with_file(scene.file("terms.toml")),
                           {.numbers = numbers(), .parts = {whole_segmentation(5)}, .flags = {}});
  EXPECT_THAT(scene.bytes("b.sr.dcm"), HasSubstr("left side"));
  EXPECT_THAT(scene.bytes("b.sr.dcm"), Not(HasSubstr("24028007"))) << "the right side";
}

TEST(MeasurementReport, TheSameInputGivesTheSameBytes) {
  const ObjectScene scene;
  for (const char* name : {"a.sr.dcm", "b.sr.dcm"}) write_report(scene, name);
  EXPECT_TRUE(scene.bytes("a.sr.dcm") == scene.bytes("b.sr.dcm"));
}

TEST(MeasurementReport, TellsFlagsByTheirCodesInTheGroupOfTheClassOrOfTheWholeReport) {
  const ObjectScene scene;
  write_report(scene, "a.sr.dcm",
               {{"W_VOLUME", 1, "liver (1) has 1453.2 ml"},
                {"W_ABSENT", 3, "spleen (3) is missing"},
                {"W_VIEW", 0, "the image \\ shows\n96 mm"}});
  const std::string bytes = scene.bytes("a.sr.dcm");
  for (const char* part :
       {"W_VOLUME", "W_ABSENT", "W_VIEW", kFlagScheme, "Quality flag W_VOLUME", "spleen (3) is missing."})
    EXPECT_THAT(bytes, HasSubstr(part));
  EXPECT_LT(bytes.find("liver (1) has 1453.2 ml."), bytes.find("64033007"))
      << "in the group of the liver, before that of the kidney";
  EXPECT_GT(bytes.find("spleen (3) is missing."), bytes.rfind("64033007"))
      << "a class without a group: behind all groups";
  EXPECT_THAT(bytes, Not(HasSubstr("shows\n96"))) << "on one line";
  write_report(scene, "b.sr.dcm");
  EXPECT_THAT(scene.bytes("b.sr.dcm"), Not(HasSubstr(kFlagScheme)));
}

TEST(MeasurementReport, WithOtherFlagsIsAnotherReportOfTheSameSeries) {
  const ObjectScene scene;
  write_report(scene, "none.sr.dcm");
  write_report(scene, "parts.sr.dcm", {{"W_PARTS", 1, "liver (1) is in 3 parts"}});
  write_report(scene, "more.sr.dcm", {{"W_PARTS", 1, "liver (1) is in 4 parts"}});
  std::set<std::string> instances, series;
  for (const char* name : {"none.sr.dcm", "parts.sr.dcm", "more.sr.dcm"}) {
    const DicomHeader header = read_dicom_header(scene.file(name));
    instances.insert(header.sop_instance), series.insert(header.series);
  }
  EXPECT_EQ(instances.size(), 3u);
  EXPECT_EQ(series.size(), 1u);
}

TEST(MeasurementReport, NamesTheFileOfASegmentationThatHoldsTheClass) {
  const ObjectScene scene;
  const SegmentPart first{1, 1, 1, 1}, second{2, 2, 2, 1}, last{4, 4, 3, 1};
  write_report(scene, "a.sr.dcm", {}, {first, second, last});
  write_report(scene, "b.sr.dcm");
  const std::string bytes = scene.bytes("a.sr.dcm");
  for (const SegmentPart& part : {first, second, last}) {
    const std::string uid = segmentation_uids("a key", part).instance;
    EXPECT_NE(bytes.find(uid), bytes.rfind(uid)) << "among the evidence, and in the group of its class";
  }
  EXPECT_THAT(bytes, Not(HasSubstr(segmentation_uids("a key").instance)));
  EXPECT_NE(read_dicom_header(scene.file("a.sr.dcm")).sop_instance,
            read_dicom_header(scene.file("b.sr.dcm")).sop_instance)
      << "another report";
}

}  // namespace
}  // namespace voxshard
