// A check of a folder: planted faults of files, its outputs, and what it needs no deep pass for.
#include "pipelines/tasks/segmentation/checks/check_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Three cases with values of HU and label maps of their own, since equal ones are a finding.
struct CheckScene : Scene {
  explicit CheckScene(const std::string& name) : Scene(name) {
    write_dataset(3);
    for (int i = 0; i < 3; ++i) {
      Volume image = make_image(i), label = make_label();
      image.voxels.as<float>()[0] = -1000;
      label.voxels.as<std::int32_t>()[i] = 0;
      write_volume(this->image(i), image, DiskType::kI16);
      write_volume(this->label(i), label, DiskType::kU8);
    }
  }
  CheckReport check(bool deep = true) { return check_dataset({.dataset = data(), .deep = deep}, progress); }
  std::vector<std::string> codes(const CheckReport& report, int i) const {
    std::vector<std::string> codes;
    for (const Finding& f : report.findings)
      if (f.id == id(i)) codes.push_back(f.code);
    return codes;
  }
};

TEST(CheckDataset, FindsNothingInAWholeSet) {
  CheckScene scene("check_whole");
  const CheckReport report = scene.check();
  EXPECT_THAT(report.findings, IsEmpty()) << to_text(report);
  EXPECT_EQ(report.training, 3);
  EXPECT_THAT(report.skipped, IsEmpty());
  EXPECT_THAT(to_text(report), HasSubstr("0 findings in 0 cases of 3 training and 0 test cases"));
}

TEST(CheckDataset, AFaultCostsItsCaseAlone) {
  CheckScene scene("check_faults");
  Scene::truncate(scene.image(0));
  Volume label = Scene::make_label({12, 10, 7});
  write_volume(scene.label(1), label, DiskType::kU8);
  label = Scene::make_label();
  label.voxels.as<std::int32_t>()[5] = 7, label.geometry.origin[2] += 3;
  write_volume(scene.label(2), label, DiskType::kU8);
  const CheckReport report = scene.check();
  EXPECT_THAT(scene.codes(report, 0), ElementsAre("E_READ"));
  EXPECT_THAT(scene.codes(report, 1), ElementsAre("E_SHAPE"));
  EXPECT_THAT(scene.codes(report, 2), ElementsAre("E_ORIGIN", "E_LABELS"));
  EXPECT_EQ(report.odd_cases, 3);
}

TEST(CheckDataset, TheVoxelsOfImagesAreReadByADeepCheckAlone) {
  CheckScene scene("check_deep");
  write_volume(scene.image(0), Scene::make_image(0), DiskType::kI16);  // no voxel is as low as air
  write_volume(scene.image(1), Scene::make_image(2), DiskType::kI16);
  write_volume(scene.image(2), Scene::make_image(2), DiskType::kF32);  // the same voxels in another file
  const CheckReport quick = scene.check(false);
  EXPECT_THAT(quick.findings, IsEmpty()) << to_text(quick);
  EXPECT_THAT(quick.skipped, ElementsAre("W_HU", "W_SHIFT", "W_FIT", "W_INTENSITY"));
  EXPECT_THAT(to_text(quick), HasSubstr("not checked without {deep}"));
  const CheckReport deep = scene.check();
  EXPECT_THAT(scene.codes(deep, 0), ElementsAre("W_HU"));
  EXPECT_THAT(scene.codes(deep, 2), ElementsAre("W_HU", "W_DOUBLE"));
}

TEST(CheckDataset, FindsNanWithItsPlace) {
  CheckScene scene("check_nan");
  scene.ending = ".nii";
  CheckScene plain("check_nan_plain");
  std::filesystem::remove_all(plain.data());
  plain.ending = ".nii";
  plain.write_dataset(1);
  Volume image = Scene::make_image(0);
  image.voxels.as<float>()[0] = -1000;
  write_volume(plain.image(0), image, DiskType::kF32);
  Scene::plant_nan(plain.image(0), 7);
  EXPECT_THAT(plain.codes(plain.check(), 0), ElementsAre("E_NAN"));
  EXPECT_THAT(plain.check(false).findings, IsEmpty());
}

