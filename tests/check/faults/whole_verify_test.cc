// Faults through all of `verify`: planted in the kernels that both sides run, or in the program of the cut model, at
// the channels of the reference network, and named at their layer.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/unet.h"
#include "tests/check/faults/faulty_table.h"
#include "tests/check/faults/scenes.h"

namespace voxshard {
namespace {

/// Returns the upper two levels of the reference network: 32 to 128 channels.
Graph upper_levels(DType dtype) { return build_unet({.depth = 2}, {.size = {16, 16, 20}, .dtype = dtype}, op_table()); }

EquivalenceReport checked(const OpTable& ops, DType dtype, std::function<Graph(DType)> factory = upper_levels) {
  WorkerPool pool(hardware_workers());
  return check_equivalence({.ops = ops,
                            .factory = std::move(factory),
                            .dtype = dtype,
                            .cut = {.mesh = {.partition = {1, 2, 1, 1, 1}}},
                            .seed = 5},
                           pool);
}

void expect_named(const EquivalenceReport& report, const std::string& layer, const std::string& what) {
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->layer, layer);
  EXPECT_EQ(report.first_difference->what, what);
  EXPECT_GT(report.first_difference->difference, report.first_difference->tolerance);
}

/// Picks the uses whose weights have that shape; of weight gradients, those whose result has it.
std::function<bool(const OpContext&)> with_weights(Shape shape) {
  return [shape](const OpContext& op) {
    return op.result.shape == shape || (op.inputs.size() > 1 && op.inputs[1].shape == shape);
  };
}

TEST(WholeVerify, WithoutAFaultIsEqual) {
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    const EquivalenceReport report = checked(op_table(), dtype);
    EXPECT_TRUE(report.equal()) << report.first_difference->layer << " " << report.first_difference->what;
    EXPECT_TRUE(report.not_checked().empty());
  }
}

TEST(WholeVerify, NamesWeightGradientsThatNobodyWrote) {
  const test::FaultyTable faulty("conv_weight_grad", test::fault_named("all zero"));
  expect_named(checked(faulty.table(), DType::kBF16), "grad/head/weights", "kernel");
}

TEST(WholeVerify, NamesAWeightGradientThatIsAPercentTooLarge) {
  const test::FaultyTable faulty("conv_weight_grad", test::fault_named("all x 1.015"),
                                 with_weights({3, 3, 3, 64, 128}));
  for (DType dtype : {DType::kF32, DType::kBF16})
    expect_named(checked(faulty.table(), dtype), "grad/encoder1/conv1/weights", "kernel");
}

TEST(WholeVerify, NamesATileThatAConvolutionDidNotWrite) {
  const test::FaultyTable faulty("conv", test::fault_named("one tile of 4x4x4 missing"),
                                 with_weights({3, 3, 3, 32, 64}));
  expect_named(checked(faulty.table(), DType::kBF16), "encoder0/conv1", "kernel");
}

TEST(WholeVerify, NamesATapThatAnInputGradientDrops) {
  const test::FaultyTable faulty("conv_input_grad", test::fault_named("one tap dropped"),
                                 with_weights({3, 3, 3, 64, 128}));
  expect_named(checked(faulty.table(), DType::kBF16), "grad/encoder1/conv1/input", "kernel");
}

TEST(WholeVerify, NamesABiasGradientWithoutOneCoresShare) {
  const std::string layer = "grad/encoder0/conv1/bias";
  bool had_a_share = false;
  WorkerPool pool(hardware_workers());
  expect_named(check_equivalence({.factory = upper_levels,
                                  .dtype = DType::kBF16,
                                  .cut = {.mesh = {.partition = {1, 2, 2, 1, 1}}},
                                  .oracle = Oracles::kFast,  // the kernels are sound
                                  .seed = 5,
                                  .lower = test::without_a_share(layer, 2, had_a_share)},
                                 pool),
               layer, "result");
  EXPECT_TRUE(had_a_share) << "where weights outweigh activations one core has all of them";
}

}  // namespace
}  // namespace voxshard
