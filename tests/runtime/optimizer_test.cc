// Optimizers against numbers worked out by hand, schedules, weight decay on kernels alone, clipping by the global norm.
#include "libcore/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

/// Parameters "a/kernel" (2) and "a/bias" (1), all 1; gradients {0.6, -0.8} and {0}.
struct Scene {
  explicit Scene(const OptimizerOptions& options) : pool(1), optimizer(options, graph()) {
    parameters.emplace("a/kernel", Tensor(DType::kF32, {2}));
    parameters.emplace("a/bias", Tensor(DType::kF32, {1}));
    for (auto& [name, tensor] : parameters)
      for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.as<float>()[i] = 1;
    kernel_gradient.as<float>()[0] = 0.6F;
    kernel_gradient.as<float>()[1] = -0.8F;
  }

  static Graph graph() {
    Graph g;
    g.append({.role = Role::kParameter, .name = "a/kernel", .type = {DType::kF32, {2}}, .parameter = {.decays = true}});
    g.append({.role = Role::kParameter, .name = "a/bias", .type = {DType::kF32, {1}}});
    g.append({.role = Role::kState, .name = "a/moments", .type = {DType::kF32, {1, 2}}});
    return g;
  }

  void step(std::int64_t number, std::int64_t total = 10) {
    const Gradients gradients{{"a/kernel", kernel_gradient.view()}, {"a/bias", bias_gradient.view()}};
    optimizer.update(pool, parameters, gradients, Optimizer::global_norm(pool, gradients), number, total);
  }
  float kernel(int i) const { return parameters.at("a/kernel").as<float>()[i]; }
  float bias() const { return parameters.at("a/bias").as<float>()[0]; }

  WorkerPool pool;
  Parameters parameters;
  Tensor kernel_gradient{DType::kF32, {2}}, bias_gradient{DType::kF32, {1}};
  Optimizer optimizer;
};

constexpr float kNear = 1e-6F;

TEST(Sgd, PlainStepsAgainstTheGradient) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 0.5, .momentum = 0});
  s.step(0);
  EXPECT_NEAR(s.kernel(0), 0.7F, kNear);
  EXPECT_NEAR(s.kernel(1), 1.4F, kNear);
  EXPECT_EQ(s.bias(), 1.0F);
  EXPECT_TRUE(s.optimizer.state().empty());
}

TEST(Sgd, MomentumAddsUp) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 0.1, .momentum = 0.9});
  s.step(0);  // u = 0.6
  EXPECT_NEAR(s.kernel(0), 1 - 0.06F, kNear);
  s.step(1);  // u = 0.9 * 0.6 + 0.6 = 1.14
  EXPECT_NEAR(s.kernel(0), 1 - 0.06F - 0.114F, kNear);
}

TEST(Sgd, NesterovLooksAhead) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 0.1, .momentum = 0.9, .nesterov = true});
  s.step(0);  // d + mu u = 0.6 + 0.9 * 0.6
  EXPECT_NEAR(s.kernel(0), 1 - 0.114F, kNear);
}

TEST(Sgd, WeightDecayIsAddedToTheGradientOfKernelsAlone) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 0.1, .momentum = 0, .weight_decay = 0.5});
  s.step(0);  // 0.6 + 0.5 * 1
  EXPECT_NEAR(s.kernel(0), 1 - 0.11F, kNear);
  EXPECT_EQ(s.bias(), 1.0F);
}

TEST(Clipping, ScalesAllGradientsWhenTheGlobalNormIsLarger) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 1, .momentum = 0, .clip_norm = 0.5});
  s.step(0);  // the norm of {0.6, -0.8} is 1: halved
  EXPECT_NEAR(s.kernel(0), 0.7F, kNear);
  EXPECT_NEAR(s.kernel(1), 1.4F, kNear);
}

