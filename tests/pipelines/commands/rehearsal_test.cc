// Dry runs of prepare and evaluate: the cases, their memory, what would be left out and why, from headers alone; they
// write nothing, and what they say is what the command then does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_prepare.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using testing::HasSubstr;

PrepareRequest preparing(const Scene& scene, bool dry_run, bool resume = false) {
  return {.dataset = scene.data(), .work = scene.work(), .resume = resume, .dry_run = dry_run};
}

/// Returns "id code" of what a report leaves out.
std::vector<std::string> left_out_of(const ordered_json& json) {
  std::vector<std::string> all;
  for (const auto& one : json.at("failures"))
    all.push_back(one.at("case").get<std::string>() + " " + one.at("code").get<std::string>());
  return all;
}

/// Four cases: the third has labels on another grid, the fourth an image that is no volume.
void write_two_bad(Scene& scene) {
  scene.write_dataset(4);
  Volume label = Scene::make_label();
  label.geometry.origin[0] += 20;
  write_volume(scene.label(2), label, DiskType::kU8);
  std::ofstream(scene.image(3)) << "no volume";
}

TEST(Rehearsal, OfPrepareSaysWhatItThenDoesAndWritesNothing) {
  Scene scene("rehearse_prepare");
  write_two_bad(scene);
  const TaskReport before = run_prepare(preparing(scene, true), scene.progress);
  EXPECT_FALSE(fs::exists(scene.work()));
  EXPECT_TRUE(before.partial);
  EXPECT_TRUE(before.next.empty());
  EXPECT_THAT(left_out_of(before.json), testing::ElementsAre("case_2 E_GEOMETRY", "case_3 E_READ"));
  const ordered_json& planned = before.json.at("planned");
  ASSERT_EQ(planned.size(), 2u);
  EXPECT_EQ(planned[0].at("id"), "case_0");
  EXPECT_EQ(planned[0].at("extents"), (ordered_json{8, 10, 12}));
  EXPECT_GE(planned[0].at("bytes").get<std::int64_t>(), 8 * 10 * 12 * 4);
  EXPECT_FALSE(planned[0].at("kept").get<bool>());
  EXPECT_THAT(before.text, HasSubstr("dry run: 2 would be prepared, 0 kept, 2 left out"));
  EXPECT_EQ(before.json.at("plan").at("spacing_mm"), (ordered_json{2.0, 2.0, 3.0})) << "the median of the headers";

  const TaskReport done = run_prepare(preparing(scene, false), scene.progress);
  EXPECT_EQ(left_out_of(done.json), left_out_of(before.json));
  EXPECT_EQ(done.json.at("prepared"), 2);
  std::map<std::string, std::string> written;
  for (const auto& entry : fs::recursive_directory_iterator(scene.work()))
    if (entry.is_regular_file()) written[entry.path().string()] = Scene::bytes_of(entry.path());
  const TaskReport after = run_prepare(preparing(scene, true, true), scene.progress);
  EXPECT_EQ(after.json.at("skipped"), 2);
  EXPECT_TRUE(after.json.at("planned")[0].at("kept").get<bool>());
  for (const auto& [file, bytes] : written) EXPECT_TRUE(Scene::bytes_of(file) == bytes) << file;
}

TEST(Rehearsal, OfPrepareRefusesWhatPrepareRefuses) {
  Scene scene("rehearse_none");
  scene.write_dataset(1);
  std::ofstream(scene.image(0)) << "no volume";
  expect_error(ErrorKind::kNoCase, "no usable case", [&] { run_prepare(preparing(scene, true), scene.progress); });
  EXPECT_FALSE(fs::exists(scene.work()));
}

TEST(Rehearsal, OfPrepareAndPrepareChooseTheSameSpacingWithoutACrop) {
  for (const char* spacing : {"median", "keep", "4,4,3"}) {
    Scene scene("rehearse_spacing");
    scene.write_dataset(3);
    PrepareOptions o{.dataset = scene.data(), .work = scene.work(), .spacing = spacing, .dry_run = true};
    const PrepareReport before = prepare_dataset(o, {scene.progress});
    o.dry_run = false;
    const PrepareReport done = prepare_dataset(o, {scene.progress});
    EXPECT_EQ(before.plan.spacing_mm, done.plan.spacing_mm) << spacing;
  }
}

TEST(Rehearsal, OfEvaluateSaysWhatItThenDoesAndWritesNothing) {
  Scene scene("rehearse_evaluate");
  scene.write_dataset(4);
  fs::create_directories(scene.path("pred"));
  for (int i = 0; i < 3; ++i) {
    Volume label = Scene::make_label();
    if (i == 1) label.geometry.origin[0] += 20;
    write_volume(scene.path("pred") / (Scene::id(i) + ".nii.gz"), label, DiskType::kU8);
  }
  EvaluateOptions o{.predictions = scene.path("pred"),
                    .references = scene.data() / "labelsTr",
                    .summary = scene.path("summary.json"),
                    .dry_run = true};
  const TaskReport before = run_evaluate(o, scene.progress);
  EXPECT_FALSE(fs::exists(o.summary));
  EXPECT_THAT(left_out_of(before.json), testing::ElementsAre("case_1 E_GEOMETRY", "case_3 E_MISSING"));
  ASSERT_EQ(before.json.at("planned").size(), 2u);
  EXPECT_GE(before.json.at("planned")[0].at("bytes").get<std::int64_t>(), 8 * 10 * 12 * 4);
  EXPECT_THAT(before.text, HasSubstr("dry run: 2 would be scored, 0 kept, 2 left out"));
  o.dry_run = false;
  EXPECT_EQ(left_out_of(run_evaluate(o, scene.progress).json), left_out_of(before.json));

  std::ofstream(scene.path("found.json")) << "[]";
  o = {.predictions = scene.path("found.json"), .references = scene.data(), .dry_run = true};
  expect_error(ErrorKind::kUsage, "{dry-run} is about label maps", [&] { run_evaluate(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
