// Each rule of a check on facts that are written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "libcore/base/codes.h"
#include "pipelines/tasks/segmentation/checks/patients.h"
#include "pipelines/tasks/segmentation/quality/leave_one_out.h"
#include "tests/pipelines/tasks/segmentation/checks/check_scene.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckRules, FindNothingInAUsualSet) { EXPECT_THAT(apply_rules(check_rules(), usual_set()), IsEmpty()); }

TEST(CheckRules, HaveACodeOfTheTableAndOneFunctionEach) {
  for (const CheckRule& rule : check_rules()) {
    EXPECT_NE(meaning_of(rule.code), nullptr) << rule.code;
    EXPECT_NE(rule.of_case == nullptr, rule.of_set == nullptr) << rule.code;
    EXPECT_GT(std::string(rule.next).size(), 10u) << rule.code;
  }
}

TEST(CheckRules, ComparesTheGridsOfImageAndLabel) {
  CheckedSet set = usual_set();
  set.cases[0].label->geometry.size = {40, 50, 61};
  set.cases[1].label->geometry.spacing[2] = 3.1;
  set.cases[2].label->geometry.origin[0] = -38;
  set.cases[3].label->geometry.direction[0] = -1;
  set.cases[4].label->geometry.origin[0] += 0.009;  // within the rounding of headers
  EXPECT_THAT(codes_of(set, "case_0"), ElementsAre("E_SHAPE"));
  EXPECT_THAT(codes_of(set, "case_1"), ElementsAre("E_SPACING"));
  EXPECT_THAT(codes_of(set, "case_2"), ElementsAre("E_ORIGIN"));
  EXPECT_THAT(codes_of(set, "case_3"), ElementsAre("E_DIRECTION"));
  EXPECT_THAT(codes_of(set, "case_4"), IsEmpty());
  EXPECT_THAT(finding_of(set, "case_2", "E_ORIGIN").what, HasSubstr("begins at -38.00, -50.00, 0.00 mm"));
}

TEST(CheckRules, ReportsProblemsOfFilesFirst) {
  CheckedSet set = usual_set();
  set.cases[3].problems = {{"case_3", "E_NAN", "case_3_0000.nii.gz has 1 voxel that is NaN"}};
  set.cases[3].wrong_voxels = 2, set.cases[3].first_wrong = 9;
  EXPECT_THAT(codes_of(set, "case_3"), ElementsAre("E_NAN", "E_LABELS"));
  EXPECT_TRUE(excludes(finding_of(set, "case_3", "E_NAN")));
  EXPECT_THAT(finding_of(set, "case_3", "E_LABELS").what,
              HasSubstr("2 voxels have a label outside of the classes 0 to 3"));
}

TEST(CheckRules, ALabelMapWithoutClassesIsEmptyOnlyIfItWasRead) {
  CheckedSet set = usual_set();
  set.cases[0].classes.clear();
  set.cases[1].classes.clear(), set.cases[1].label_is_read = false;
  EXPECT_THAT(codes_of(set, "case_0"), ElementsAre("W_EMPTY"));
  EXPECT_THAT(codes_of(set, "case_1"), IsEmpty());
}

TEST(CheckRules, JudgesHounsfieldUnitsOfCtAlone) {
  CheckedSet set = usual_set();
  set.cases[0].hu = HuRange{0, 4095};  // the intercept is missing
  set.cases[1].hu = HuRange{-1000, 1e6};
  set.cases[2].hu = HuRange{-1024, -500};
  set.cases[3].hu = HuRange{-3024, 21878};  // padding of a scanner, metal
  for (const char* id : {"case_0", "case_1", "case_2"}) EXPECT_THAT(codes_of(set, id), ElementsAre("W_HU")) << id;
  EXPECT_THAT(codes_of(set, "case_3"), IsEmpty());
  set.is_ct = false;
  EXPECT_THAT(codes_of(set, "case_0"), IsEmpty());
}

TEST(CheckRules, FindsLeftAndRightOnTheWrongSides) {
  CheckedSet set = usual_set();
  std::swap(set.cases[7].classes[1], set.cases[7].classes[2]);
  EXPECT_THAT(codes_of(set, "case_7"), Contains("W_SIDES"));
  const Finding found = finding_of(set, "case_7", "W_SIDES");
  EXPECT_THAT(found.what, HasSubstr("kidney_left (1) lies 12"));
  EXPECT_THAT(found.classes, ElementsAre(1, 2));
  set.cases.erase(set.cases.begin(), set.cases.begin() + 7), set.cases.resize(1);
  EXPECT_THAT(codes_of(set, "case_7"), ElementsAre("W_SIDES")) << "names suffice, without other cases";
}

