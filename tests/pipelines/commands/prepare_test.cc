// `prepare` on whole folders: what it writes, what it refuses, how it resumes after an interruption.
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "io/volume/mapped_volume.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

PrepareReport prepare(Scene& scene, bool resume = false, int threads = 1) {
  PrepareOptions options;
  options.dataset = scene.data(), options.work = scene.work();
  options.resume = resume;
  return prepare_dataset(options, {scene.progress, {.threads = threads}});
}

void expect_quarantined(Scene& scene, const std::string& code, const std::string& text) {
  const PrepareReport report = prepare(scene);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "case_1");
  EXPECT_EQ(report.failures[0].code, code);
  EXPECT_THAT(report.failures[0].message, HasSubstr(text));
  EXPECT_EQ(report.prepared, 2);
  EXPECT_EQ(read_prepared(scene.work()).cases.size(), 2u);
  EXPECT_THAT(Scene::bytes_of(scene.work() / "quarantine.csv"), HasSubstr("case_1," + code));
}

TEST(Prepare, WritesWhatTrainReads) {
  Scene scene("prepare_writes");
  scene.write_dataset(3);
  const PrepareReport report = prepare(scene);
  EXPECT_EQ(report.prepared, 3);
  const PreparedDataset d = read_prepared(scene.work());
  ASSERT_EQ(d.cases.size(), 3u);
  EXPECT_EQ(d.plan, report.plan);
  EXPECT_EQ(d.plan.class_names, (std::vector<std::string>{"background", "one", "two"}));
  EXPECT_EQ(d.cases[0].shape, (Shape{8, 10, 12}));
  EXPECT_EQ(d.cases[0].class_voxels, (std::vector<std::int64_t>{480, 320, 160}));
  EXPECT_EQ(MappedVolume::open(d.cases[0].images.at(0)).shape(), (Shape{8, 10, 12}));
  EXPECT_EQ(MappedVolume::open(d.cases[0].label).dtype(), DType::kI32);
}

TEST(Prepare, ValuesThatAreNoHounsfieldUnitsAreRefusedAndNotCutOff) {
  for (const auto& [factor, words] :
       std::map<float, const char*>{{0.001f, "all alike within one Hounsfield unit"}, {1000.0f, "would cut off"}}) {
    Scene scene("prepare_no_hu");
    scene.write_dataset(3);
    for (int i = 0; i < 3; ++i) {
      Volume image = Scene::make_image(i);
      for (std::int64_t k = 0; k < image.voxels.count(); ++k)
        image.voxels.as<float>()[k] = 0.25f + factor * image.voxels.as<float>()[k];
      write_volume(scene.image(i), image, DiskType::kF32);
    }
    expect_error(ErrorKind::kConfig, words, [&] { prepare(scene); });
    PrepareOptions options;
    options.dataset = scene.data(), options.work = scene.path("zscore"), options.normalise = Normalise::kZscore;
    EXPECT_EQ(prepare_dataset(options, {scene.progress, {.threads = 1}}).prepared, 3);
  }
}

TEST(Prepare, ForegroundSamplesLieInTheirClass) {
  Scene scene("prepare_foreground");
  scene.write_dataset(1);
  prepare(scene);
  const PreparedDataset d = read_prepared(scene.work());
  const ForegroundVoxels voxels = load_foreground(d.cases[0], 3);
  const Volume label = read_label(d.cases[0].label);
  ASSERT_EQ(voxels.by_class.size(), 3u);
  EXPECT_TRUE(voxels.by_class[0].empty());
  for (int c : {1, 2}) {
    ASSERT_EQ(voxels.by_class[c].shape()[0], d.cases[0].class_voxels[c]);  // few: all of them, each once
    std::int64_t before = -1;
    for (std::int64_t i = 0; i < voxels.by_class[c].shape()[0]; ++i) {
      const auto* zyx = voxels.by_class[c].as<std::int32_t>() + 3 * i;
      const std::int64_t at = (zyx[0] * 10 + zyx[1]) * 12 + zyx[2];
      EXPECT_GT(at, before);
      EXPECT_EQ(label.voxels.as<std::int32_t>()[at], c);
      before = at;
    }
  }
}

