// Cores that take over the memory of those of the image before: the same outputs, within the memory of the process, and
// given back while nothing waits (RunWatch.*).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/volume/resample.h"
#include "tests/pipelines/beside_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Three images of these sizes in place of those of the scene, their axes permuted, so that preparing takes two
/// volumes.
struct WarmScene : BesideScene {
  WarmScene(const std::string& name, const std::vector<std::array<std::int64_t, 3>>& sizes) : BesideScene(name) {
    fs::remove_all(path("in"));
    fs::create_directories(path("in"));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Volume image = make_image(static_cast<int>(i), sizes[i]);
      image.geometry.spacing = {4, 4, 4};  // that of the model is 8 mm
      write_volume(of_size(i), reorient(std::move(image), "SPL"), DiskType::kF32);
    }
  }
  fs::path of_size(std::size_t i) const { return path("in") / ("size_" + std::to_string(i) + ".nii"); }
};

TEST(RunPredictWarm, ImagesOfAnySizeGiveWhatEachGivesAlone) {
  WarmScene scene("warm_sizes", {{48, 40, 32}, {48, 40, 16}, {56, 48, 40}});
  NoProgress none;
  for (const bool beside : {false, true}) {
    const std::string name = beside ? "beside" : "turn";
    const PredictReport report = run_predict(scene.predict(beside, name, beside), none);
    EXPECT_EQ(report.found.at("stages").at("images_warm"), 2);
    for (std::size_t i = 0; i < 3; ++i) {
      PredictOptions alone = scene.predict(false, name + "_alone_" + std::to_string(i));
      alone.input = scene.of_size(i);
      const PredictReport one = run_predict(alone, none);
      EXPECT_EQ(one.found.at("stages").at("images_warm"), 0);
      EXPECT_TRUE(Scene::bytes_of(report.cases.at(i).file) == Scene::bytes_of(one.cases.at(0).file)) << i;
    }
  }
}

TEST(RunPredictWarm, WhatIsReadAndWrittenBetweenIsPlannedBesideThemElseTheyAreReleased) {
  const std::array<std::int64_t, 3> size = {240, 240, 200};
  const std::int64_t image_bytes = 4 * 240 * 240 * 200;  // 46 MB
  WarmScene scene("warm_memory", {size, size, size});
  NoProgress none;
  run_predict(scene.predict(false, "first"), none);  // libraries are loaded, and counted, once
  const std::int64_t alone = scene.alone_bytes(scene.of_size(0));
  const PredictReport wide = run_predict(scene.predict(false, "wide"), none);
  ASSERT_EQ(wide.found.at("stages").at("images_warm"), 2) << "this machine has less than 500 MB of free memory";
  ASSERT_GE(wide.memory.plan.total(), alone + image_bytes / 2) << "both images beside the cores";

  const std::int64_t budget = (alone + wide.memory.plan.total()) / 2;
  const PredictReport narrow = run_predict(scene.predict(false, "narrow"), {none, {.host_budget_bytes = budget}});
  EXPECT_EQ(narrow.cases.size(), 3u) << "each fits alone";
  EXPECT_EQ(narrow.found.at("stages").at("images_warm"), 0);
  EXPECT_LE(narrow.memory.plan.total(), budget);
  scene.expect_same_outputs("wide", "narrow");
}

}  // namespace
}  // namespace voxshard
