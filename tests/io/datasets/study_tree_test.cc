// Trees of studies: which image the labels belong to, which classes were contoured, what is left out and said.
#include "io/datasets/study_tree.h"

#include "io/datasets/case_label.h"
#include "io/volume/archive.h"
#include "tests/io/archive_files.h"
#include "tests/io/study_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ClassMap two_classes() { return {.classes = {{"liver", {"Leber"}, {}}, {"spleen", {}, {"*milz*"}}}}; }

/// The voxels of a class in the labels of a case.
std::int64_t voxels_of_class(const Case& item, int label) {
  const CaseLabel read = read_case_label(item, read_volume_info(item.images[0]).geometry);
  const auto* v = read.volume.voxels.as<std::int32_t>();
  return std::count(v, v + read.volume.voxels.count(), label);
}

TEST(StudyTree, LabelsGoToTheSeriesThatTheyReferTo) {
  ScratchFolder dir;
  StudySeries one{.series = "1.2.5"}, other{.series = "1.2.6"};
  write_series(dir.path() / "p/a", one), write_series(dir.path() / "p/b", other);
  write_structure_set(dir.path() / "p/rs.dcm", other, {{4, "LEBER", 2, 6, 1, 3}, {5, "Milz neu", 0, 2, 0, 1}});
  StudyTree tree = read_study_tree(dir.path(), two_classes());
  ASSERT_EQ(tree.dataset.training.size(), 1u);
  const Case& item = tree.dataset.training[0];
  EXPECT_THAT(item.id, testing::StartsWith("ct_"));
  name_by_folders(tree.dataset);
  EXPECT_EQ(item.id, "p_b");
  EXPECT_EQ(item.images[0].parent_path(), dir.path() / "p/b");
  EXPECT_EQ(item.annotated, (std::vector{1, 2})) << "both classes were contoured";
  EXPECT_EQ(voxels_of_class(item, 1), 2 * 16);
  EXPECT_EQ(voxels_of_class(item, 2), 4);
  EXPECT_EQ(tree.unlabelled, 1);
  EXPECT_THAT(tree.dataset.channels, ElementsAre("CT"));
  EXPECT_THAT(tree.dataset.label_names, ElementsAre("background", "liver", "spleen"));
  EXPECT_THAT(left_out_text(tree), HasSubstr("1 series without labels"));
}

TEST(StudyTree, CasesOfOnePatientAreToldApartFromOthersByTheIdsInTheHeaders) {
  ScratchFolder dir;
  int number = 0;
  for (const char* patient : {"PLANTED 7", "", "planted 7", "8", ""}) {
    const std::string uid = "1.2.5" + std::to_string(++number);
    StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9"};
    ct.patient_id = patient;
    const auto folder = dir.path() / ("p" + std::to_string(number));
    write_series(folder / "ct", ct), write_structure_set(folder / "rs.dcm", ct, {{4, "Leber", 2, 6, 1, 3}});
  }
  StudyTree tree = read_study_tree(dir.path(), two_classes());
  name_by_folders(tree.dataset);
  EXPECT_THAT(cases_by_patient(tree.dataset.training), ElementsAre(ElementsAre("p1_ct", "p3_ct")))
      << "upper and lower case are one patient, and no id is nobody";
  std::map<std::string, int> patient_of;
  for (const Case& item : tree.dataset.training) patient_of[item.id] = item.patient;
  EXPECT_EQ(patient_of.at("p2_ct"), 0);
  EXPECT_GE(patient_of.at("p4_ct"), 1);
  EXPECT_LE(patient_of.at("p4_ct"), 2) << "a count, and no trace of the id";
}