TEST(Prepare, ManyForegroundVoxelsAreSpreadEvenly) {
  Tensor label(DType::kI32, {40, 40, 40});
  for (std::int64_t i = 0; i < label.count(); ++i) label.as<std::int32_t>()[i] = 1;
  const ForegroundVoxels voxels = sample_foreground(label, 2, "a", 7);
  ASSERT_EQ(voxels.by_class[1].shape()[0], kForegroundSamples);
  std::vector<int> per_plane(40, 0);
  for (std::int64_t i = 0; i < kForegroundSamples; ++i) ++per_plane[voxels.by_class[1].as<std::int32_t>()[3 * i]];
  for (int n : per_plane) EXPECT_NEAR(n, 250, 2);
}

TEST(Prepare, SameBytesForAnyThreads) {
  Scene one("prepare_one"), two("prepare_two");
  one.write_dataset(3), two.write_dataset(3);
  prepare(one, false, 1), prepare(two, false, 2);
  for (const char* file :
       {"fingerprint.json", "images/case_2.nii", "labels/case_1.nii", "foreground/case_0.safetensors"})
    EXPECT_EQ(Scene::bytes_of(one.work() / file), Scene::bytes_of(two.work() / file)) << file;
}

TEST(Prepare, TruncatedImageCostsItsCase) {
  Scene scene("prepare_truncated");
  scene.write_dataset(3);
  Scene::truncate(scene.image(1));
  expect_quarantined(scene, "E_READ", "case_1_0000.nii.gz");
}

TEST(Prepare, LabelOfAnotherShapeCostsItsCase) {
  Scene scene("prepare_shape");
  scene.write_dataset(3);
  write_volume(scene.label(1), Scene::make_label({12, 10, 7}), DiskType::kU8);
  expect_quarantined(scene, "E_SHAPE", "12x10x7");
}

TEST(Prepare, LabelOfAnotherPlaceCostsItsCase) {
  Scene scene("prepare_place");
  scene.write_dataset(3);
  Volume label = Scene::make_label();
  label.geometry.origin[2] += 30;
  write_volume(scene.label(1), label, DiskType::kU8);
  expect_quarantined(scene, "E_GEOMETRY", "origin");
}

TEST(Prepare, LabelOutsideTheClassesCostsItsCase) {
  Scene scene("prepare_labels");
  scene.write_dataset(3);
  Volume label = Scene::make_label();
  label.voxels.as<std::int32_t>()[5] = 9;
  write_volume(scene.label(1), label, DiskType::kU8);
  expect_quarantined(scene, "E_LABELS", "the first is 9");
}

TEST(Prepare, NanVoxelsCostTheirCase) {
  Scene scene("prepare_nan");
  scene.ending = ".nii";
  scene.write_dataset(3);
  write_volume(scene.image(1), Scene::make_image(1), DiskType::kF32);
  Scene::plant_nan(scene.image(1), 3);
  expect_quarantined(scene, "E_NAN", "NaN");
}

TEST(Prepare, MissingLabelCostsItsCase) {
  Scene scene("prepare_missing");
  scene.write_dataset(3);
  std::filesystem::remove(scene.label(1));
  expect_quarantined(scene, "E_MISSING", "label");
}

TEST(Prepare, NothingUsableIsAnErrorThatNamesTheFirstCause) {
  Scene scene("prepare_none");
  scene.write_dataset(2);
  for (int i : {0, 1}) Scene::truncate(scene.image(i));
  expect_error(ErrorKind::kNoCase, "case_0", [&] { prepare(scene); });
  EXPECT_FALSE(std::filesystem::exists(scene.work() / "dataset.json"));
  EXPECT_THAT(Scene::bytes_of(scene.work() / "quarantine.csv"), HasSubstr("case_1"));
}

