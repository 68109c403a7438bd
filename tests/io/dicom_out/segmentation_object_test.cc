// DICOM segmentations that are written: read by the program's own readers they are the label map again, voxel for voxel
// and in every position; what they take over from the series, and what they leave behind.
#include "io/dicom_out/segmentation_object.h"

#include <sys/resource.h>

#include <csignal>
#include <set>

#include "io/datasets/case_label.h"
#include "io/datasets/study_tree.h"
#include "io/dicom/segmentation.h"
#include "tests/expect_error.h"
#include "tests/io/dicom_out/object_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void write(const ObjectScene& scene, const std::string& name, const std::string& key = "a key") {
  write_segmentation(scene.file(name), scene.labels(key), SegmentTerms::builtin());
}

TEST(SegmentationObject, IsTheLabelMapAgainInEveryPosition) {
  for (const auto& [name, spec] : series_positions()) {
    const ObjectScene scene(spec);
    write(scene, "a.seg.dcm");
    std::vector<std::string> notes;
    EXPECT_EQ(scene.read_back("a.seg.dcm", &notes), scene.expected()) << name;
    EXPECT_THAT(notes, IsEmpty()) << name;
  }
}

TEST(SegmentationObject, LiesWhereItsSeriesLies) {
  for (const auto& [name, spec] : series_positions()) {
    const ObjectScene scene(spec);
    write(scene, "a.seg.dcm");
    const Volume map = read_label(scene.file("a.seg.dcm"));
    EXPECT_TRUE(same_geometry(map.geometry, scene.grid())) << name;
  }
}

TEST(SegmentationObject, HasASegmentForEachClassAndNoEmptyFrame) {
  const ObjectScene scene;
  write(scene, "a.seg.dcm");
  const DicomHeader header = read_dicom_header(scene.file("a.seg.dcm"));
  ASSERT_EQ(header.segments.size(), 4u);
  EXPECT_EQ(header.segments[0].label, "liver");
  EXPECT_EQ(header.segments[0].type, "Liver");
  EXPECT_EQ(header.segments[1].label, "kidney_left");
  EXPECT_EQ(header.segments[1].type, "Kidney");
  EXPECT_EQ(header.segments[3].type, "Tissue") << "the generic term";
  std::vector<std::int64_t> frames(5);
  for (const DicomFrame& frame : header.frames) ++frames.at(frame.segment);
  EXPECT_THAT(frames, ElementsAre(0, 4, 4, 0, 1));
  EXPECT_THAT(segmentation_frames(scene.labels()), ElementsAre(0, 4, 4, 0, 1));
  EXPECT_EQ(header.segmentation, "BINARY");
  EXPECT_FALSE(header.may_overlap);
}

TEST(SegmentationObject, MayHaveFewerFramesThanSegments) {
  ObjectScene scene({.slices = 1});  // three frames, of classes 1, 2 and 4 of four
  write(scene, "a.seg.dcm");
  const DicomHeader header = read_dicom_header(scene.file("a.seg.dcm"));
  EXPECT_EQ(header.segments.size(), 4u);
  EXPECT_EQ(header.frames.size(), 3u);
  EXPECT_EQ(scene.read_back("a.seg.dcm"), scene.expected());
  std::fill_n(scene.voxels().as<std::int32_t>(), scene.voxels().count(), 0);
  scene.voxels().as<std::int32_t>()[0] = 4;
  write(scene, "b.seg.dcm");
  ASSERT_EQ(read_dicom_header(scene.file("b.seg.dcm")).frames.size(), 1u);
  EXPECT_EQ(read_dicom_header(scene.file("b.seg.dcm")).frames[0].segment, 4);
  EXPECT_EQ(scene.read_back("b.seg.dcm"), scene.expected());
}

TEST(SegmentationObject, TakesOverPatientStudyAndFrameAndLeavesTheRestBehind) {
  const ObjectScene scene;
  write(scene, "a.seg.dcm");
  const DicomHeader header = read_dicom_header(scene.file("a.seg.dcm"));
  EXPECT_EQ(header.study, "1.2.3");
  EXPECT_EQ(header.frame_of_reference, "1.2.3.9");
  EXPECT_EQ(header.referenced_series, "1.2.3.4");
  EXPECT_NE(header.series, "1.2.3.4");
  EXPECT_EQ(header.sop_instance, segmentation_uids("a key").instance);
  EXPECT_EQ(header.series, segmentation_uids("a key").series);
  EXPECT_EQ(header.modality, "SEG");
  const std::string bytes = scene.bytes("a.seg.dcm");
  expect_nothing_foreign(scene, "a.seg.dcm");
  EXPECT_THAT(bytes, HasSubstr("P-1"));
  EXPECT_THAT(bytes, HasSubstr("Not for diagnostic use"));
  EXPECT_THAT(bytes, HasSubstr(VOXSHARD_VERSION));
  for (int k = 1; k <= 4; ++k) EXPECT_THAT(bytes, HasSubstr("1.2.3.1." + std::to_string(k)));
}

