// A run and three images, predicted in turn or with reading and writing beside the network.
//
//   BesideScene scene("ahead");
//   run_predict(scene.predict(true, "ahead"), scene.progress);
//   run_predict(scene.behind("behind"), scene.progress);
//   scene.expect_same_outputs("ahead", "behind");
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <regex>

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

/// A run of two steps, and the three images of the demo in one folder without the _0000 of nnU-Net: in/phantom_000,
/// 001, 002.
struct TrainedVolumesScene : TrainingScene {
  explicit TrainedVolumesScene(const std::string& name) : TrainingScene(name) {
    TrainOptions o = options("run");
    o.steps = 2;
    run_train(o, progress);
    std::filesystem::create_directories(path("in"));
    for (const char* part : {"imagesTr", "imagesTs"})
      for (const auto& entry : std::filesystem::directory_iterator(data() / part)) {
        std::string name_in = entry.path().filename().string();
        name_in.erase(name_in.find("_0000"), 5);
        std::filesystem::copy_file(entry.path(), path("in") / name_in);
      }
  }
};

/// The same, predicted in turn or beside the network.
struct BesideScene : TrainedVolumesScene {
  using TrainedVolumesScene::TrainedVolumesScene;

  std::filesystem::path image(int i) const { return path("in") / ("phantom_00" + std::to_string(i) + ".nii.gz"); }
  /// Volumes are read ahead, or outputs written behind, or all is done in turn.
  PredictOptions predict(bool ahead, const std::string& output, bool behind = false) const {
    PredictOptions o{.run = path("run"), .input = path("in"), .output = path(output)};
    auto& reading = o.task.of<VolumeReading>();
    reading.read_ahead = ahead, reading.write_behind = behind;
    return o;
  }
  /// Returns the bytes that one image takes when it is predicted alone.
  std::int64_t alone_bytes(const std::filesystem::path& image) {
    PredictOptions o = predict(false, "alone");
    o.input = image;
    return run_predict(o, progress).memory.plan.total();
  }
  PredictOptions behind(const std::string& output) const { return predict(false, output, true); }
  /// Puts three images of 240x240x200 voxels into the place of those of the demo: in/large_0.nii, 1, 2. Returns the
  /// bytes of one in f32 or i32: 46 MB, beyond what malloc keeps for later.
  std::int64_t make_large_images() const {
    const std::array<std::int64_t, 3> size = {240, 240, 200};
    std::filesystem::remove_all(path("in"));
    std::filesystem::create_directories(path("in"));
    for (int i = 0; i < 3; ++i)
      write_volume(path("in/large_" + std::to_string(i) + ".nii"), make_image(i, size), DiskType::kF32);
    return 4 * size[0] * size[1] * size[2];
  }
  void expect_same_outputs(const std::string& one, const std::string& other) const {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path(one))) {
      const std::filesystem::path file = entry.path().filename();
      if (file.extension() != ".gz" && file.extension() != ".csv") continue;
      ++files;
      ASSERT_TRUE(std::filesystem::exists(path(other) / file)) << file;
      EXPECT_TRUE(bytes_of(entry.path()) == bytes_of(path(other) / file)) << file;
    }
    EXPECT_GT(files, 0u);
  }
};

/// Returns the lines of a log without its durations.
inline std::vector<std::string> timeless(const RecordingProgress& progress) {
  std::vector<std::string> lines;
  for (const std::string& line : progress.lines)
    lines.push_back(std::regex_replace(line, std::regex("predicted in [0-9.]+ s"), "predicted"));
  return lines;
}

}  // namespace voxshard
