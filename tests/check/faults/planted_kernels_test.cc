// The smallest faults in the kernels of the reference network are found at their layer. Every node that has a fault is
// compared alone (fault_scene.h); tests/slow plants all faults in all nodes and in single layers at 64^3.
#include <gtest/gtest.h>

#include "tests/check/faults/scenes.h"

namespace voxshard {
namespace {

/// Returns the reference network in bf16, made once: every planted fault is taken back.
test::FaultScene& reference_in_bf16() {
  static WorkerPool pool(hardware_workers());
  static test::FaultScene scene(test::reference_unet_scene(DType::kBF16), pool);
  return scene;
}

TEST(PlantedKernels, OfTheReferenceUNetInF32AreFoundAtTheirLayer) {
  WorkerPool pool(hardware_workers());
  test::FaultScene scene(test::reference_unet_scene(DType::kF32), pool);
  test::expect_all_found(scene, test::Breadth::kOneOfAKind);
}

TEST(PlantedKernels, OfTheReferenceUNetInBf16AreFoundAtTheirLayer) {
  test::expect_all_found(reference_in_bf16(), test::Breadth::kOneOfAKind);
}

TEST(PlantedKernels, OfAMeanOverTheImageAreFoundThere) {
  WorkerPool pool(hardware_workers());
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    SCOPED_TRACE(dtype_name(dtype));
    test::FaultScene scene(test::mean_scene(dtype), pool);
    const Dims image{16, 16, 20};
    test::expect_all_found(scene, test::Breadth::kTwoOfAKind,
                           {{ConvKernel::kAny, "avg_pool", image}, {ConvKernel::kAny, "avg_pool_grad", image}});
  }
}

TEST(PlantedKernels, AreMissedAndTheirLayersNamedAsLeftOutWithTheOldLimit) {
  test::FaultScene& scene = reference_in_bf16();
  int large = 0;
  for (const ValueId id : scene.places(1)) {
    const std::vector<std::string> left_out = scene.check(id, true).left_out;
    if (left_out.empty()) continue;
    ++large;
    EXPECT_TRUE(left_out.front().starts_with(scene.row(id).layer + " (")) << left_out.front();
    for (const test::Fault& fault : test::faults()) {
      const auto planted = scene.plant(id, fault, true);
      EXPECT_EQ(planted ? planted->found : "", "") << fault.name;
    }
  }
  EXPECT_GE(large, 5) << "forward, input and weight gradients of the upper level among them";
}

struct Forced {
  ConvKernel kernel;
  DType dtype;
};

class PlantedKernelsOfALayer : public testing::TestWithParam<Forced> {};

TEST_P(PlantedKernelsOfALayer, AreFoundThere) {
  const auto [kernel, dtype] = GetParam();
  const std::set<test::KernelUse> expected = test::uses_of_layer(32, 20, dtype, kernel);
  if (expected.empty())
    GTEST_SKIP() << kConvKernelNames[static_cast<std::size_t>(kernel)] << " does not run on this processor";
  WorkerPool pool(hardware_workers());
  test::FaultScene scene(test::layer_scene(32, 20, dtype, kernel), pool);
  test::expect_all_found(scene, test::Breadth::kOneOfAKind, expected);
}

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedKernelsOfALayer,
                         testing::Values(Forced{ConvKernel::kWinograd2, DType::kF32},
                                         Forced{ConvKernel::kLibrary, DType::kF32},
                                         Forced{ConvKernel::kTiled, DType::kF32},
                                         Forced{ConvKernel::kAmx, DType::kBF16},
                                         Forced{ConvKernel::kLibrary, DType::kBF16}),
                         [](const auto& at) {
                           return std::string(kConvKernelNames[static_cast<std::size_t>(at.param.kernel)]) + "_" +
                                  dtype_name(at.param.dtype);
                         });

}  // namespace
}  // namespace voxshard
