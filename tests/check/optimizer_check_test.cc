// The optimizers' fast kernels against the slow ones, and faults planted in them.
#include "libcore/check/optimizer_check.h"

#include <gtest/gtest.h>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

struct Scene {
  WorkerPool pool{2};
  Parameters parameters;
  std::map<std::string, Tensor> gradients;

  Scene() {
    parameters.emplace("w", Tensor(DType::kF32, {37}));
    gradients.emplace("w", Tensor(DType::kF64, {37}));
    for (std::int64_t i = 0; i < 37; ++i) {
      parameters.at("w").as<float>()[i] = static_cast<float>(0.1 * rng_normal({1, 1}, static_cast<std::uint64_t>(i)));
      gradients.at("w").as<double>()[i] = 0.01 * rng_normal({1, 2}, static_cast<std::uint64_t>(i));
    }
  }
  LayerReport check(const OptimizerKernels& kernels) { return check_optimizers(kernels, parameters, gradients, pool); }
};

TEST(OptimizerCheck, TheFastKernelsAreEqual) {
  Scene scene;
  const LayerReport report = scene.check(fast::optimizer);
  EXPECT_FALSE(report.first_difference) << report.first_difference->what << " " << report.first_difference->difference
                                        << " of " << report.first_difference->tolerance;
  EXPECT_EQ(report.compared, 7);
}

TEST(OptimizerCheck, AnElementThatIsNotUpdatedIsNamed) {
  OptimizerKernels kernels = fast::optimizer;
  kernels.adam = [](std::span<const float> g, std::span<float> w, std::span<float> m, std::span<float> v,
                    const AdamStep& step) {
    const float last = w.back();
    fast::optimizer.adam(g, w, m, v, step);
    w.back() = last;
  };
  Scene scene;
  const LayerReport report = scene.check(kernels);
  ASSERT_TRUE(report.first_difference);
  EXPECT_EQ(report.first_difference->layer, "w");
  EXPECT_EQ(report.first_difference->what, "optimizer adam");
}

TEST(OptimizerCheck, ASlotThatIsNotWrittenAndASumOrAnAverageWithoutItsLastElementAreNamed) {
  OptimizerKernels kernels = fast::optimizer;
  kernels.sgd = [](std::span<const float> g, std::span<float> w, std::span<float> u, const SgdStep& step) {
    std::vector<float> lost(u.begin(), u.end());
    fast::optimizer.sgd(g, w, lost, step);
  };
  Scene scene;
  EXPECT_EQ(scene.check(kernels).first_difference->what, "optimizer sgd");
  kernels = fast::optimizer;
  kernels.square_sum = [](std::span<const float> g) { return fast::optimizer.square_sum(g.first(g.size() - 1)); };
  EXPECT_EQ(scene.check(kernels).first_difference->what, "optimizer norm");
  kernels = fast::optimizer;
  kernels.average = [](std::span<const float> w, std::span<float> average, float rate) {
    fast::optimizer.average(w.first(w.size() - 1), average.first(w.size() - 1), rate);
  };
  EXPECT_EQ(scene.check(kernels).first_difference->what, "optimizer average");
}

}  // namespace
}  // namespace voxshard
