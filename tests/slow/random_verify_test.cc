// `voxshard verify` of forty models, grids and sizes drawn from a seed. What fails can be repeated with the line that
// it prints, or all of it with the seed:
//
//   VOXSHARD_SEED=11 build/release/bin/test_slow --gtest_filter='*RandomVerify*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/cli/run_voxshard.h"
#include "tests/slow/random_models.h"

namespace voxshard {
namespace {

constexpr std::uint64_t kSeed = 22;
constexpr int kCases = 40;

std::uint64_t seed() {
  const char* text = std::getenv("VOXSHARD_SEED");
  return text == nullptr ? kSeed : std::strtoull(text, nullptr, 10);
}

class RandomVerify : public testing::TestWithParam<int> {};

TEST_P(RandomVerify, EqualsTheUncutModel) {
  const std::string line = random_verify(seed(), GetParam());
  std::cout << "seed " << seed() << " case " << GetParam() << ": voxshard " << line << std::endl;
  const CommandResult r = run_voxshard(line);
  EXPECT_EQ(r.exit_code, 0) << "seed " << seed() << " case " << GetParam() << ": voxshard " << line << "\n"
                            << r.out << r.err;
  EXPECT_TRUE(r.out.ends_with("\nequal\n") || r.out.find("\nequal\n") != std::string::npos) << r.out;
}

INSTANTIATE_TEST_SUITE_P(Cases, RandomVerify, testing::Range(0, kCases));

TEST(RandomVerifyLines, AreThoseOfTheirSeed) {
  EXPECT_EQ(random_verify(7, 3), random_verify(7, 3));
  EXPECT_NE(random_verify(7, 3), random_verify(8, 3));
}

}  // namespace
}  // namespace voxshard
