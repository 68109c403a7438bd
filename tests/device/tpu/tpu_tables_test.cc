// The published rows: the emulation is within the goal, its two fitted constants are what the rows give, and the table
// says what it does not explain.
#include "pipelines/commands/run_tpu_tables.h"

#include <cmath>
#include <cstdio>

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

TEST(TpuTables, TheRowsAreTheDocumentedOnes) {
  const std::vector<std::pair<std::string, double>> rows = {{"unet3d-128-v3-8", 3.428},
                                                            {"unet3d-256-v3-128", 3.02},
                                                            {"retinanet-1280-v3-8", 0.910},
                                                            {"retinanet-2560-v3-64", 0.822}};
  ASSERT_EQ(tables().rows.size(), rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(tables().rows[row].published.name, rows[row].first);
    EXPECT_DOUBLE_EQ(tables().rows[row].published.seconds, rows[row].second);
  }
}

TEST(TpuTables, EveryRowIsWithinFifteenPercentAlsoWhenLeftOutOfTheFit) {
  for (const TpuTableRow& row : tables().rows) {
    const EmulatedStep& e = row.emulated;
    std::printf(
        "%-22s published %.3f s, emulated %.3f (%+.1f %%, left out %+.1f %%): products %.3f memory %.3f links %.3f "
        "passes %.3f\n",
        row.published.name.c_str(), row.published.seconds, e.price.step_s, 100 * e.residual(),
        100 * e.leave_one_out_residual(), e.price.busy.matrix_s, e.price.busy.memory_s, e.price.busy.link_s,
        e.price.busy.pass_s);
    EXPECT_LT(std::abs(e.residual()), 0.15) << row.published.name;
    EXPECT_LT(std::abs(e.leave_one_out_residual()), 0.15) << row.published.name;
    EXPECT_EQ(e.fitted.size(), 1u) << "each row chose one constant, with the other model's row of its kind";
  }
}

TEST(TpuTables, CutOverUncutIsWithinTenPercentForBothModels) {
  for (std::size_t uncut : {0u, 2u}) {
    const double published = tables().rows.at(uncut + 1).published.seconds / tables().rows.at(uncut).published.seconds;
    const double priced = emulated(uncut + 1).price.step_s / emulated(uncut).price.step_s;
    std::printf("%s: cut / uncut %.3f published, %.3f emulated\n", tables().rows[uncut].published.name.c_str(),
                published, priced);
    EXPECT_LT(std::abs(priced / published - 1), 0.10) << uncut;
  }
}

TEST(TpuTables, TwoConstantsAreFittedAndTheFileSaysWhatTheRowsGive) {
  ASSERT_EQ(tables().fitted_constants.size(), 2u);
  EXPECT_EQ(tables().fitted_constants[0].figure.key, "core.strip_rows");
  EXPECT_EQ(tables().fitted_constants[0].figure.fitted_to,
            (std::vector<std::string>{"unet3d-128-v3-8", "retinanet-1280-v3-8"}));
  EXPECT_EQ(tables().fitted_constants[1].figure.key, "core.pass_rate");
  EXPECT_EQ(tables().fitted_constants[1].figure.fitted_to,
            (std::vector<std::string>{"unet3d-256-v3-128", "retinanet-2560-v3-64"}));
  for (const FittedConstant& c : tables().fitted_constants)
    EXPECT_NEAR(c.figure.value / c.refitted, 1, 0.02)
        << c.figure.key << ": data/devices/tpu-v3.json is out of date, the rows give " << c.refitted;
}

TEST(TpuTables, NoRowIsBoundByItsHostsAndBothModelsUnpackByOneRule) {
  for (const TpuTableRow& row : tables().rows) {
    EXPECT_GT(row.emulated.price.feed_s, 0) << row.published.name << ": JPEG is unpacked too";
    EXPECT_NE(row.emulated.bound_by, "feed") << row.published.name;
    EXPECT_LT(row.emulated.price.feed_s, 0.3 * row.emulated.price.device_s) << row.published.name;
  }
}

