// Generated motions: the same for the same options, moving as their label says, and alike frame by frame.
#include "pipelines/phantoms/motion_phantom.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "pipelines/commands/run_demo.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

constexpr int kSide = 32;

double at(const MotionPhantom& p, int t, int y, int x) {
  return p.frames.as<std::uint8_t>()[(t * kSide + y) * kSide + x];
}

/// Returns the mean square difference of frame 4 from frame 0, moved by (dy, dx) and turned clockwise by `angle` about
/// the middle.
double difference(const MotionPhantom& p, double dy, double dx, double angle) {
  double sum = 0;
  int count = 0;
  for (int y = 10; y < 22; ++y)
    for (int x = 10; x < 22; ++x) {
      const double c = std::cos(angle), s = std::sin(angle), u = x - 15.5, v = y - 15.5;
      const int from_x = static_cast<int>(std::lround(15.5 + c * u + s * v - dx));
      const int from_y = static_cast<int>(std::lround(15.5 - s * u + c * v - dy));
      sum += std::pow(at(p, 4, y, x) - at(p, 0, from_y, from_x), 2);
      ++count;
    }
  return sum / count;
}

TEST(MotionPhantom, TheSameOptionsGiveTheSamePixels) {
  const MotionPhantom a = make_motion_phantom({.seed = 3, .index = 8}),
                      b = make_motion_phantom({.seed = 3, .index = 8});
  EXPECT_EQ(a.label, 2);
  EXPECT_EQ(a.frames.shape(), (Shape{24, 32, 32}));
  EXPECT_TRUE(compare(a.frames.view(), b.frames.view()).bit_equal);
  EXPECT_FALSE(compare(a.frames.view(), make_motion_phantom({.seed = 4, .index = 8}).frames.view()).bit_equal);
  EXPECT_FALSE(compare(a.frames.view(), make_motion_phantom({.seed = 3, .index = 14}).frames.view()).bit_equal);
}

TEST(MotionPhantom, MovesAsItsLabelSays) {
  constexpr double kFour = 4 * 0.0375 * kSide, kTurn = 4 * 0.095;  // four frames of the mean speed
  const std::array<std::array<double, 3>, 6> motions = {
      {{0, 0, kTurn}, {0, 0, -kTurn}, {0, -kFour, 0}, {0, kFour, 0}, {-kFour, 0, 0}, {kFour, 0, 0}}};
  for (std::size_t label = 0; label < 6; ++label) {
    std::array<double, 6> sums{};
    for (int i = 0; i < 20; ++i) {
      const MotionPhantom p = make_motion_phantom({.index = 6 * i + static_cast<int>(label)});
      for (std::size_t m = 0; m < 6; ++m) sums[m] += difference(p, motions[m][0], motions[m][1], motions[m][2]);
    }
    for (std::size_t m = 0; m < 6; ++m)
      EXPECT_TRUE(m == label || sums[label] < 0.7 * sums[m]) << kMotionNames[label] << " against " << kMotionNames[m];
  }
}

TEST(MotionPhantom, AFrameAloneHasTheSameContrastInEachClass) {
  std::array<double, 6> across{}, down{};  // mean squares of differences of neighbours
  constexpr int kEach = 60;
  for (int i = 0; i < 6 * kEach; ++i) {
    const MotionPhantom p = make_motion_phantom({.seed = 1, .index = i, .frames = 5});
    const auto label = static_cast<std::size_t>(p.label);
    for (int y = 0; y + 1 < kSide; ++y)
      for (int x = 0; x + 1 < kSide; ++x) {
        across[label] += std::pow(at(p, 4, y, x + 1) - at(p, 4, y, x), 2);
        down[label] += std::pow(at(p, 4, y + 1, x) - at(p, 4, y, x), 2);
      }
  }
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_NEAR(across[c] / across[0], 1, 0.25) << kMotionNames[c];
    EXPECT_NEAR(across[c] / down[c], 1, 0.25) << kMotionNames[c];
  }
}

TEST(DemoMotions, AVideoHasTheSameBytesWhicheverThreadWritesIt) {
  Scene scene("demo_motions");
  DemoOptions options{.folder = scene.path("alone"),
                      .task = "classification",
                      .kind = "motion",
                      .cases = 18,
                      .test_cases = 6,
                      .seed = 3};
  run_demo(options, scene.progress);
  options.threads = 2;
  for (int round = 0; round < 6; ++round) {
    options.folder = scene.path(std::to_string(round));
    run_demo(options, scene.progress);
    int videos = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.folder)) {
      if (entry.path().extension() != ".mp4") continue;
      const auto name = std::filesystem::relative(entry.path(), options.folder);
      EXPECT_EQ(Scene::bytes_of(entry.path()), Scene::bytes_of(scene.path("alone") / name)) << name;
      ++videos;
    }
    EXPECT_EQ(videos, 24);
  }
}

}  // namespace
}  // namespace voxshard