TEST(CheckDataset, ACaseWithoutItsFileIsNamed) {
  CheckScene scene("check_missing");
  std::filesystem::remove(scene.label(1));
  const CheckReport report = scene.check();
  EXPECT_THAT(scene.codes(report, 1), ElementsAre("E_MISSING"));
  EXPECT_EQ(report.training, 2);
}

TEST(CheckDataset, WritesPicturesAndLists) {
  CheckScene scene("check_output");
  Volume label = Scene::make_label();
  for (std::int64_t i = 0; i < label.voxels.count(); ++i) label.voxels.as<std::int32_t>()[i] *= 2;  // labels 2 and 4
  write_volume(scene.label(1), label, DiskType::kU8);
  const CheckReport report =
      check_dataset({.dataset = scene.data(), .output = scene.path("out"), .csv = scene.path("f.csv")}, scene.progress);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].picture, "001_E_LABELS.png");
  EXPECT_EQ(read_bytes(scene.path("out") / "001_E_LABELS.png").substr(1, 3), "PNG");
  const auto json = read_json(scene.path("out") / "findings.json");
  EXPECT_EQ(json.at("findings").at(0).at("picture"), "001_E_LABELS.png");
  EXPECT_EQ(json.at("findings").at(0).at("severity"), "error");
  const std::string csv = read_bytes(scene.path("f.csv"));
  EXPECT_EQ(csv, read_bytes(scene.path("out") / "findings.csv"));
  EXPECT_THAT(csv, HasSubstr("case,code,classes,what,next,other,picture\ncase_1,E_LABELS,,"));
  write_volume(scene.label(1), Scene::make_label(), DiskType::kU8);
  check_dataset({.dataset = scene.data(), .output = scene.path("out"), .csv = scene.path("f.csv")}, scene.progress);
  EXPECT_FALSE(std::filesystem::exists(scene.path("out") / "001_E_LABELS.png")) << "of an earlier check";
}

TEST(CheckDataset, GridsThatAreApartHaveAPictureOfBothPlaces) {
  CheckScene scene("check_grids");
  Volume label = Scene::make_label({12, 10, 7});
  write_volume(scene.label(0), label, DiskType::kU8);
  label = Scene::make_label();
  label.voxels.as<std::int32_t>()[1] = 0;
  write_volume(scene.label(1), label, DiskType::kU8);
  label.voxels.as<std::int32_t>()[2] = 0, label.geometry.origin[2] += 9;
  write_volume(scene.label(2), label, DiskType::kU8);
  const CheckReport report = check_dataset({.dataset = scene.data(), .output = scene.path("out")}, scene.progress);
  ASSERT_EQ(report.findings.size(), 2u) << to_text(report);
  EXPECT_EQ(report.findings[0].picture, "001_E_SHAPE.png");
  EXPECT_EQ(report.findings[1].picture, "002_E_ORIGIN.png");
  const std::string moved = read_bytes(scene.path("out") / "002_E_ORIGIN.png");
  label.geometry.origin[2] += 6;
  write_volume(scene.label(2), label, DiskType::kU8);
  check_dataset({.dataset = scene.data(), .output = scene.path("out")}, scene.progress);
  EXPECT_NE(read_bytes(scene.path("out") / "002_E_ORIGIN.png"), moved) << "the outline follows the header";
}

TEST(CheckDataset, WritesNothingIntoTheDataSet) {
  CheckScene scene("check_inside");
  expect_error(ErrorKind::kUsage, "lie one in the other",
               [&] { check_dataset({.dataset = scene.data(), .output = scene.data() / "out"}, scene.progress); });
  expect_error(ErrorKind::kUsage, "lie one in the other",
               [&] { check_dataset({.dataset = scene.data(), .csv = scene.data() / "f.csv"}, scene.progress); });
}

TEST(CheckDataset, ACaseBeyondTheMemoryIsNamed) {
  CheckScene scene("check_memory");
  CheckDatasetOptions options{.dataset = scene.data(), .deep = true};
  options.formats.limits.memory_bytes = 1000;
  const CheckReport report = check_dataset(options, scene.progress);
  EXPECT_THAT(scene.codes(report, 0), ElementsAre("E_BUDGET"));
}

}  // namespace
}  // namespace voxshard