TEST(TpuTables, UncutRowsHaveNoPassesAndCutOnesHaveThem) {
  for (std::size_t row : {0u, 2u}) {
    EXPECT_EQ(emulated(row).price.busy.pass_s, 0);
    EXPECT_GT(emulated(row + 1).price.busy.pass_s, 0.1 * emulated(row + 1).price.device_s);
  }
}

TEST(TpuTables, EveryRowRunsWithoutRecomputationBeyondWhatIsFused) {
  for (const TpuTableRow& row : tables().rows) {
    EXPECT_EQ(row.emulated.recompute, Recompute::kNone) << row.published.name;
    EXPECT_TRUE(row.emulated.fits()) << row.published.name << ": " << row.emulated.core_bytes;
    EXPECT_GT(row.emulated.core_bytes, 1 << 30);
    EXPECT_LE(row.emulated.core_bytes, row.emulated.kept_core_bytes);
  }
  EXPECT_GT(emulated(2).kept_core_bytes, emulated(2).usable_bytes)
      << "with norms and activations kept, 8 images of 1280 do not fit";
}

TEST(TpuTables, ProductsAreNoFasterThanThePeak) {
  // 11.7 TFLOP a sample of the U-Net at 128^3 and 93.8 at 256^3; RetinaNet 97.0 G multiply-adds at 640^2, three times
  // for a step.
  const double image = 3 * 2 * 97.0e9;
  const double flops[] = {4 * 11.7e12, 32 * 93.8e12 / 128, 8 * 4 * image, 16 * image};
  for (std::size_t row = 0; row < 4; ++row) EXPECT_GT(emulated(row).price.busy.matrix_s, flops[row] / 61.6e12) << row;
}

TEST(TpuTables, TheSpeedPerCoreFallsFromTwoToSixteenWays) {
  ASSERT_EQ(tables().ways.size(), 2u);
  for (const TpuWays& ways : tables().ways) {
    ASSERT_EQ(ways.rows.size(), 5u);
    double efficiency = 2;
    for (const TpuWays::Row& row : ways.rows) {
      std::printf("%s %s: cores %.3f s, passes %.3f, links %.3f, speed per core %.2f\n", ways.model.c_str(),
                  to_string(row.partition).c_str(), row.price.device_s, row.price.busy.pass_s, row.price.busy.link_s,
                  row.efficiency);
      EXPECT_LT(row.efficiency, efficiency) << to_string(row.partition);
      efficiency = row.efficiency;
    }
    EXPECT_EQ(ways.rows.front().price.busy.pass_s, 0);
    EXPECT_EQ(ways.rows.front().efficiency, 1);
    EXPECT_LT(ways.rows.back().efficiency, 0.8);
  }
}

TEST(TpuTables, EveryRowHasItsResidualsInJson) {
  const auto json = to_json(tables());
  EXPECT_EQ(json.at("rows").size(), 4u);
  for (const auto& row : json.at("rows")) {
    EXPECT_GT(row.at("emulated_seconds"), 0) << row;
    EXPECT_NEAR(row.at("residual"),
                row.at("emulated_seconds").get<double>() / row.at("published_seconds").get<double>() - 1, 1e-12);
    EXPECT_TRUE(row.contains("leave_one_out_residual") && row.contains("fits"));
    double passes = 0;
    for (const auto& [kind, sum] : row.at("passes").items()) passes += sum.at("seconds").get<double>();
    EXPECT_NEAR(passes, row.at("pass_seconds"), 1e-9);
  }
  EXPECT_EQ(json.at("fitted_constants").size(), 2u);
  EXPECT_GE(json.at("unexplained").size(), 6u) << "a line per row and one per pair of a model";
}

TEST(TpuTables, EachRowNamesASliceOfItsCores) {
  for (const PublishedStep& row : published_steps())
    EXPECT_EQ(device_from_name(row.device).cores, row.spec.cut.mesh.cores()) << row.name;
}

}  // namespace
}  // namespace voxshard
