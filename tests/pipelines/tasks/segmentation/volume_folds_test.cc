// The folds of volumes: cases of one patient on one side.
#include "pipelines/tasks/segmentation/volume_folds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/tasks/segmentation/checks/patients.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PreparedDataset dataset_of(const std::vector<std::string>& ids) {
  PreparedDataset dataset;
  for (const std::string& id : ids) dataset.cases.push_back({.id = id});
  return dataset;
}

TEST(VolumeFolds, CasesOfAPatientByTheirIdsStandOnOneSide) {
  std::vector<std::string> ids;
  for (int patient = 0; patient < 6; ++patient)
    for (const char* session : {"_ses-1", "_ses-2"}) ids.push_back("sub-0" + std::to_string(patient) + session);
  const PreparedDataset dataset = dataset_of(ids);
  const std::vector<Split> folds = folds_of(dataset, "0");
  ASSERT_EQ(folds.size(), 5u);
  for (const Split& fold : folds)
    for (const std::string& held : fold.val)
      for (const std::string& trained : fold.train) EXPECT_NE(patient_of(held), patient_of(trained));
  EXPECT_EQ(patients_text(dataset, folds), "12 cases are of 6 patients: each fold keeps those of a patient together");
}

TEST(VolumeFolds, HeadersComeBeforeIds) {
  PreparedDataset dataset = dataset_of({"sub-1_a", "sub-1_b", "sub-2_a", "sub-2_b"});
  dataset.same_patient = {{"sub-1_a", "sub-2_a"}};
  const std::vector<Split> folds = folds_of(dataset, "0");
  EXPECT_EQ(folds.size(), 3u) << "the other two are patients of their own";
  for (const Split& fold : folds)
    EXPECT_EQ(std::ranges::count(fold.val, "sub-1_a"), std::ranges::count(fold.val, "sub-2_a"));
}

TEST(VolumeFolds, WordsThatOnlyBeginAsAPatientsAreNone) {
  for (const char* id : {"subset1_003", "pattern2_07", "patch3_12", "patients2020_001"}) EXPECT_EQ(patient_of(id), id);
  for (const char* id : {"sub-012_ses-2", "sub012_a", "pt_12_b", "Patient 3_c", "pat7-d"})
    EXPECT_NE(patient_of(id), id) << id;
}

TEST(VolumeFolds, AFileOfFoldsBesideTheDataSetIsNotReadWhichIsSaid) {
  const Scene scene("volume_folds_file");
  std::filesystem::create_directories(scene.data());
  std::filesystem::create_directories(scene.work());
  std::ofstream(scene.work() / "run.json") << nlohmann::json{{"dataset", scene.data()}};
  PreparedDataset dataset = dataset_of({"a", "b", "c", "d"});
  dataset.folder = scene.work();
  const std::vector<Split> folds = folds_of(dataset, "0");
  EXPECT_THAT(folds_file_text(dataset, folds), IsEmpty());
  std::ofstream(scene.data() / "splits_final.json") << R"([{"train": ["a", "b"], "val": ["c"]}])";
  EXPECT_EQ(folds_of(dataset, "0").size(), folds.size());
  EXPECT_THAT(folds_file_text(dataset, folds), HasSubstr("splits_final.json is not read"));
  EXPECT_THAT(folds_file_text(dataset, {}), IsEmpty()) << "all cases train";
}

TEST(VolumeFolds, OneCaseHasOneFoldInWhichItTrains) {
  const PreparedDataset dataset = dataset_of({"a"});
  EXPECT_THAT(choose_split(dataset, folds_of(dataset, "0"), "0").train, ElementsAre("a"));
  expect_error(ErrorKind::kConfig, "{fold} is \"7\"", [&] { choose_split(dataset, folds_of(dataset, "7"), "7"); });
}

}  // namespace
}  // namespace voxshard
