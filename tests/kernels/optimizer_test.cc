// The optimizers' steps: fast = reference within f32 rounding, over sizes around a vector, several steps after another.
#include "libcore/kernels/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace voxshard {
namespace {

using Numbers = std::vector<float>;

Numbers numbers(std::size_t count, float phase) {
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.7F * static_cast<float>(i) + phase);
  return values;
}

void expect_near(const Numbers& fast, const Numbers& slow) {
  ASSERT_EQ(fast.size(), slow.size());
  for (std::size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], slow[i], 2e-6) << i;
}

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 9, 1000};

TEST(OptimizerKernels, SgdOfBothSetsAgrees) {
  for (const std::size_t size : kSizes)
    for (const bool slot : {false, true})
      for (const bool nesterov : {false, true}) {
        const SgdStep step{.rate = 0.1F, .scale = 0.5F, .decay = 0.01F, .momentum = 0.9F, .nesterov = nesterov};
        Numbers w = numbers(size, 0), u(slot ? size : 0, 0.0F), slow_w = w, slow_u = u;
        for (int i = 0; i < 3; ++i) {
          const Numbers g = numbers(size, static_cast<float>(i));
          fast::optimizer.sgd(g, w, u, step);
          reference::optimizer.sgd(g, slow_w, slow_u, step);
        }
        expect_near(w, slow_w);
        expect_near(u, slow_u);
      }
}

/// Takes three steps of an optimizer with two slots; `step` is called with the kernels, the gradient, the weights and
/// both.
template <class Step>
void expect_both_sets_agree(float slots_begin, const Step& step) {
  for (const std::size_t size : kSizes) {
    Numbers w = numbers(size, 0), m(size, slots_begin), v(size, slots_begin), slow_w = w, slow_m = m, slow_v = v;
    for (int i = 0; i < 3; ++i) {
      const Numbers g = numbers(size, static_cast<float>(i));
      step(fast::optimizer, i, g, w, m, v);
      step(reference::optimizer, i, g, slow_w, slow_m, slow_v);
    }
    expect_near(w, slow_w);
    expect_near(m, slow_m);
    expect_near(v, slow_v);
  }
}

TEST(OptimizerKernels, AdamOfBothSetsAgrees) {
  expect_both_sets_agree(0, [](const OptimizerKernels& k, int i, const Numbers& g, Numbers& w, Numbers& m, Numbers& v) {
    const auto rest = [i](double beta) { return 1 - std::pow(beta, i + 1); };
    k.adam(g, w, m, v,
           {.rate = 0.01F,
            .scale = 0.5F,
            .decay = 0.01F,
            .beta1 = 0.9F,
            .beta2 = 0.999F,
            .epsilon = 1e-3F,
            .corrected = static_cast<float>(0.01 * std::sqrt(rest(0.999)) / rest(0.9))});
  });
}

TEST(OptimizerKernels, AdadeltaOfBothSetsAgrees) {
  expect_both_sets_agree(0, [](const OptimizerKernels& k, int, const Numbers& g, Numbers& w, Numbers& m, Numbers& v) {
    k.adadelta(g, w, m, v, {.rate = 0.5F, .scale = 0.5F, .decay = 0.01F, .rho = 0.95F, .epsilon = 1e-4F});
  });
}

TEST(OptimizerKernels, AdagradOfBothSetsAgrees) {
  expect_both_sets_agree(0.1F, [](const OptimizerKernels& k, int, const Numbers& g, Numbers& w, Numbers& m, Numbers&) {
    k.adagrad(g, w, m, {.rate = 0.1F, .scale = 0.5F, .decay = 0.01F});
  });
}

TEST(OptimizerKernels, RmspropOfBothSetsAgrees) {
  for (const bool momentum : {false, true})
    expect_both_sets_agree(
        1, [=](const OptimizerKernels& k, int, const Numbers& g, Numbers& w, Numbers& m, Numbers& v) {
          const std::span<float> u = momentum ? std::span<float>(v) : std::span<float>();
          k.rmsprop(g, w, m, u,
                    {.rate = 0.1F, .scale = 0.5F, .decay = 0.01F, .rho = 0.9F, .momentum = 0.9F, .epsilon = 1e-10F});
        });
}

TEST(OptimizerKernels, SquareSumIsTheSumOfSquares) {
  EXPECT_EQ(fast::optimizer.square_sum(Numbers{3, 4}), 25);
  EXPECT_EQ(reference::optimizer.square_sum(Numbers{}), 0);
  Numbers many;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(fast::optimizer.square_sum(many), reference::optimizer.square_sum(many)) << i;  // integers: exact
    many.push_back(static_cast<float>(i % 19 - 9));
  }
  many[997] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(fast::optimizer.square_sum(many)));
}

}  // namespace
}  // namespace voxshard