TEST(Clipping, LeavesSmallerGradientsAlone) {
  Scene s({.kind = OptimizerKind::kSgd, .learning_rate = 1, .momentum = 0, .clip_norm = 2});
  s.step(0);
  EXPECT_NEAR(s.kernel(0), 0.4F, kNear);
}

// Kingma and Ba 2015, algorithm 1, by hand: with a constant gradient both corrected moments are d and d^2, so every
// step is rate * d / (|d| + epsilon).
TEST(Adam, StepsByTheRateUnderAConstantGradient) {
  Scene s({.kind = OptimizerKind::kAdam, .learning_rate = 0.01});
  s.step(0);
  EXPECT_NEAR(s.kernel(0), 0.99F, kNear);
  EXPECT_NEAR(s.kernel(1), 1.01F, kNear);
  EXPECT_EQ(s.bias(), 1.0F);
  s.step(1);
  EXPECT_NEAR(s.kernel(0), 0.98F, kNear);
}

TEST(Adam, EqualsNumbersWorkedOutByHandWhenTheGradientTurns) {
  Scene s({.kind = OptimizerKind::kAdam, .learning_rate = 0.1, .beta1 = 0.5, .beta2 = 0.75});
  s.step(0);
  s.kernel_gradient.as<float>()[0] = -0.2F;
  s.step(1);
  // m: 0.3, then 0.5 * 0.3 - 0.5 * 0.2 = 0.05; corrected by 1 - 0.5^2: 0.0666667
  // v: 0.09, then 0.75 * 0.09 + 0.25 * 0.04 = 0.0775; corrected by 1 - 0.75^2: 0.1771429, root 0.4208834
  EXPECT_NEAR(s.optimizer.state().at("m/a/kernel").as<float>()[0], 0.05F, kNear);
  EXPECT_NEAR(s.optimizer.state().at("v/a/kernel").as<float>()[0], 0.0775F, kNear);
  EXPECT_NEAR(s.kernel(0), 0.9 - 0.1 * 0.0666667 / 0.4208834, kNear);
}

// With an epsilon that is seen. After one step of g = 0.6 and the usual betas: m = 0.06, v = 0.36e-3, corrected 0.6 and
// 0.36.
TEST(Adam, EpsilonStandsBesideTheRootThatIsNotCorrected) {
  Scene s({.kind = OptimizerKind::kAdam, .learning_rate = 0.1, .epsilon = 0.2});
  s.step(0);
  EXPECT_NEAR(s.kernel(0), 1 - 0.1 * std::sqrt(1e-3) / 0.1 * 0.06 / (std::sqrt(0.36e-3) + 0.2), kNear);
}

TEST(Adam, WeightDecayIsDecoupled) {
  Scene s({.kind = OptimizerKind::kAdam, .learning_rate = 0.01, .weight_decay = 0.5});
  s.step(0);
  EXPECT_NEAR(s.kernel(0), 1 - 0.01F * (1 + 0.5F), kNear);
  EXPECT_EQ(s.bias(), 1.0F);
}

TEST(Optimizer, StateBytesAreWhatItHolds) {
  for (std::size_t kind = 0; kind < std::size(kOptimizerNames); ++kind)
    for (const double momentum : {0.9, 0.0}) {
      const OptimizerOptions options{.kind = static_cast<OptimizerKind>(kind), .momentum = momentum};
      Scene s(options);
      std::int64_t bytes = 0;
      for (const auto& [name, tensor] : s.optimizer.state()) bytes += tensor.bytes();
      EXPECT_EQ(Optimizer::state_bytes(options, Scene::graph()), bytes) << kOptimizerNames[kind];
      EXPECT_EQ(Optimizer::slots(options) * 3 * 4, bytes) << kOptimizerNames[kind];
    }
}

