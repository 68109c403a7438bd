// Tests of what allowance() accepts and refuses: it accepts rounding, in any order of a sum, and no fault.
#include "tests/parity/allowance.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "libcore/base/rng.h"
#include "tests/parity/reference.h"
#include "tests/parity/trajectory.h"

namespace voxshard {
namespace {

/// An f32 sum of `terms` products in the order of `seed`, with its f64 value and its sum of magnitudes.
struct Sum {
  double f32 = 0, f64 = 0, magnitude = 0;

  Sum(std::size_t terms, std::uint64_t seed) {
    std::vector<std::int64_t> order(terms);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937_64(seed));
    float sum = 0;
    for (const std::int64_t i : order) {
      const auto a = static_cast<float>(signed_uniform(1, "a", i)), b = static_cast<float>(signed_uniform(1, "b", i));
      sum += a * b;
      f64 += double{a} * b;
      magnitude += std::abs(double{a} * b);
    }
    f32 = sum;
  }
};

TEST(Allowance, HoldsForASumInAnyOrder) {
  for (const std::size_t terms : {1U, 27U, 1152U, 50'000U})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Sum sum(terms, seed);
      EXPECT_NEAR(sum.f32, sum.f64, allowance({static_cast<double>(terms), sum.magnitude}))
          << terms << " terms, order " << seed;
    }
}

TEST(Allowance, RefusesAThousandthWhereTheCaseIsWellConditioned) {
  const double value = 3.2;  // its condition is that of one sum
  for (const double terms : {27.0, 1152.0, 50'000.0}) {
    EXPECT_LT(allowance({terms, value}), 1e-3 * value) << terms;
    EXPECT_LT(allowance({terms, value}, DType::kF64), 1e-12 * value) << terms;
  }
}

TEST(Allowance, GrowsWithTermsAndConditionAndShrinksWithTheType) {
  EXPECT_DOUBLE_EQ(allowance({400, 1}), 2 * allowance({100, 1}));
  EXPECT_DOUBLE_EQ(allowance({100, 3}), 3 * allowance({100, 1}));
  EXPECT_DOUBLE_EQ(allowance({100, 1}, DType::kF64), allowance({100, 1}) * 0x1p-29);
  EXPECT_EQ(allowance({100, 0}), 0);
}

class StoredTrajectory : public testing::TestWithParam<const char*> {};

/// Returns the stored trajectory, times `fault`.
Trajectory stored_trajectory(const nlohmann::json& expected, double fault) {
  const nlohmann::json& exact = expected.contains("f64") ? expected.at("f64") : expected;
  Trajectory result{.losses = exact.at("losses")};
  for (double& loss : result.losses) loss *= fault;
  for (const auto& [name, norm] : exact.at("gradient_norms").items())
    result.gradient_norms[name].value = fault * norm.get<double>();
  return result;
}

/// Expects each number to agree with itself and, with a fault, to disagree, unless it is zero but for rounding.
void expect_found(const std::vector<Compared>& off, const std::vector<Compared>& same) {
  double largest = 0;
  for (const Compared& one : same) largest = std::max(largest, std::abs(one.theirs));
  for (std::size_t i = 0; i < off.size(); ++i) {
    EXPECT_TRUE(same[i].agrees()) << same[i].what;
    if (std::abs(off[i].theirs) <= 1e-9 * largest) continue;
    EXPECT_FALSE(off[i].agrees()) << off[i].what << " allows " << off[i].allowed;
  }
}

TEST_P(StoredTrajectory, InF64AMillionthOffIsFoundInEveryNumber) {
  const nlohmann::json reference = stored_reference(GetParam());
  for (const auto& expected : reference.at("cases")) {
    const Comparison off = compare(stored_trajectory(expected, 1 + 1e-6), expected, DType::kF64);
    const Comparison same = compare(stored_trajectory(expected, 1), expected, DType::kF64);
    ASSERT_EQ(same.losses.size(), kSteps) << "all steps say something";
    expect_found(off.losses, same.losses);
    expect_found(off.gradient_norms, same.gradient_norms);
  }
}

TEST_P(StoredTrajectory, InF32APercentOffIsFoundInEveryLossThatIsCompared) {
  const nlohmann::json reference = stored_reference(GetParam());
  for (const auto& expected : reference.at("cases")) {
    const Comparison off = compare(stored_trajectory(expected, 1 + 1e-2), expected, DType::kF32);
    ASSERT_GE(off.losses.size(), 2U);
    expect_found(off.losses, compare(stored_trajectory(expected, 1), expected, DType::kF32).losses);
  }
}

INSTANTIATE_TEST_SUITE_P(AllFiles, StoredTrajectory,
                         testing::Values("classifier_reference.json", "retinanet_reference.json",
                                         "unet_reference.json"));

}  // namespace
}  // namespace voxshard
