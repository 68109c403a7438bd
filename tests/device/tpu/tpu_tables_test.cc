// The published rows: the emulation is within the goal, its one fitted constant is what the rows give, and the table
// says what it does not explain.
#include "pipelines/commands/run_tpu_tables.h"

#include <cmath>

#include "pipelines/profile/device_files.h"
#include "tests/device/tpu/tpu_scene.h"

namespace voxshard {
namespace {

using namespace test;

const TpuTables& tables() {
  static const TpuTables result = [] {
    NoProgress progress;
    return run_tpu_tables(progress);
  }();
  return result;
}

const EmulatedStep& emulated(std::size_t row) { return tables().rows.at(row).emulated; }

TEST(TpuTables, UnetRowsAreWithinAQuarterAlsoWhenLeftOutOfTheFit) {
  ASSERT_EQ(tables().rows.at(0).published.name, "unet3d-128-v3-8");
  ASSERT_EQ(tables().rows.at(1).published.name, "unet3d-256-v3-128");
  EXPECT_DOUBLE_EQ(tables().rows[0].published.seconds, 3.428);
  EXPECT_DOUBLE_EQ(tables().rows[1].published.seconds, 3.02);
  for (std::size_t row : {0u, 1u}) {
    EXPECT_LT(std::abs(emulated(row).residual()), 0.25) << row;
    EXPECT_LT(std::abs(emulated(row).leave_one_out_residual()), 0.25) << row;
  }
}

TEST(TpuTables, TheCoresOfBothUnetRowsAreFasterThanTheirHosts) {
  for (std::size_t row : {0u, 1u}) {
    EXPECT_EQ(emulated(row).bound_by, "feed");
    EXPECT_LT(emulated(row).price.device_s, emulated(row).price.feed_s);
    // 11.7 TFLOP a sample at 128^3 and 93.8 at 256^3 cannot be done faster than at the peak.
    const double flops_per_core = row == 0 ? 4 * 11.7e12 : 32 * 93.8e12 / 128;
    EXPECT_GT(emulated(row).price.busy.matrix_s, flops_per_core / 61.6e12);
  }
}

TEST(TpuTables, OneConstantIsFittedAndItIsTheMeanOfWhatTheRowsImply) {
  ASSERT_EQ(tables().fitted_constants.size(), 1u);
  const FittedConstant& rate = tables().fitted_constants[0];
  EXPECT_EQ(rate.figure.key, "host.unpack_rate");
  EXPECT_EQ(rate.figure.fitted_to, (std::vector<std::string>{"unet3d-128-v3-8", "unet3d-256-v3-128"}));
  const double megabytes = 16.0 * 32 * 128 * 128 * 128 * 1e-6;  // through the busiest host, in both rows
  EXPECT_NEAR(rate.refitted, megabytes / std::sqrt(3.428 * 3.02), 1e-3);
  EXPECT_NEAR(rate.figure.value, rate.refitted, 0.1) << "data/devices/tpu-v3.json is out of date";
  EXPECT_NEAR(emulated(0).leave_one_out_seconds, 3.02, 1e-6);  // the other row's rate, the same bytes
  EXPECT_NEAR(emulated(1).leave_one_out_seconds, 3.428, 1e-6);
}

TEST(TpuTables, RetinaNetRowsAreTheDocumentedOnesAndFitTheirCores) {
  ASSERT_EQ(tables().rows.at(2).published.name, "retinanet-1280-v3-8");
  ASSERT_EQ(tables().rows.at(3).published.name, "retinanet-2560-v3-64");
  EXPECT_DOUBLE_EQ(tables().rows[2].published.seconds, 0.910);
  EXPECT_DOUBLE_EQ(tables().rows[3].published.seconds, 0.822);
  for (std::size_t row : {2u, 3u}) {
    EXPECT_NE(emulated(row).bound_by, "feed") << "JPEG files and pixels of two bytes do not hold the cores up";
    EXPECT_TRUE(emulated(row).fits()) << row << ": " << emulated(row).core_bytes;
    // 97.0 G multiply-adds at 640^2 (the model zoo of the original), three times for a training step, cannot be done faster
    // than at the peak of 61.6 TFLOP/s.
    const double images_per_core = row == 2 ? 8 : 1, area = row == 2 ? 4 : 16;
    EXPECT_GT(emulated(row).price.busy.matrix_s, images_per_core * area * 3 * 2 * 97.0e9 / 61.6e12);
    EXPECT_EQ(emulated(row).leave_one_out_seconds, emulated(row).price.step_s) << "nothing was fitted to it";
  }
}

TEST(TpuTables, EveryRowHasItsResidualsInJson) {
  const auto json = to_json(tables());
  EXPECT_EQ(json.at("rows").size(), 4u);
  for (const auto& row : json.at("rows")) {
    EXPECT_GT(row.at("emulated_seconds"), 0) << row;
    EXPECT_NEAR(row.at("residual"), row.at("emulated_seconds").get<double>() / row.at("published_seconds").get<double>() - 1, 1e-12);
    EXPECT_TRUE(row.contains("leave_one_out_residual") && row.contains("fits"));
  }
  EXPECT_EQ(json.at("fitted_constants").size(), 1u);
  EXPECT_GE(json.at("unexplained").size(), 6u) << "a line per row and one per pair of a model";
}

TEST(TpuTables, EachRowNamesASliceOfItsCores) {
  for (const PublishedStep& row : published_steps())
    EXPECT_EQ(device_from_name(row.device).cores, row.spec.cut.mesh.cores()) << row.name;
}

TEST(TpuTables, BothUnetConfigurationsFitTheirCores) {
  for (std::size_t row : {0u, 1u}) {
    EXPECT_GT(emulated(row).core_bytes, 1 << 30);
    EXPECT_TRUE(emulated(row).fits()) << row << ": " << emulated(row).core_bytes;
  }
}

}  // namespace
}  // namespace voxshard