TEST(Average, ForgetsTheInitialWeightsAndEqualsNumbersWorkedOutByHand) {
  Scene s({.ema = 0.25});
  s.optimizer.begin_average(s.parameters);  // all 1
  const auto joined = [&](float weight, std::int64_t step) {
    s.parameters.at("a/kernel").as<float>()[1] = weight;
    s.optimizer.average(s.pool, s.parameters, step);
    return s.optimizer.averages().at("a/kernel").as<float>()[1];
  };
  EXPECT_NEAR(joined(2, 0), 0.1 * 1 + 0.9 * 2, kNear);  // the decay is 1 / 10
  EXPECT_NEAR(joined(3, 1), 1.9 * 2 / 11 + 3.0 * 9 / 11, kNear);
  const double before = s.optimizer.averages().at("a/kernel").as<float>()[1];
  EXPECT_NEAR(joined(-5, 2), before * 0.25 - 5 * 0.75, kNear);  // 3 / 12 and the decay that was given are equal
  EXPECT_EQ(s.optimizer.averages().at("a/bias").as<float>()[0], 1.0F);
  EXPECT_EQ(decay_of_average(0.999, 8980), 8981.0 / 8990);  // from 8990 steps on the one that was given
  EXPECT_EQ(decay_of_average(0.999, 8991), 0.999);
}

TEST(Average, OfMoreElementsThanATaskIsTheSameForAnyWorkers) {
  constexpr std::int64_t kCount = (1 << 17) + 3;
  const auto averaged = [](int workers) {
    WorkerPool pool(workers);
    Parameters weights;
    weights.emplace("w", Tensor(DType::kF32, {kCount}));
    Optimizer optimizer({.ema = 0.9}, Graph());
    optimizer.begin_average(weights);
    for (std::int64_t step = 0; step < 3; ++step) {
      for (std::int64_t i = 0; i < kCount; ++i)
        weights.at("w").as<float>()[i] = static_cast<float>(
            rng_normal({.seed = 1, .stream = static_cast<std::uint64_t>(step)}, static_cast<std::uint64_t>(i)));
      optimizer.average(pool, weights, step);
    }
    return std::move(optimizer.averages().at("w"));
  };
  const Tensor one = averaged(1), three = averaged(3);
  EXPECT_TRUE(std::equal(one.as<const float>(), one.as<const float>() + kCount, three.as<const float>()));
}

TEST(Average, IsKeptWhereItIsAskedForAndHoldsTheStatesToo) {
  Scene s({});
  s.parameters.emplace("a/moments", Tensor(DType::kF32, {1, 2}));
  s.optimizer.begin_average(s.parameters);
  s.optimizer.average(s.pool, s.parameters, 0);
  EXPECT_TRUE(s.optimizer.averages().empty());
  Optimizer averaging({.ema = 0.5}, Scene::graph());
  averaging.begin_average(s.parameters);
  EXPECT_EQ(averaging.averages().size(), 3u);
}

TEST(Optimizer, SlotsBeginAsThoseOfTensorFlow1) {
  const auto begins = [](OptimizerKind kind, const char* slot) {
    Scene s({.kind = kind});
    return s.optimizer.state().at(slot + std::string("/a/kernel")).as<float>()[1];
  };
  EXPECT_EQ(begins(OptimizerKind::kAdagrad, "square"), 0.1F);
  EXPECT_EQ(begins(OptimizerKind::kRmsprop, "square"), 1.0F);
  EXPECT_EQ(begins(OptimizerKind::kRmsprop, "momentum"), 0.0F);
  EXPECT_EQ(begins(OptimizerKind::kAdadelta, "square"), 0.0F);
  EXPECT_EQ(begins(OptimizerKind::kAdam, "v"), 0.0F);
}

TEST(Optimizer, KeepsNothingForWhatIsFrozen) {
  Graph graph = Scene::graph();
  graph.append({.role = Role::kParameter,
                .name = "b/kernel",
                .type = {DType::kF32, {100}},
                .parameter = {.decays = true, .frozen = true}});
  const OptimizerOptions options{.kind = OptimizerKind::kRmsprop};
  EXPECT_EQ(Optimizer::state_bytes(options, graph), Optimizer::state_bytes(options, Scene::graph()));
  EXPECT_FALSE(Optimizer(options, graph).state().contains("square/b/kernel"));
}

