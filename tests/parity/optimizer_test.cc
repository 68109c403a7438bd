// The optimizers of the reference U-Net against PyTorch and NumPy: the weights after each of twelve steps, with
// gradients down to 1e-8, a decaying rate, weight decay and clipping. The numbers and how they were made:
// optimizer_reference.json, make_optimizer_reference.py.
#include "libcore/train/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/parity/allowance.h"
#include "tests/parity/reference.h"

namespace voxshard {
namespace {

/// The number of roundings in a step: of the gradient, the rate, the slots and the weight. The longest formula,
/// Adadelta's with clipping and decay, has twelve.
constexpr double kRoundings = 12;

/// Returns how far a weight moves per rounding of the decay of a mean square: the mean moves by 1 / (1 - decay) of
/// itself, a root of it by half of that.
double condition_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kAdam:
      return 0.5 / (1 - 0.999);
    case OptimizerKind::kAdadelta:
      return 2 * 0.5 / (1 - 0.95);  // of two means
    case OptimizerKind::kRmsprop:
      return 0.5 / (1 - 0.9);
    case OptimizerKind::kSgd:
    case OptimizerKind::kAdagrad:
      break;
  }
  return 0;
}

class OptimizerAgainstPyTorchAndNumPy : public testing::TestWithParam<int> {};

TEST_P(OptimizerAgainstPyTorchAndNumPy, WeightsOfEveryStepAgree) {
  const auto all = stored_reference("optimizer_reference.json");
  const auto expected = all.at("cases").at(GetParam());
  const auto kind = std::ranges::find(kOptimizerNames, expected.at("optimizer").get<std::string>());
  ASSERT_NE(kind, std::end(kOptimizerNames));
  const OptimizerOptions options{.kind = static_cast<OptimizerKind>(kind - std::begin(kOptimizerNames)),
                                 .learning_rate = all.at("learning_rate"),
                                 .momentum = expected.at("momentum"),
                                 .weight_decay = expected.at("weight_decay"),
                                 .clip_norm = expected.at("clip_norm"),
                                 .schedule = ScheduleKind::kExponential,
                                 .decay_rate = all.at("decay_rate"),
                                 .decay_steps = all.at("decay_steps")};
  const std::int64_t size = std::ssize(all.at("gradients").at(0));
  Graph graph;
  graph.append({.role = Role::kParameter, .name = "w", .type = {DType::kF32, {size}}, .parameter = {.decays = true}});
  Optimizer optimizer(options, graph);
  WorkerPool pool(2);
  Parameters parameters;
  const Tensor& w = parameters.emplace("w", Tensor(DType::kF32, {size})).first->second;
  Tensor gradient(DType::kF32, {size});
  std::vector<double> largest(static_cast<std::size_t>(size), 0.0);
  for (std::size_t step = 0; step < all.at("gradients").size(); ++step) {
    for (std::size_t i = 0; i < largest.size(); ++i)
      gradient.as<float>()[i] = static_cast<float>(all.at("gradients").at(step).at(i).get<double>());
    const Gradients gradients{{"w", gradient.view()}};
    optimizer.update(pool, parameters, gradients, Optimizer::global_norm(pool, gradients),
                     static_cast<std::int64_t>(step), 12);
    for (std::size_t i = 0; i < largest.size(); ++i) {
      const double theirs = expected.at("weights").at(step).at(i);
      largest[i] = std::max(largest[i], std::abs(theirs));
      EXPECT_NEAR(w.as<float>()[i], theirs,
                  allowance({kRoundings * static_cast<double>(step + 1), largest[i]}) +
                      allowance({1, condition_of(options.kind) * largest[i]}))
          << "step " << step << ", weight " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllCases, OptimizerAgainstPyTorchAndNumPy, testing::Range(0, 19));

}  // namespace
}  // namespace voxshard
