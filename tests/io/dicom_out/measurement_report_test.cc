// Reports of measurements: what they say, and to which segmentation they refer.
#include "io/dicom_out/measurement_report.h"

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

TEST(MeasurementReport, HoldsTheNumbersAndRefersToTheSegmentation) {
  const ObjectScene scene;
  write_measurement_report(scene.file("a.sr.dcm"), scene.labels(), SegmentTerms::builtin(), numbers());
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
  EXPECT_THAT(bytes, Not(HasSubstr("Planted Hospital")));
}

TEST(MeasurementReport, TheSideIsThatOfTheTermWhateverItsWords) {
  const ObjectScene scene;
  write_measurement_report(scene.file("a.sr.dcm"), scene.labels(), SegmentTerms::builtin(), numbers());
  EXPECT_THAT(scene.bytes("a.sr.dcm"), HasSubstr("7771000"));
  EXPECT_THAT(scene.bytes("a.sr.dcm"), Not(HasSubstr("24028007")));
  write_bytes(scene.file("terms.toml"), "[sides]\nleft = {code = \"7771000\", meaning = \"left side\"}\n");
  write_measurement_report(scene.file("b.sr.dcm"), scene.labels(), SegmentTerms::with_file(scene.file("terms.toml")),
                           numbers());
  EXPECT_THAT(scene.bytes("b.sr.dcm"), HasSubstr("left side"));
  EXPECT_THAT(scene.bytes("b.sr.dcm"), Not(HasSubstr("24028007"))) << "the right side";
}

TEST(MeasurementReport, TheSameInputGivesTheSameBytes) {
  const ObjectScene scene;
  for (const char* name : {"a.sr.dcm", "b.sr.dcm"})
    write_measurement_report(scene.file(name), scene.labels(), SegmentTerms::builtin(), numbers());
  EXPECT_TRUE(scene.bytes("a.sr.dcm") == scene.bytes("b.sr.dcm"));
}

}  // namespace
}  // namespace voxshard
