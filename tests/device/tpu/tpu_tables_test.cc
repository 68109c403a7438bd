// The published rows: the emulation is within the goal, its two fitted constants follow from the rows, and the table
// states what it does not explain.
#include "pipelines/emulation/tpu_tables_text.h"

#include <cmath>
#include <cstdio>

#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "pipelines/commands/run_explain.h"
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
  EXPECT_THAT(json.at("rows").at(1).at("correction").get<std::string>(), testing::HasSubstr("2560x2560 on v3-64"));
  EXPECT_FALSE(json.at("rows").at(0).contains("correction"));
  for (const auto& constant : json.at("fitted_constants"))
    EXPECT_THAT(constant.at("method").get<std::string>(), testing::HasSubstr("opposite by construction"));
  EXPECT_GE(json.at("unexplained").size(), 6u) << "a line per row and one per pair of a model";
}

std::int64_t unread(const Graph& graph) {
  std::vector<bool> read(static_cast<std::size_t>(graph.size()), false);
  const auto mark = [&](ValueId id) { read[id] = true; };
  for (const Node& node : graph.nodes())
    for (ValueId input : node.inputs) mark(input);
  for (const auto& [name, id] : graph.outputs) mark(id);
  for (const auto& [parameter, id] : graph.gradients) mark(id);
  for (const auto& [state, id] : graph.effects) mark(id);
  std::int64_t count = 0;
  for (ValueId id = 0; id < graph.size(); ++id) count += graph.node(id).role == Role::kOp && !read[id];
  return count;
}

TEST(TpuTables, APlannedProgramHasNoUnreadComputeBeyondTheOriginals) {
  for (const PublishedStep& row : published_steps()) {
    const Graph graph = build_graph(row.spec, row.extents, Phase::kTrain, row.spec.precision);
    EXPECT_EQ(unread(plan_step(row, tpu("tpu-v3")).program.graph),
              unread(step_graph(graph, op_table(), Recompute::kNone)))
        << row.name;
  }
}

TEST(TpuTables, AtTheSlowestUnpackingThatIsNamedTheTableIsTheSameAndBelowARowWaits) {
  TpuSpec device = tpu("tpu-v3");
  std::vector<PlannedStep> planned;
  for (const PublishedStep& row : published_steps()) planned.push_back(plan_step(row, device));
  device.unpack_bytes_s = 1.001 * tables().least_unpack_bytes_s;
  for (std::size_t row = 0; row < planned.size(); ++row)
    EXPECT_DOUBLE_EQ(price_of(planned[row], device).step_s, emulated(row).price.step_s);
  device.unpack_bytes_s = 0.999 * tables().least_unpack_bytes_s;
  int waiting = 0;
  for (std::size_t row = 0; row < planned.size(); ++row)
    waiting += price_of(planned[row], device).step_s > emulated(row).price.step_s;
  EXPECT_EQ(waiting, 1);
}

TEST(TpuTables, WaysSayWhatFitsAndEveryAssumptionHasItsRows) {
  for (const TpuWays& ways : tables().ways) {
    EXPECT_FALSE(ways.rows.front().fits) << "the base is notional";
    EXPECT_TRUE(ways.rows.back().fits);
  }
  ASSERT_EQ(tables().assumptions.size(), 6u);
  for (const TpuAssumption& a : tables().assumptions) EXPECT_EQ(a.residuals.size(), 4u) << a.what;
}

TEST(TpuTables, SamplesThatPadProductsTooAreAnAlternativeThatTheRowsOfFourSamplesExclude) {
  const auto& assumptions = tables().assumptions;
  const auto padded = std::find_if(assumptions.begin(), assumptions.end(), [](const TpuAssumption& a) {
    return a.what == "samples that do not fill the 8 sublanes cost products too, not memory alone";
  });
  ASSERT_NE(padded, assumptions.end());
  for (std::size_t row : {0u, 1u}) EXPECT_GT(padded->residuals[row], 0.15) << "4 samples a core: over the goal";
  for (std::size_t row : {2u, 3u})
    EXPECT_EQ(padded->residuals[row], emulated(row).residual()) << "8 samples a core fill the sublanes";
  EXPECT_GT(std::abs(padded->refitted_residuals[0]), 0.15) << "nor do other constants mend it";
}

TEST(TpuTables, ResidualsOfARowAndOfItsPartnerInTheFitAreOpposite) {
  for (const FittedConstant& c : tables().fitted_constants) {
    double sum = 0, largest = 0;
    for (const TpuTableRow& row : tables().rows)
      if (std::count(c.figure.fitted_to.begin(), c.figure.fitted_to.end(), row.published.name) > 0) {
        const double log_residual = std::log(1 + row.emulated.residual());
        sum += log_residual, largest = std::max(largest, std::abs(log_residual));
      }
    EXPECT_GT(largest, 0.002) << c.figure.key << ": opposite numbers, not zeros";
    EXPECT_LT(std::abs(sum), 0.02) << c.figure.key
                                   << ": the file's constant is rounded, and within 2 % of what is fitted";
  }
}

TEST(TpuTables, ExplainTellsThePassesOfTheSameProgram) {
  const PublishedStep& row = published_steps()[1];
  ModelSpec spec = row.spec;
  spec.cut.mesh = {1, {1, 16, 1, 1, 1}}, spec.cut.recompute = Recompute::kNorms;
  const std::string text = run_explain(spec, {4, 256, 256, 256}, "passes", "tpu-v3");
  EXPECT_THAT(
      text, testing::HasSubstr(fixed_text(tables().ways[0].rows.back().price.busy.pass_s / 1e-6, 1) + " us of passes"));
  EXPECT_NE(text, run_explain(spec, {4, 256, 256, 256}, "passes", "tpu-v2"));
  expect_config_error("is none: name one with {device}", [&] {
    run_explain(spec, {4, 256, 256, 256}, "passes", "host");
  });
}

TEST(TpuTables, EachRowNamesASliceOfItsCores) {
  for (const PublishedStep& row : published_steps())
    EXPECT_EQ(device_from_name(row.device).cores, row.spec.cut.mesh.cores()) << row.name;
}

}  // namespace
}  // namespace voxshard
