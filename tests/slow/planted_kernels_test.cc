// Every fault of tests/check/faults in more of the reference network than the fast tests have time for, in single
// layers of 64^3, and through all of `verify` at the size at which it once printed "equal" for weight gradients that no
// kernel had written, with a bias gradient that lacks the part of one core among them. Each test prints a table of the
// faults and where they were found.
//
//   build/release/bin/test_slow --gtest_filter='*Planted*'
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "tests/check/faults/faulty_table.h"
#include "tests/check/faults/scenes.h"

namespace voxshard {
namespace {

class PlantedInTheReferenceUNet : public testing::TestWithParam<DType> {};

TEST_P(PlantedInTheReferenceUNet, AreFoundAtTheirLayer) {
  WorkerPool pool(hardware_workers());
  test::FaultScene scene(test::reference_unet_scene(GetParam()), pool);
  test::expect_all_found(scene, test::Breadth::kTwoOfAKind);
}

TEST_P(PlantedInTheReferenceUNet, ABiasGradientWithoutOneCoresShareIsNamedByVerify) {
  const std::string layer = "grad/encoder0/conv1/bias";
  bool had_a_share = false;
  WorkerPool pool(hardware_workers());
  const EquivalenceReport report = check_equivalence({.factory = test::reference_unet,
                                                      .dtype = GetParam(),
                                                      .cut = {.mesh = {.partition = {1, 2, 2, 1, 1}}},
                                                      .oracle = Oracles::kFast,  // the kernels are sound
                                                      .seed = 5,
                                                      .lower = test::without_a_share(layer, 2, had_a_share)},
                                                     pool);
  EXPECT_TRUE(had_a_share) << "where weights outweigh activations one core has all of them";
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->layer, layer);
  EXPECT_EQ(report.first_difference->what, "result");
  EXPECT_GT(report.first_difference->difference, report.first_difference->tolerance);
}

INSTANTIATE_TEST_SUITE_P(Precisions, PlantedInTheReferenceUNet, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& at) { return std::string(dtype_name(at.param)); });

struct Layer {
  ConvKernel kernel;
  DType dtype;
};

class PlantedInALayer : public testing::TestWithParam<Layer> {};

TEST_P(PlantedInALayer, Of64ChannelsAt64VoxelsAreFoundThere) {
  const auto [kernel, dtype] = GetParam();
  const std::set<test::KernelUse> expected = test::uses_of_layer(64, 64, dtype, kernel);
  if (expected.empty())
    GTEST_SKIP() << kConvKernelNames[static_cast<std::size_t>(kernel)] << " does not run on this processor";
  WorkerPool pool(hardware_workers());
  test::FaultScene scene(test::layer_scene(64, 64, dtype, kernel), pool);
  test::expect_all_found(scene, test::Breadth::kTwoOfAKind, expected);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedInALayer,
                         testing::Values(Layer{ConvKernel::kWinograd4, DType::kF32},
                                         Layer{ConvKernel::kWinograd2, DType::kF32},
                                         Layer{ConvKernel::kLibrary, DType::kF32},
                                         Layer{ConvKernel::kTiled, DType::kF32}, Layer{ConvKernel::kAmx, DType::kBF16},
                                         Layer{ConvKernel::kLibrary, DType::kBF16},
                                         Layer{ConvKernel::kWinograd4, DType::kBF16}),
                         [](const auto& at) {
                           return std::string(kConvKernelNames[static_cast<std::size_t>(at.param.kernel)]) + "_" +
                                  dtype_name(at.param.dtype);
                         });

class PlantedInTheTable : public testing::TestWithParam<std::tuple<const char*, DType>> {};

TEST_P(PlantedInTheTable, InAllWeightGradientsIsNamedByVerify) {
  const auto& [fault, dtype] = GetParam();
  const test::FaultyTable faulty("conv_weight_grad", test::fault_named(fault));
  WorkerPool pool(hardware_workers());
  const EquivalenceReport report = check_equivalence({.ops = faulty.table(),
                                                      .factory = test::reference_unet,
                                                      .dtype = dtype,
                                                      .cut = {.mesh = {.partition = {1, 2, 2, 1, 1}}},
                                                      .seed = 5},
                                                     pool);
  ASSERT_FALSE(report.equal());
  EXPECT_EQ(report.first_difference->layer, "grad/head/weights");
  EXPECT_EQ(report.first_difference->what, "kernel");
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedInTheTable,
                         testing::Combine(testing::Values("all zero", "all x 1.015"),
                                          testing::Values(DType::kF32, DType::kBF16)),
                         [](const auto& at) {
                           return (std::get<0>(at.param)[4] == 'z' ? std::string("zero_") : std::string("scaled_")) +
                                  dtype_name(std::get<1>(at.param));
                         });

}  // namespace
}  // namespace voxshard
