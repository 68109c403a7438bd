// What stands between objects and the PACS that they are sent to: UIDs that a series lacks, whose images an object is
// of, and the outbox in which it waits.
#include <nlohmann/json.hpp>

#include "io/dicom_out/filled_uids.h"
#include "io/dicom_out/measurement_report.h"
#include "io/dicom_out/outbox.h"
#include "io/dicom_out/patient_identity.h"
#include "io/dicom_out/segmentation_object.h"
#include "io/dicom_out/structure_set.h"
#include "io/files/atomic_file.h"
#include "tests/expect_error.h"
#include "tests/io/dicom_out/object_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(FilledUids, AreTheSameForTheSameFilesAndReplaceNone) {
  ObjectScene scene({.frame_of_reference = "", .study = ""});
  SourceSeries source = scene.source();
  source.instances[2] = {};
  EXPECT_NE(lacking_uids(source), "");
  SourceSeries again = source, other = source, whole = ObjectScene().source();
  EXPECT_TRUE(fill_uids(source, "input"));
  EXPECT_TRUE(fill_uids(again, "input"));
  EXPECT_TRUE(fill_uids(other, "other"));
  EXPECT_FALSE(fill_uids(source, "other")) << "nothing is empty any more";
  EXPECT_FALSE(fill_uids(whole, "input")) << "nothing was";
  EXPECT_EQ(lacking_uids(source), "");
  EXPECT_EQ(unfit_reason(source, scene.grid()), "");
  EXPECT_EQ(source.series.common.study, again.series.common.study);
  EXPECT_NE(source.series.common.study, other.series.common.study);
  EXPECT_NE(source.instances[2].uid, other.instances[2].uid);
  EXPECT_EQ(source.instances[2].sop_class, source.instances[1].sop_class);
  EXPECT_EQ(source.series.common.series, "1.2.3.4");
  EXPECT_EQ(whole.series.common.study, "1.2.3");
  std::set<std::string> uids{source.series.common.study, source.series.common.frame_of_reference};
  for (const SourceInstance& one : source.instances) uids.insert(one.uid);
  EXPECT_EQ(uids.size(), 6u) << "four files, the study and the frame of reference";
}

TEST(FilledUids, OfFilesAreByTheirSlicesWhateverTheirNames) {
  const ObjectScene scene;
  SourceSeries source = scene.source(), turned = scene.source();
  for (SourceInstance& one : source.instances) one.uid.clear();
  turned.instances = source.instances;
  // The same slices in files of other names, which are listed the other way round.
  std::reverse(turned.series.files.begin(), turned.series.files.end());
  for (DicomSlice& slice : turned.series.slices) slice.file = turned.series.files.size() - 1 - slice.file;
  fill_uids(source, "input"), fill_uids(turned, "input");
  for (std::size_t i = 0; i < source.instances.size(); ++i)
    EXPECT_EQ(source.instances[i].uid, turned.instances[source.instances.size() - 1 - i].uid);
}

TEST(FilledUids, OtherModalitiesKeepAnEmptyClass) {
  SourceSeries source = ObjectScene().source();
  source.instances[0].sop_class.clear(), source.series.common.modality = "US";
  EXPECT_FALSE(fill_uids(source, "input"));
  EXPECT_THAT(lacking_uids(source), HasSubstr("SOP class"));
  source.series.common.modality = "MR";
  EXPECT_TRUE(fill_uids(source, "input"));
  EXPECT_EQ(source.instances[0].sop_class, "1.2.840.10008.5.1.4.1.1.4");
}

TEST(FilledUids, AnObjectIsOfTheFilledStudy) {
  ObjectScene scene({.frame_of_reference = "", .study = ""});
  SourceSeries source = scene.source();
  fill_uids(source, "input");
  write_segmentation(scene.file("a.seg.dcm"), {source, scene.voxels(), scene.classes, "a key"},
                     SegmentTerms::builtin());
  const DicomHeader header = read_dicom_header(scene.file("a.seg.dcm"));
  EXPECT_EQ(header.study, source.series.common.study);
  EXPECT_EQ(header.frame_of_reference, source.series.common.frame_of_reference);
}

TEST(PatientIdentityTest, IsThatOfAllFilesOrNone) {
  const ObjectScene scene;
  const auto whose = series_identity(scene.source().series);
  ASSERT_TRUE(whose);
  EXPECT_EQ(*whose, (PatientIdentity{.patient_id = "P-1", .study = "1.2.3", .frame_of_reference = "1.2.3.9"}));
  const fs::path file = scene.source().series.files[1].path;
  std::string bytes = read_bytes(file);
  bytes.replace(bytes.find("P-1"), 3, "P-2");
  write_bytes(file, bytes);
  EXPECT_FALSE(series_identity(scene.source().series));
}