TEST(SegmentationObject, TheSameInputGivesTheSameBytes) {
  const ObjectScene scene, again;
  write(scene, "a.seg.dcm"), write(scene, "b.seg.dcm"), write(again, "a.seg.dcm"), write(scene, "c.seg.dcm", "other");
  EXPECT_TRUE(scene.bytes("a.seg.dcm") == scene.bytes("b.seg.dcm"));
  EXPECT_TRUE(scene.bytes("a.seg.dcm") == again.bytes("a.seg.dcm"));
  EXPECT_FALSE(scene.bytes("a.seg.dcm") == scene.bytes("c.seg.dcm"));
}

TEST(SegmentationObject, InSeveralFilesEachIsReadAgainAndTogetherTheyAreTheLabelMap) {
  const ObjectScene scene({.slices = 201});
  const auto parts = segment_parts(segmentation_frames(scene.labels()), 1);
  ASSERT_EQ(parts.size(), 3u) << "402 frames of two classes, one of the last; class 3 has none";
  std::vector<std::int32_t> all(scene.expected().size());
  std::set<std::string> instances, series;
  for (const SegmentPart& part : parts) {
    const std::string name = "a" + part.ending();
    write_segmentation(scene.file(name), scene.labels(), SegmentTerms::builtin(), part);
    const DicomHeader header = read_dicom_header(scene.file(name));
    ASSERT_EQ(header.segments.size(), 1u) << name;
    EXPECT_EQ(header.segments[0].label, scene.classes.at(part.first));
    EXPECT_EQ(header.sop_instance, segmentation_uids("a key", part).instance);
    EXPECT_EQ(header.series, segmentation_uids("a key", part).series);
    instances.insert(header.sop_instance), series.insert(header.series);
    std::vector<std::string> notes;
    const auto found = scene.read_back(name, &notes, {{1, static_cast<int>(part.first)}});
    EXPECT_THAT(notes, IsEmpty());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += found[i];
  }
  EXPECT_TRUE(all == scene.expected());
  EXPECT_EQ(instances.size(), 3u);
  EXPECT_EQ(series.size(), 1u) << "the files of a segmentation are a series";
  EXPECT_EQ(series.count(segmentation_uids("a key").series), 0u) << "another one than that of the one file";
  write_segmentation(scene.file("again.dcm"), scene.labels(), SegmentTerms::builtin(), parts[1]);
  EXPECT_TRUE(scene.bytes("again.dcm") == scene.bytes("a.seg.2.dcm"));
}

TEST(SegmentationObject, ItsFilesInATreeOfStudiesAreOneLabelMap) {
  const ObjectScene scene({.slices = 201});
  for (const SegmentPart& part : segment_parts(segmentation_frames(scene.labels()), 1))
    write_segmentation(scene.file("a" + part.ending()), scene.labels(), SegmentTerms::builtin(), part);
  ClassMap classes;
  for (std::size_t c = 1; c < scene.classes.size(); ++c) classes.classes.push_back({scene.classes[c], {}, {}});
  const StudyTree tree = read_study_tree(scene.folder().parent_path(), classes);
  ASSERT_EQ(tree.dataset.training.size(), 1u);
  const Case& item = tree.dataset.training[0];
  EXPECT_EQ(item.structures.size(), 3u);
  const CaseLabel read = read_case_label(item, read_volume_info(item.images.at(0)).geometry);
  const auto* v = read.volume.voxels.as<std::int32_t>();
  EXPECT_TRUE(std::vector<std::int32_t>(v, v + read.volume.voxels.count()) == scene.expected());
}