TEST(StudyTree, LabelsWithoutAReferenceGoToTheThinnestSlicesOfTheirFrameAndThatIsSaid) {
  ScratchFolder dir;
  StudySeries thick{.series = "1.2.5", .slices = 2, .step_mm = 4}, thin{.series = "1.2.6", .kernel = "BONE"},
      soft{.series = "1.2.7", .kernel = "SOFT"}, lost{.series = "1.2.99"},
      elsewhere{.series = "1.2.8", .frame = "1.2.1"};
  write_series(dir.path() / "thick", thick), write_series(dir.path() / "sharp", thin);
  write_series(dir.path() / "soft", soft), write_series(dir.path() / "elsewhere", elsewhere);
  write_segmentation(dir.path() / "seg.dcm", lost, {{1, "liver", 0, 4, 0, 2}});
  StudyTree tree = read_study_tree(dir.path(), two_classes());
  name_by_folders(tree.dataset);
  ASSERT_EQ(tree.dataset.training.size(), 1u);
  EXPECT_EQ(tree.dataset.training[0].id, "soft");
  ASSERT_EQ(tree.dataset.notes.size(), 1u);
  EXPECT_EQ(tree.dataset.notes[0].id, "soft");
  EXPECT_EQ(tree.dataset.notes[0].code, "W_SERIES");
  EXPECT_THAT(tree.dataset.notes[0].reason, HasSubstr("3 lie in their frame of reference"));
  EXPECT_THAT(tree.dataset.notes[0].reason, HasSubstr("2.00 mm, SOFT"));
  EXPECT_EQ(voxels_of_class(tree.dataset.training[0], 1), 2 * 16);
  EXPECT_EQ(tree.unlabelled, 3);
}

TEST(StudyTree, AStructureThatWasNamedButNotContouredIsNotAnnotated) {
  ScratchFolder dir;
  const StudySeries ct;
  write_series(dir.path() / "ct", ct);
  write_structure_set(dir.path() / "rs.dcm", ct,
                      {{1, "Liver", 2, 6, 1, 3}, {2, "Spleen", 0, 0, 0, 0}, {3, "PTV 60", 0, 2, 0, 1}});
  const StudyTree tree = read_study_tree(dir.path(), two_classes());
  ASSERT_EQ(tree.dataset.training.size(), 1u);
  ASSERT_TRUE(tree.dataset.training[0].annotated);
  EXPECT_THAT(*tree.dataset.training[0].annotated, ElementsAre(1));
  EXPECT_THAT(tree.unmatched.text(), HasSubstr("PTV 60"));
}

TEST(StudyTree, ASegmentThatIsEmptyWasAnnotated) {
  ScratchFolder dir;
  const StudySeries ct;
  write_series(dir.path() / "ct", ct);
  write_segmentation(dir.path() / "seg.dcm", ct, {{1, "liver", 0, 4, 0, 2}, {2, "spleen", 0, 0, 0, 0}});
  EXPECT_EQ(read_study_tree(dir.path(), two_classes()).dataset.training.at(0).annotated, (std::vector{1, 2}));
}

TEST(StudyTree, FilesOfOneImageAreJoinedAndTheHighestClassHasSharedVoxelsInAnyOrder) {
  const StudySeries ct;
  for (const bool turned : {false, true}) {
    ScratchFolder dir;
    write_series(dir.path() / "ct", ct);
    write_segmentation(dir.path() / (turned ? "2" : "1"), ct, {{1, "liver", 0, 4, 0, 2}});
    write_structure_set(dir.path() / (turned ? "1" : "2"), ct, {{9, "spleen", 2, 6, 1, 3}});
    const StudyTree tree = read_study_tree(dir.path(), two_classes());
    ASSERT_EQ(tree.dataset.training.size(), 1u);
    const Case& item = tree.dataset.training[0];
    ASSERT_EQ(item.structures.size(), 2u);
    EXPECT_EQ(item.annotated, (std::vector{1, 2}));
    EXPECT_EQ(voxels_of_class(item, 1), 2 * 16 - 4);
    EXPECT_EQ(voxels_of_class(item, 2), 2 * 16);
    const CaseLabel read = read_case_label(item, read_volume_info(item.images[0]).geometry);
    EXPECT_THAT(read.notes, testing::Contains(HasSubstr("W_OVERLAP 4 voxels")));
  }
}

