// Faults in the kernels of optimizers, which no graph runs: verify takes two steps of each with the gradients of the
// run.
#include <gtest/gtest.h>

#include "libcore/check/optimizer_check.h"
#include "libcore/check/random_values.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/optimizer.h"

namespace voxshard {
namespace {

using Numbers = std::span<const float>;
using Elements = std::span<float>;

constexpr std::size_t kLost = 1001;  // an element in the middle of a vector
constexpr std::size_t kVector = 16;

/// Takes a step of the fast kernel, then calls `damage` with the weights before and after the step.
template <class Step>
void damaged(Elements w, Step step, void (*damage)(const std::vector<float>& before, Elements w)) {
  const std::vector<float> before(w.begin(), w.end());
  step();
  damage(before, w);
}

void scale_the_step(const std::vector<float>& before, Elements w) {
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = before[i] + 1.015F * (w[i] - before[i]);
}
void lose_a_vector(const std::vector<float>& before, Elements w) {
  for (std::size_t i = kLost; i < std::min(w.size(), kLost + kVector); ++i) w[i] = before[i];
}
void lose_the_tail(const std::vector<float>& before, Elements w) {
  const std::size_t tail = w.size() % kVector;
  std::copy(before.end() - static_cast<std::ptrdiff_t>(tail), before.end(),
            w.end() - static_cast<std::ptrdiff_t>(tail));
}

using Damage = void (*)(const std::vector<float>& before, Elements w);

/// Returns the fast kernels with the step of the optimizer `kind` damaged.
template <Damage damage>
OptimizerKernels with_damage(int kind) {
  OptimizerKernels kernels = fast::optimizer;
  if (kind == 0)
    kernels.sgd = [](Numbers g, Elements w, Elements u, const SgdStep& s) {
      damaged(
          w, [&] { fast::optimizer.sgd(g, w, u, s); }, damage);
    };
  if (kind == 1)
    kernels.adam = [](Numbers g, Elements w, Elements m, Elements v, const AdamStep& s) {
      damaged(
          w, [&] { fast::optimizer.adam(g, w, m, v, s); }, damage);
    };
  if (kind == 2)
    kernels.adadelta = [](Numbers g, Elements w, Elements a, Elements b, const AdadeltaStep& s) {
      damaged(
          w, [&] { fast::optimizer.adadelta(g, w, a, b, s); }, damage);
    };
  if (kind == 3)
    kernels.adagrad = [](Numbers g, Elements w, Elements a, const AdagradStep& s) {
      damaged(
          w, [&] { fast::optimizer.adagrad(g, w, a, s); }, damage);
    };
  if (kind == 4)
    kernels.rmsprop = [](Numbers g, Elements w, Elements a, Elements u, const RmspropStep& s) {
      damaged(
          w, [&] { fast::optimizer.rmsprop(g, w, a, u, s); }, damage);
    };
  return kernels;
}

class PlantedInAnOptimizer : public testing::Test {
 protected:
  PlantedInAnOptimizer() {
    const Graph graph = build_unet({.depth = 2}, {.size = {16, 16, 16}}, op_table());
    parameters_ = random_parameters(graph, 5);
    // The gradients have the signs of random weights and the size of real gradients: a mean over all voxels.
    for (const auto& [name, tensor] : random_parameters(graph, 6)) {
      if (graph.node(graph.find(name)).role != Role::kParameter) continue;
      Tensor& gradient = gradients_.emplace(name, Tensor(DType::kF64, tensor.shape())).first->second;
      for (std::int64_t i = 0; i < tensor.count(); ++i) store(gradient.view(), i, 1e-5 * load(tensor.view(), i));
    }
  }

  LayerReport checked(const OptimizerKernels& kernels) {
    WorkerPool pool(hardware_workers());
    return check_optimizers(kernels, parameters_, gradients_, pool);
  }

 private:
  Parameters parameters_;
  std::map<std::string, Tensor> gradients_;
};

TEST_F(PlantedInAnOptimizer, WithoutOneNothingIsFound) {
  const auto found = checked(fast::optimizer).first_difference;
  EXPECT_FALSE(found) << found->layer << ": " << found->what << ", " << found->difference << " of " << found->tolerance;
}

TEST_F(PlantedInAnOptimizer, EachIsFoundAndNamed) {
  const auto expect_found = [&](const char* fault, const OptimizerKernels& kernels, const std::string& what) {
    const auto found = checked(kernels).first_difference;
    std::printf("| own | %s | weights of 1 to 128 channels | %s | %s | %.3g |\n", what.c_str(), fault,
                found ? found->layer.c_str() : "NOT FOUND", found ? found->difference / found->tolerance : 0);
    ASSERT_TRUE(found) << what << ", " << fault;
    EXPECT_EQ(found->what, what) << fault;
  };
  for (int kind = 0; kind < static_cast<int>(std::size(kOptimizerNames)); ++kind) {
    const std::string what = std::string("optimizer ") + kOptimizerNames[kind];
    expect_found("steps x 1.015", with_damage<scale_the_step>(kind), what);
    expect_found("16 elements not updated", with_damage<lose_a_vector>(kind), what);
    expect_found("tail of a vector not updated", with_damage<lose_the_tail>(kind), what);
  }
  OptimizerKernels kernels = fast::optimizer;
  kernels.adam = [](Numbers g, Elements w, Elements m, Elements v, const AdamStep& s) {
    const std::vector<float> before(m.begin(), m.end());
    fast::optimizer.adam(g, w, m, v, s);
    std::copy(before.begin(), before.end(), m.begin());
  };
  expect_found("a slot not written", kernels, "optimizer adam");
  kernels = fast::optimizer;
  kernels.square_sum = [](Numbers g) { return fast::optimizer.square_sum(g.first(g.size() - g.size() / 1000)); };
  expect_found("a thousandth of the elements left out", kernels, "optimizer norm");
}

}  // namespace
}  // namespace voxshard