TEST(Adam, EpsilonStandsBesideTheRootOfWhatIsNotCorrected) {
  // tf.train.AdamOptimizer: of the first step lr sqrt(1 - b2) / (1 - b1) * (1 - b1) d / (sqrt(1 - b2) d + eps); with
  // eps beside the corrected root it would be lr d / (d + eps) = 0.5 of the rate
  Scene s({.kind = OptimizerKind::kAdam, .learning_rate = 0.01, .epsilon = 0.6});
  s.step(0);
  const double root = std::sqrt(0.001);
  EXPECT_NEAR(s.kernel(0), 1 - 0.01 * root * 0.6 / (root * 0.6 + 0.6), kNear);
}

TEST(Optimizer, TheGlobalNormHasTheSameBitsForAnyWorkers) {
  Tensor big(DType::kF32, {200'000});
  for (std::int64_t i = 0; i < big.count(); ++i)
    big.as<float>()[i] = static_cast<float>(rng_normal({4, 4}, static_cast<std::uint64_t>(i)));
  WorkerPool one(1), three(3);
  const double norm = Optimizer::global_norm(one, {{"w", big.view()}});
  EXPECT_EQ(norm, Optimizer::global_norm(three, {{"w", big.view()}}));
  EXPECT_NEAR(norm, std::sqrt(200'000.0), 5);
}

TEST(Schedule, ConstantStays) {
  for (std::int64_t step : {0, 5, 99}) EXPECT_EQ(learning_rate_at({.learning_rate = 0.1}, step, 100), 0.1);
}

TEST(Schedule, PolynomialFallsToZero) {
  const OptimizerOptions options{.learning_rate = 0.1, .schedule = ScheduleKind::kPolynomial, .power = 2};
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 0, 100), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 50, 100), 0.025);
  EXPECT_NEAR(learning_rate_at(options, 99, 100), 0.1 * 0.01 * 0.01, 1e-15);
  EXPECT_EQ(learning_rate_at(options, 100, 100), 0);
  EXPECT_EQ(learning_rate_at(options, 150, 100), 0) << "never negative or NaN behind the end";
}

TEST(Schedule, ExponentialFallsSmoothlyOrInStairs) {
  OptimizerOptions options{
      .learning_rate = 0.01, .schedule = ScheduleKind::kExponential, .decay_rate = 0.7, .decay_steps = 938};
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 469, 9380), 0.01 * std::sqrt(0.7));
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 938, 9380), 0.007);
  options.stairs = true;  // 0.01 x 0.7^epoch
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 937, 9380), 0.01);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 938, 9380), 0.007);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 9379, 9380), 0.01 * std::pow(0.7, 9));
}

TEST(Schedule, StepsMultiplyFromEachOnAsTheReferenceRetinaNetDoes) {
  const OptimizerOptions options{.learning_rate = 0.08,
                                 .schedule = ScheduleKind::kSteps,
                                 .decay_at = {15000, 20000},
                                 .warmup_steps = 500,
                                 .warmup_rate = 0.0067};
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 0, 22500), 0.0067);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 250, 22500), (0.0067 + 0.08) / 2);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 500, 22500), 0.08);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 14999, 22500), 0.08);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 15000, 22500), 0.008);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 20000, 22500), 0.0008);
}

TEST(Schedule, WarmUpIsLinearAndEndsAtTheSchedule) {
  const OptimizerOptions options{.learning_rate = 0.1, .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 0, 100), 0.025);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 2, 100), 0.075);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 3, 100), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 4, 100), 0.1);
}

}  // namespace
}  // namespace voxshard