TEST(StudyTree, LabelsThatCannotBeUsedAreProblemsWithoutAName) {
  ScratchFolder dir;
  const StudySeries ct, lost{.series = "1.2.99", .frame = "1.2.98"};
  write_series(dir.path() / "MEIER^ANNA/ct", ct);
  write_structure_set(dir.path() / "MEIER^ANNA/rs.dcm", ct, {{1, "Liver", 2, 6, 1, 3}});
  write_structure_set(dir.path() / "MEIER^ANNA/lost.dcm", lost, {{1, "Liver", 2, 6, 1, 3}});
  write_structure_set(dir.path() / "MEIER^ANNA/double.dcm", ct, {{1, "Liver", 2, 6, 1, 3}, {1, "Spleen", 2, 6, 1, 3}});
  const StudyTree tree = read_study_tree(dir.path(), two_classes());
  EXPECT_EQ(tree.dataset.training.size(), 1u);
  ASSERT_EQ(tree.dataset.problems.size(), 2u);
  std::map<std::string, std::string> reasons;
  for (const CaseProblem& p : tree.dataset.problems) {
    reasons[p.code] = p.reason;
    EXPECT_THAT(p.reason, Not(HasSubstr("MEIER")));
    EXPECT_THAT(p.reason, Not(HasSubstr("1.2.9")));
    ASSERT_EQ(p.files.size(), 1u);
  }
  EXPECT_THAT(reasons["E_MISSING"], HasSubstr("not in the tree"));
  EXPECT_TRUE(reasons.contains("E_DUPLICATE"));
}

TEST(StudyTree, ATreeWithoutLabelsOfTheClassesSaysWhatIsThere) {
  ScratchFolder dir;
  const StudySeries ct;
  write_series(dir.path() / "ct", ct);
  expect_error(ErrorKind::kNoCase, "1 series without labels", [&] { read_study_tree(dir.path(), two_classes()); });
  write_structure_set(dir.path() / "rs.dcm", ct, {{1, "Heart", 2, 6, 1, 3}});
  expect_error(ErrorKind::kNoCase, "Heart", [&] { read_study_tree(dir.path(), two_classes()); });
}

TEST(StudyTree, ASecondModalityIsLeftOutByName) {
  ScratchFolder dir;
  for (int i = 0; i < 3; ++i) {
    const std::string uid = "1.2.4" + std::to_string(i);
    const StudySeries series{.series = uid, .frame = uid + ".1", .modality = i == 1 ? "MR" : "CT"};
    write_series(dir.path() / std::to_string(i) / "images", series);
    write_structure_set(dir.path() / std::to_string(i) / "rs.dcm", series, {{1, "Liver", 2, 6, 1, 3}});
  }
  StudyTree tree = read_study_tree(dir.path(), two_classes());
  name_by_folders(tree.dataset);
  EXPECT_THAT(case_ids(tree.dataset.training), ElementsAre("0_images", "2_images"));
  ASSERT_EQ(tree.dataset.problems.size(), 1u);
  EXPECT_EQ(tree.dataset.problems[0].code, "E_SERIES");
}

TEST(StudyTree, RealSegmentationsFindTheirImageAndEqualTheMapThatTheyWereMadeOf) {
  const fs::path folder = test_data() / "dicom_tricky" / "dcmqi" / "23x38x3";
  REQUIRE_TEST_DATA(folder);
  ClassMap every{.classes = {{"any", {}, {"*"}}}};
  const StudyTree tree = read_study_tree(folder, every);
  ASSERT_EQ(tree.dataset.training.size(), 1u);
  const Volume map = read_label(folder / "nrrd" / "label.nrrd");
  const auto* v = map.voxels.as<std::int32_t>();
  EXPECT_EQ(voxels_of_class(tree.dataset.training[0], 1),
            map.voxels.count() - std::count(v, v + map.voxels.count(), 0));
}

