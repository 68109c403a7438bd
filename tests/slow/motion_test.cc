// Clips of motions are distinguished by a network over time, cut along time and along space, and by no network of the
// same backbone and budget over single frames. Slow: it trains nine times.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

constexpr double kChance = 1.0 / 6;

/// Returns the median over three seeds of the accuracy on the held-out clips of the demo.
double median_accuracy(const std::string& options) {
  Folder folder("motion");
  EXPECT_EQ(run_voxshard("demo " + (folder / "data") + " --task classification --kind motion -q").exit_code, 0);
  std::array<double, 3> scores{};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::string seed = std::to_string(i + 1);
    const CommandResult trained = run_voxshard(
        "train " + (folder / "data") + " -o " + (folder / ("run" + seed)) + " --model r2plus1d18 --base-filters 8" +
        " --colour grey --batch 8 --steps 300 --learning-rate 0.01 --preset reference --precision f32" +
        " --validate-every 0 -q --json --seed " + seed + options);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    scores[i] = trained.json().at("mean_accuracy").get<double>();
    std::cout << "seed " << seed << ": accuracy " << scores[i] << " in " << trained.json().value("seconds", 0.0)
              << " s\n";
  }
  std::ranges::sort(scores);
  return scores[1];
}

TEST(SlowMotion, ClipsCutAlongTimeAreToldApart) { EXPECT_GE(median_accuracy(" --partition 1x4x1x1x1"), 0.9); }

TEST(SlowMotion, ClipsCutAlongHeightAndWidthAreToldApart) { EXPECT_GE(median_accuracy(" --partition 1x1x2x2x1"), 0.9); }

TEST(SlowMotion, SingleFramesTellNothing) { EXPECT_LE(median_accuracy(" --clip-length 1"), kChance + 0.1); }

}  // namespace
}  // namespace voxshard