TEST(CheckRules, JudgesEachClassByTheOtherCases) {
  CheckedSet set = usual_set();
  set.cases[0].classes[1].volume_ml = 419;
  set.cases[1].classes[2].spread_mm = 90;
  set.cases[2].classes[3].mean_hu = 300;
  set.cases[3].classes[3].centre_mm = {5, -40, 180};
  EXPECT_THAT(codes_of(set, "case_0"), ElementsAre("W_VOLUME"));
  EXPECT_THAT(finding_of(set, "case_0", "W_VOLUME").what,
              "kidney_left (1) has 419.0 ml; usual in the other cases: 150.0 ml");
  EXPECT_THAT(codes_of(set, "case_1"), ElementsAre("W_EXTENT"));
  EXPECT_THAT(codes_of(set, "case_2"), ElementsAre("W_INTENSITY"));
  EXPECT_THAT(codes_of(set, "case_3"), ElementsAre("W_PLACE"));
  EXPECT_THAT(finding_of(set, "case_3", "W_PLACE").what, HasSubstr("mm below its usual place"));
  for (std::size_t i = 4; i < kUsualCases; ++i) EXPECT_THAT(codes_of(set, set.cases[i].id), IsEmpty());
}

TEST(CheckRules, FewCasesJudgeNoClass) {
  CheckedSet set = usual_set();
  set.cases.resize(kFewestOthers);
  set.cases[0].classes[1].volume_ml = 419;
  EXPECT_THAT(codes_of(set, "case_0"), IsEmpty());
}

TEST(CheckRules, FindsTwoSwappedClassesInMoreThanOneCase) {
  CheckedSet set = usual_set();
  for (int copy = 0; copy < 2; ++copy)  // 36 cases, so that one of the others may be wrong too
    for (std::size_t i = 0; i < kUsualCases; ++i) {
      set.cases.push_back(set.cases[i]);
      CaseFacts& facts = set.cases.back();
      facts.id = "copy_" + std::to_string(copy) + "_" + std::to_string(i);
      facts.image_hashes = {facts.id}, facts.label_hash = facts.id;
    }
  for (const std::size_t i : {std::size_t{5}, std::size_t{20}}) {
    std::swap(set.cases[i].classes[1], set.cases[i].classes[3]);
    EXPECT_THAT(codes_of(set, set.cases[i].id), Contains("W_ORDER"));
  }
  EXPECT_THAT(codes_of(set, "case_5"), Contains("W_ORDER"));
  EXPECT_THAT(finding_of(set, "case_5", "W_ORDER").classes, ElementsAre(1, 3));
  EXPECT_THAT(codes_of(set, "case_6"), IsEmpty());
}

TEST(CheckRules, FindsShiftedLabelsAndThoseOfAnotherImage) {
  CheckedSet set = usual_set();
  set.cases[0].fit = BorderFit{.contrast = 1.2, .best_contrast = 1.9, .shift = {0, 0, -3}, .faces = 1000};
  set.cases[1].fit = BorderFit{.contrast = 1.05, .best_contrast = 1.25, .shift = {4, 0, 0}, .faces = 1000};
  EXPECT_THAT(codes_of(set, "case_0"), ElementsAre("W_SHIFT"));
  EXPECT_THAT(finding_of(set, "case_0", "W_SHIFT").what, HasSubstr("moved by 0, 0, -3 voxels"));
  EXPECT_THAT(codes_of(set, "case_1"), ElementsAre("W_FIT")) << "no shift makes it fit";
  set.cases[2].fit = BorderFit{.contrast = 1.5, .best_contrast = 2.2, .shift = {0, 0, 1}, .faces = 1000};
  EXPECT_THAT(codes_of(set, "case_2"), IsEmpty()) << "a contour may stop a voxel beside an edge";
  set.cases.resize(2);
  EXPECT_THAT(codes_of(set, "case_0"), ElementsAre("W_SHIFT")) << "without other cases";
}