TEST(Prepare, ResumeSkipsFinishedCasesAndNoticesAChangedFile) {
  Scene scene("prepare_resume");
  scene.write_dataset(3);
  prepare(scene);
  std::filesystem::remove(scene.work() / "cases" / "case_0.json");
  PrepareReport again = prepare(scene, true);
  EXPECT_EQ(again.prepared, 1);
  EXPECT_EQ(again.skipped, 2);
  write_volume(scene.image(2), Scene::make_image(7), DiskType::kI16);
  std::filesystem::last_write_time(scene.image(2),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  again = prepare(scene, true);
  EXPECT_EQ(again.prepared, 3) << "another image changes the fingerprint, so every case";
}

TEST(Prepare, AStopLeavesNoDatasetAndResumeEndsWithTheSameBytes) {
  Scene whole("prepare_whole"), broken("prepare_broken");
  whole.write_dataset(3), broken.write_dataset(3);
  prepare(whole);
  broken.progress.stop = true;
  EXPECT_TRUE(prepare(broken).interrupted);
  EXPECT_FALSE(std::filesystem::exists(broken.work() / "dataset.json"));
  broken.progress.stop = false;
  EXPECT_EQ(prepare(broken, true).failures.size(), 0u);
  EXPECT_EQ(Scene::bytes_of(whole.work() / "images/case_1.nii"), Scene::bytes_of(broken.work() / "images/case_1.nii"));
}

TEST(Prepare, AStopLeavesTheListOfWhatWasLeftOut) {
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
      stop = stop || (stage == "prepare" && done == 1);
    }
  } stopping;
  Scene scene("prepare_stopped");
  scene.write_dataset(3);
  Scene::truncate(scene.image(1));
  PrepareOptions options;
  options.dataset = scene.data(), options.work = scene.work();
  EXPECT_TRUE(prepare_dataset(options, {stopping, {.threads = 1}}).interrupted);
  EXPECT_THAT(Scene::bytes_of(scene.work() / "quarantine.csv"), HasSubstr("case_1,E_"));
  const PrepareReport again = prepare(scene, true);
  EXPECT_EQ(again.prepared + again.skipped, 2);
}

TEST(Prepare, EqualWeightPerCaseInTheFingerprint) {
  Scene scene("prepare_fingerprint");
  scene.write_dataset(2);  // foreground of case i: 100 i + x; x < 4 everywhere, x >= 4 in the upper quarter
  prepare(scene);
  const auto json = read_json(scene.work() / "fingerprint.json");
  const double per_case = (320 * 1.5 + 160 * 7.5) / 480;
  EXPECT_NEAR(json.at("foreground_hu").at("mean").get<double>(), per_case + 50, 1e-9);
}

TEST(Prepare, BadOptionsAreNamed) {
  Scene scene("prepare_options");
  scene.write_dataset(1);
  PrepareOptions options;
  options.dataset = scene.data(), options.work = scene.work();
  for (const char* spacing : {"1,2", "1,2,x", "1,0,2", "big"}) {
    options.spacing = spacing;
    EXPECT_THROW(prepare_dataset(options, scene.progress), Error) << spacing;
  }
  options.spacing = "keep", options.orientation = "LLS";
  EXPECT_THROW(prepare_dataset(options, scene.progress), Error);
}

TEST(PreparePlan, JsonThereAndBackIsTheSamePlan) {
  PreparePlan plan;
  plan.spacing_mm = {1.25, 0.1, 3};
  plan.clip_hu = Range{-160.5, 240};
  plan.mean_hu = 1.0 / 3, plan.std_hu = 77;
  plan.class_names = {"background", "liver"};
  const auto json = nlohmann::json::parse(to_json(plan).dump());
  EXPECT_EQ(plan_from_json(json), plan);
  EXPECT_EQ(plan_hash(plan_from_json(json)), plan_hash(plan));
  auto broken = json;
  broken.erase("clip_hu");
  EXPECT_THROW(plan_from_json(broken), Error);
  broken = json;
  broken["std_hu"] = 0;
  EXPECT_THROW(plan_from_json(broken), Error);
}

}  // namespace
}  // namespace voxshard
