// The factor by which transforms may enlarge rounding, against numbers that were computed independently of the code.
#include "libcore/kernels/winograd/growth.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/kernels/conv_table.h"
#include "tests/kernels/conv_scene.h"

namespace voxshard {
namespace {

using namespace test;

// F(4, 3) with the points 0, +-sqrt(1/2), +-sqrt(2) and infinity, from the matrices built as lists in Python 3:
// sqrt(sum_j A_kj^2 |G_j|^2 |B_j|^2) / 3 over the outputs k is 1.541104,
// 0.986013, 0.986013, 1.541104; of the weight gradient, over 4, 1.221551, 0.883883, 1.221551. F(2, 3): 0.745356 twice;
// 1, 0.707107, 1.
constexpr double kForward4 = 1.541103500742244, kGradient4 = 1.2215512678557539;

TEST(WinogradGrowth, IsTheProductOverTheAxesThatHaveAKernel) {
  const Window volume = window_of(3, 3, 1, 1, 1, 1), image = window_of(2, 3, 1, 1, 1, 1);
  EXPECT_NEAR(winograd::growth_of(winograd::form_of(volume, {4, 4, 4})), std::pow(kForward4, 3), 1e-12);
  EXPECT_NEAR(winograd::growth_of(winograd::form_of(image, {4, 4, 4})), std::pow(kForward4, 2), 1e-12);
  EXPECT_NEAR(winograd::weight_gradient_growth_of(winograd::form_of(volume, {4, 4, 4})), std::pow(kGradient4, 3),
              1e-12);
  EXPECT_NEAR(winograd::growth_of(winograd::form_of(volume, {2, 4, 2})), kForward4, 1e-12);
  EXPECT_NEAR(winograd::growth_of(winograd::form_of(volume, {2, 2, 2})), 1, 1e-12);
  EXPECT_NEAR(winograd::weight_gradient_growth_of(winograd::form_of(volume, {2, 2, 2})), 1, 1e-12);
}

TEST(WinogradGrowth, ARowOfTheTableSaysItAndDirectSumsHaveNone) {
  const ConvUse use{.pass = ConvPass::kForward, .window = window_of(3, 3, 1, 1, 1, 1), .weights = {3, 3, 3, 16, 16}};
  EXPECT_NEAR(conv_growth(ConvKernel::kWinograd4, use), std::pow(kForward4, 3), 1e-12);
  ConvUse gradient = use;
  gradient.pass = ConvPass::kWeightGrad;
  EXPECT_NEAR(conv_growth(ConvKernel::kWinograd4, gradient), std::pow(kGradient4, 3), 1e-12);
  for (ConvKernel direct : {ConvKernel::kLibrary, ConvKernel::kAmx, ConvKernel::kReference})
    EXPECT_EQ(conv_growth(direct, use), 1);
}

}  // namespace
}  // namespace voxshard