TEST(CheckRules, LabelsBesideThoseOfTheOtherCasesByHalfAVoxelAreFound) {
  CheckedSet set = usual_set();
  for (std::size_t i = 0; i < set.cases.size(); ++i)
    set.cases[i].fit->peak = {0.3 + 0.01 * static_cast<double>(i % 4), 0, std::nullopt};
  EXPECT_TRUE(apply_rules(check_rules(), set).empty()) << "all contours of the set lie 0.3 voxels beside the edges";
  set.cases[2].fit->peak[0] = 0.7, set.cases[5].fit->peak[0] = -0.7;
  EXPECT_TRUE(codes_of(set, "case_2").empty());
  EXPECT_THAT(codes_of(set, "case_5"), ElementsAre("W_SHIFT"));
  EXPECT_THAT(finding_of(set, "case_5", "W_SHIFT").what, HasSubstr("moved by -1.0, 0.0, 0.0 voxels along x, y, z"));
  set.cases[5].fit->best_contrast = 1.1;
  EXPECT_TRUE(finding_of(set, "case_5", "W_SHIFT").code.empty()) << "they fit nowhere";
  set.cases.resize(8), set.cases[5].fit->best_contrast = 2;
  EXPECT_TRUE(codes_of(set, "case_5").empty()) << "too few other cases";
}

TEST(CheckRules, FindsDoubles) {
  CheckedSet set = usual_set();
  set.cases[2].image_hashes = set.cases[1].image_hashes;
  set.cases[4].image_hashes = set.cases[3].image_hashes, set.cases[4].label_hash = set.cases[3].label_hash;
  set.cases[6].label_hash = set.cases[5].label_hash, set.cases[6].part = "test";
  EXPECT_THAT(finding_of(set, "case_2", "W_DOUBLE").what, "the image of case_1 again");
  EXPECT_THAT(finding_of(set, "case_4", "W_DOUBLE").what, "the image and the label map of case_3 again");
  EXPECT_THAT(finding_of(set, "case_6", "W_DOUBLE").what, "the label map of case_5 again (test and training)");
  EXPECT_EQ(finding_of(set, "case_6", "W_DOUBLE").other, "case_5");
  for (const char* id : {"case_1", "case_3", "case_5"}) EXPECT_THAT(codes_of(set, id), IsEmpty()) << id;
}

TEST(CheckRules, FindsAPatientOnBothSidesOfASplit) {
  CheckedSet set = usual_set();
  set.cases[0].id = "sub-012_ses-1", set.cases[1].id = "sub-012_ses-2", set.cases[2].id = "sub-013_ses-1";
  set.cases[1].part = set.cases[2].part = "test";
  EXPECT_THAT(codes_of(set, "sub-012_ses-2"), ElementsAre("W_PATIENT"));
  EXPECT_THAT(codes_of(set, "sub-013_ses-1"), IsEmpty());
  set.cases[1].part = "training";
  set.splits = {{{"sub-013_ses-1"}, {"case_3"}}, {{"sub-012_ses-1"}, {"sub-012_ses-2"}}};
  EXPECT_THAT(finding_of(set, "sub-012_ses-2", "W_PATIENT").what, HasSubstr("fold 1"));
}

TEST(CheckRules, PatientsThatHeadersTellApartAreFoundWithoutAName) {
  CheckedSet set = usual_set();
  set.cases[0].patient = 1, set.cases[3].patient = 1, set.cases[4].patient = 2;
  set.cases[3].part = set.cases[4].part = "test";
  const Finding found = finding_of(set, "case_3", "W_PATIENT");
  EXPECT_EQ(found.other, "case_0");
  EXPECT_THAT(found.what, HasSubstr("by the patient ids of the headers, is in the training part and in the test part"));
  EXPECT_THAT(codes_of(set, "case_4"), IsEmpty());
  set.cases[3].part = set.cases[4].part = "training";
  EXPECT_THAT(codes_of(set, "case_3"), IsEmpty()) << "folds keep them together";
}

TEST(Patients, AreNamedByTheNumberBehindAWord) {
  EXPECT_EQ(patient_of("sub-012_ses-2"), "sub-012");
  EXPECT_EQ(patient_of("pt_012_followup"), "pt_012");
  EXPECT_EQ(patient_of("CT_Patient07.scan2"), "CT_Patient07");
  EXPECT_EQ(patient_of("liver_03"), "liver_03");
  EXPECT_EQ(patient_of("subtraction_4"), "subtraction_4") << "no word of its own";
  EXPECT_EQ(patient_of("pt"), "pt");
  EXPECT_EQ(patient_of(""), "");
}

}  // namespace
}  // namespace voxshard