TEST(StudyTree, TheMemoryOfLabelsCountsTheVoxelsOfASegmentationOnAFinerGrid) {
  ScratchFolder dir;
  const StudySeries ct;
  StudySeries fine = ct;
  fine.side = 64, fine.slices = 16;
  write_series(dir.path() / "ct", ct);
  write_segmentation(dir.path() / "seg.dcm", fine, {{1, "Leber", 2, 6, 1, 3}});
  const StudyTree tree = read_study_tree(dir.path(), two_classes());
  const Case& item = tree.dataset.training.at(0);
  const VolumeInfo label = read_label_info(item, read_volume_info(item.images[0]));
  EXPECT_EQ(label.geometry.size[0], 8);
  EXPECT_GE(label.extra_bytes, 4 * 64 * 64 * 16) << "as f32, beside the label map on the image";
}

/// Packs all files below a folder.
std::string packed(const fs::path& folder) {
  std::vector<PackedEntry> entries;
  for (const auto& file : fs::recursive_directory_iterator(folder))
    if (file.is_regular_file()) entries.push_back({file.path().lexically_relative(folder), read_bytes(file.path())});
  return archive_bytes("zip", entries);
}

TEST(StudyTree, StudiesInArchivesAreThoseOfTheirFolders) {
  ScratchFolder dir;
  for (int i = 0; i < 20; ++i) {  // more than stay unpacked
    const std::string uid = "1.2." + std::to_string(i + 5), name = "MEIER_" + std::to_string(i);
    const StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .slices = 3 + i % 2};
    write_series(dir.path() / "folders" / name / "ct", ct);
    write_structure_set(dir.path() / "folders" / name / "rs.dcm", ct, {{4, "LEBER", 2, 6, 1, 3}});
    write_segmentation(dir.path() / "folders" / name / "seg.dcm", ct, {{1, "milz", 0, i % 4, 0, 1}});
    write_bytes(dir.path() / "archives" / (name + ".zip"), packed(dir.path() / "folders" / name));
  }
  write_bytes(dir.path() / "archives/broken.zip", "no archive");
  StudyTree folders = read_study_tree(dir.path() / "folders", two_classes());
  StudyTree archives = read_study_tree(dir.path() / "archives", two_classes());
  ASSERT_EQ(archives.dataset.problems.size(), 1u);
  EXPECT_EQ(archives.dataset.problems[0].code, "E_ARCHIVE");
  EXPECT_THAT(archives.dataset.problems[0].reason, Not(HasSubstr("broken")));
  const auto by_id = [](const Case& a, const Case& b) { return a.id < b.id; };
  std::ranges::sort(folders.dataset.training, by_id), std::ranges::sort(archives.dataset.training, by_id);
  ASSERT_EQ(case_ids(archives.dataset.training), case_ids(folders.dataset.training));
  for (std::size_t i = 0; i < 20; ++i) {
    const Case &one = archives.dataset.training[i], &other = folders.dataset.training[i];
    EXPECT_EQ(one.annotated, other.annotated);
    ASSERT_EQ(one.structures.size(), 2u);
    for (const ClassedStructures& labels : one.structures)
      EXPECT_EQ(containing_file(labels.file).extension(), ".zip") << labels.file;
    const VolumeInfo image = read_volume_info(one.images[0]);
    EXPECT_GT(read_label_info(one, image).file_bytes, 0);
    EXPECT_EQ(read_label_info(one, image).file_bytes, read_label_info(other, image).file_bytes);
    for (const int label : {1, 2}) EXPECT_EQ(voxels_of_class(one, label), voxels_of_class(other, label));
    EXPECT_EQ(voxels_of_class(one, 1), 2 * 16);
  }
  name_by_folders(archives.dataset);
  EXPECT_EQ(archives.dataset.training[0].id, "MEIER_0");
}

}  // namespace
}  // namespace voxshard
