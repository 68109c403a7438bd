// Cores that take over the memory of those of the image before: the same outputs, within the memory of the process, and
// given back while nothing waits (RunWatch.*), and before a turn whose plan does not count them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/resampling/resample.h"
#include "io/system/process_memory.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/segmentation/scores/predict_volume.h"
#include "pipelines/tasks/segmentation/volume_model.h"
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

/// The bytes that the process held as each turn began and ended, and those planned for the cores of the first.
struct HeldInTurns {
  std::vector<std::int64_t> before, after;
  std::int64_t first_cores = 0;
};

/// Predicts cubes of air, as a task does that does not count the cores that stay between its turns.
class CubesOfAir : public Prediction {
 public:
  CubesOfAir(PredictionBatch& batch, std::vector<std::int64_t> edges, HeldInTurns& held)
      : b_(batch), edges_(std::move(edges)), held_(held), multiple_(volume_model_of(batch.run).multiple) {}

  PredictionWords words() const override { return {.inputs = "cubes"}; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const std::int64_t edge : edges_) names.push_back(std::to_string(edge));
    return names;
  }
  std::vector<PredictionTurn> turns() const override {
    std::vector<PredictionTurn> turns;
    for (std::size_t i = 0; i < edges_.size(); ++i)
      turns.push_back({prediction_extents({edges_[i], edges_[i], edges_[i]}, multiple_), {i}});
    return turns;
  }
  void predict(const PredictionTurn& turn) override {
    const std::size_t i = turn.inputs.front();
    held_.before.push_back(resident_bytes());
    if (i == 0) held_.first_cores = b_.cores(turn).total();
    {
      const std::vector<Tensor> channels(1, Tensor(DType::kF32, {edges_[i], edges_[i], edges_[i]}));
      predict_volume(b_.session(), voxels_of(channels, {0}), multiple_);
    }
    held_.after.push_back(resident_bytes());
    b_.done(i, "", 1);
  }
  void finish() override {}

 private:
  PredictionBatch& b_;
  std::vector<std::int64_t> edges_;
  HeldInTurns& held_;
  std::int64_t multiple_;
};

TEST(RunPredictWarm, LargerCoresThanATurnCountsAreReleasedBeforeIt) {
  BesideScene scene("warm_uncounted");
  NoProgress none;
  const RunContext context(none);
  const PredictOptions o = scene.predict(false, "out");
  HeldInTurns held;
  run_prediction(o, load_trained_run({.run = o.run}), volume_work(), context, [&](PredictionBatch& batch) {
    return std::make_unique<CubesOfAir>(batch, std::vector<std::int64_t>{128, 16}, held);
  });
  ASSERT_EQ(held.before.size(), 2u);
  ASSERT_GT(held.first_cores, 16 << 20);
  EXPECT_LT(held.before[1], held.after[0] - held.first_cores / 2)
      << "the plan of the second counts its own cores alone";
}

}  // namespace
}  // namespace voxshard