TEST(PatientIdentityTest, AnObjectIsOfItsPatientStudyAndFrameAlone) {
  const ObjectScene scene;
  const PatientIdentity whose = series_identity(scene.source().series).value();
  const std::vector<ClassNumbers> numbers{{}, {.volume_ml = 1}, {}, {}, {}};
  write_segmentation(scene.file("a.seg.dcm"), scene.labels(), SegmentTerms::builtin());
  write_structure_set(scene.file("a.rtstruct.dcm"), scene.labels(), SegmentTerms::builtin());
  write_measurement_report(scene.file("a.sr.dcm"), scene.labels(), SegmentTerms::builtin(),
                           {.numbers = numbers, .parts = {whole_segmentation(numbers.size())}});
  for (const char* name : {"a.seg.dcm", "a.rtstruct.dcm", "a.sr.dcm"}) {
    EXPECT_TRUE(is_of(scene.file(name), whose)) << name;
    PatientIdentity other = whose;
    other.patient_id = "P-2";
    EXPECT_FALSE(is_of(scene.file(name), other)) << name;
    other = whose, other.study = "1.2.4";
    EXPECT_FALSE(is_of(scene.file(name), other)) << name;
    other = whose, other.frame_of_reference = "1.2.4";
    EXPECT_EQ(is_of(scene.file(name), other), std::string(name) == "a.sr.dcm") << name << ": a report names none";
  }
}

struct OutboxFolders {
  OutboxFolders() { write_bytes(file("a.seg.dcm"), "segments"), write_bytes(file("a.sr.dcm"), "numbers"); }
  fs::path file(const std::string& name) const { return scratch.path() / name; }
  fs::path box() const { return scratch.path() / "outbox"; }
  std::vector<fs::path> files() const { return {file("a.seg.dcm"), file("a.sr.dcm")}; }
  const ScratchFolder scratch{"outbox"};
};

TEST(OutboxTest, AnItemIsPlacedWholeAndKeepsItsBytes) {
  const OutboxFolders f;
  const Outbox outbox(f.box());
  EXPECT_FALSE(outbox.has("a-1"));
  outbox.place("a-1", f.files());
  EXPECT_TRUE(outbox.has("a-1"));
  EXPECT_FALSE(outbox.has("a-2"));
  write_text_atomically(f.file("a.seg.dcm"), "those of a later call");
  EXPECT_EQ(read_bytes(f.box() / "a-1" / "a.seg.dcm"), "segments");
  EXPECT_EQ(read_bytes(f.box() / "a-1" / "a.sr.dcm"), "numbers");
  expect_error(ErrorKind::kOutput, "a-1", [&] { outbox.place("a-1", f.files()); });
  EXPECT_EQ(read_bytes(f.box() / "a-1" / "a.seg.dcm"), "segments");
  fs::create_directory(f.box() / "sent");
  fs::rename(f.box() / "a-1", f.box() / "sent" / "a-1");
  EXPECT_TRUE(outbox.has("a-1")) << "it was sent";
}

TEST(OutboxTest, WhatFailsLeavesNothing) {
  const OutboxFolders f;
  const Outbox outbox(f.box());
  expect_error(ErrorKind::kOutput, "missing.dcm", [&] {
    outbox.place("a-1", {f.file("a.seg.dcm"), f.file("missing.dcm")});
  });
  EXPECT_FALSE(outbox.has("a-1"));
  for (const auto& entry : fs::directory_iterator(f.box())) EXPECT_EQ(entry.path().filename(), ".voxshard.lock");
}

TEST(OutboxTest, OneProcessPlacesItemsAndClearsWhatAKilledOneLeft) {
  const OutboxFolders f;
  fs::create_directories(f.box() / ".placing.a-1");
  write_bytes(f.box() / ".placing.a-1" / "a.seg.dcm", "half");
  {
    const Outbox outbox(f.box());
    EXPECT_FALSE(fs::exists(f.box() / ".placing.a-1"));
    expect_error(ErrorKind::kOutput, "in use", [&] { const Outbox second(f.box()); });
  }
  const Outbox later(f.box());
}

TEST(OutboxTest, WhatIsHeldHasItsReasonUntilItIsReleased) {
  const OutboxFolders f;
  const Outbox outbox(f.box());
  outbox.hold("a-1", {{"code", "E_UIDS"}});
  outbox.hold("a-1", {{"code", "E_IDENTITY"}});
  const fs::path held = f.box() / "held" / "a-1";
  EXPECT_EQ(nlohmann::json::parse(read_bytes(held / "held.json")).at("code"), "E_IDENTITY");
  EXPECT_FALSE(outbox.has("a-1")) << "it may be placed once nothing holds it any more";
  outbox.release("a-1"), outbox.release("a-1");
  EXPECT_FALSE(fs::exists(held));
}

}  // namespace
}  // namespace voxshard
