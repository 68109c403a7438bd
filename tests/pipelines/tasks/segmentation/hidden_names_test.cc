// What is said of anonymous cases carries no name of a file or folder, whatever goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/tasks/segmentation/checks/check_dataset.h"
#include "pipelines/tasks/segmentation/dataset/hiding_paths.h"
#include "tests/expect_error.h"
#include "tests/io/study_files.h"
#include "tests/pipelines/prepare_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(HiddenNames, OfAFolderAreInNoRefusal) {
  Scene scene("hidden_refusal");
  fs::create_directories(scene.path("B"));
  write_series(scene.path("A") / "MEIER", {.patient = "MEIER"});
  const Geometry grid = read_volume_info(scene.path("A") / "MEIER").geometry;
  Volume label{grid, Tensor(DType::kI32, grid.shape())};
  label.voxels.as<std::int32_t>()[0] = 1;
  write_volume(scene.path("B") / "MEIER.nii.gz", label, DiskType::kU8);
  std::ofstream(scene.path("map.toml")) << "[[class]]\nname = \"liver\"\n";
  PrepareOptions o;
  o.work = scene.work();
  o.source.images = scene.path("A"), o.source.labels = scene.path("B"), o.source.classes = scene.path("map.toml");
  o.normalise = Normalise::kZscore, o.spacing = "0.1,0.1,0.1", o.formats.limits.most_voxels = 1000;
  EXPECT_THROW(prepare_dataset(o, scene.progress), Error);
  std::string all = Scene::bytes_of(scene.work() / "quarantine.csv");
  for (const std::string& line : scene.progress.lines) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("voxels, more than the 1000"));
  EXPECT_THAT(all, Not(HasSubstr("MEIER")));

  CheckDatasetOptions check{.source = o.source};
  check.formats.limits.most_voxels = 10;
  const CheckReport report = check_dataset(check, scene.progress);
  ASSERT_FALSE(report.findings.empty());
  for (const Finding& finding : report.findings) EXPECT_THAT(finding.what, Not(HasSubstr("MEIER")));
}

TEST(HiddenNames, OfAFileThatVanishedAreToldByTheSystemsReasonAlone) {
  const Case item{.id = "case_0001", .images = {"/nowhere/MEIER.nii"}, .label = {}, .anonymous = true};
  try {
    hiding_paths(item, [&] { return fs::file_size(item.images[0]); });
    FAIL() << "there is no such file";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput) << "it costs its case";
    EXPECT_THAT(e.what(), HasSubstr("No such file"));
    EXPECT_THAT(e.what(), Not(HasSubstr("MEIER")));
  }
}

}  // namespace
}  // namespace voxshard