TEST(SegmentationObject, FilesOfSeveralSegmentsNumberThemFromOne) {
  const ObjectScene scene({.slices = 201});
  const auto parts = segment_parts(segmentation_frames(scene.labels()), 3);
  ASSERT_EQ(parts.size(), 2u);
  write_segmentation(scene.file("a.seg.1.dcm"), scene.labels(), SegmentTerms::builtin(), parts[0]);
  write_segmentation(scene.file("a.seg.2.dcm"), scene.labels(), SegmentTerms::builtin(), parts[1]);
  const DicomHeader first = read_dicom_header(scene.file("a.seg.1.dcm")),
                    second = read_dicom_header(scene.file("a.seg.2.dcm"));
  EXPECT_EQ(first.segments.size(), 3u);
  EXPECT_EQ(first.frames.size(), 402u);
  ASSERT_EQ(second.segments.size(), 1u);
  EXPECT_EQ(second.segments[0].label, "thing");
  ASSERT_EQ(second.frames.size(), 1u);
  EXPECT_EQ(second.frames[0].segment, 1);
}

TEST(SegmentationObject, CarriesTheCharacterSetWithTheNameThatIsWrittenInIt) {
  const ObjectScene scene({.character_set = "ISO_IR 100", .patient = "M\xfcller^Planted"});
  write(scene, "a.seg.dcm");
  EXPECT_THAT(scene.bytes("a.seg.dcm"), HasSubstr("ISO_IR 100"));
  EXPECT_THAT(scene.bytes("a.seg.dcm"), HasSubstr("M\xfcller^Planted"));
}

TEST(SegmentationObject, NamesBeyondAsciiAreReadAgainWhereTheSeriesIsInUtf8) {
  ObjectScene latin({.character_set = "ISO_IR 100"}), utf8({.character_set = "ISO_IR 192"});
  latin.classes[1] = utf8.classes[1] = "dr\u00fcse";
  write(latin, "a.seg.dcm"), write(utf8, "a.seg.dcm");
  EXPECT_EQ(read_dicom_header(latin.file("a.seg.dcm")).segments.at(0).label, "dr?se");
  EXPECT_EQ(read_dicom_header(utf8.file("a.seg.dcm")).segments.at(0).label, "dr\u00fcse");
}

TEST(SegmentationObject, LastBytesThatDoNotFitOnTheDiskAreSeen) {
  const ObjectScene scene;
  write(scene, "a.seg.dcm");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{static_cast<rlim_t>(scene.bytes("a.seg.dcm").size() - 1), before.rlim_max};
  void (*handler)(int) = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  expect_error(ErrorKind::kOutput, "b.seg.dcm", [&] { write(scene, "b.seg.dcm"); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(fs::exists(scene.file("b.seg.dcm")));
  EXPECT_EQ(std::distance(fs::directory_iterator(scene.file("")), fs::directory_iterator()), 2)
      << "the series and the object: no temporary file stays";
}

TEST(SourceSeriesTest, SaysWhyNoObjectCanBeMade) {
  const ObjectScene scene;
  EXPECT_EQ(unfit_reason(scene.source(), scene.grid()), "");
  Geometry other = scene.grid();
  other.spacing[2] *= 2;
  EXPECT_THAT(unfit_reason(scene.source(), other), HasSubstr("does not lie on the slices"));
  const ObjectScene frameless({.frame_of_reference = ""}), studyless({.study = ""});
  EXPECT_THAT(unfit_reason(frameless.source(), frameless.grid()), HasSubstr("frame of reference"));
  EXPECT_THAT(unfit_reason(studyless.source(), studyless.grid()), HasSubstr("study"));
  SourceSeries nameless = scene.source();
  nameless.instances[2].uid.clear();
  EXPECT_THAT(unfit_reason(nameless, scene.grid()), HasSubstr("no SOP class or no UID"));
  for (const std::string& bad : {std::string("1.2\\1.3"), "1." + std::string(64, '3'), std::string("1.2.x")}) {
    SourceSeries wrong = scene.source();
    wrong.instances[1].uid = bad;
    EXPECT_EQ(unfit_reason(wrong, scene.grid()), "UIDs of the series are not valid") << bad;
    wrong = scene.source();
    wrong.series.common.series = bad;
    EXPECT_EQ(unfit_reason(wrong, scene.grid()), "UIDs of the series are not valid") << bad;
  }
  SourceSeries gap = scene.source();
  gap.series.problem = "lacks 2 slices", gap.series.problem_code = "E_GAP";
  EXPECT_THAT(unfit_reason(gap, scene.grid()), HasSubstr("E_GAP"));
}

}  // namespace
}  // namespace voxshard
