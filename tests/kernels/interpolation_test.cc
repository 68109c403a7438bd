// Values at mapped places: hand-sized numbers, and the vectorised kernels against the slow ones to the bit.
#include "libcore/kernels/interpolation.h"

#include "tests/kernels/support.h"
#include "tests/tensor/random_map.h"

namespace voxshard {
namespace {

using namespace test;

const std::uint64_t kInterpolationSeed = printed_seed("kernels/interpolation", 41);

double random_between(std::uint64_t index, double low, double high) {
  return test::random_between({kInterpolationSeed, rng_stream("interpolation_test")}, index, low, high);
}

SpatialMap random_map(std::uint64_t trial) {
  return test::random_map({kInterpolationSeed, rng_stream("interpolation_test")}, trial, -30, 30);
}

/// The points of a set of kernels, of voxels that a function of their number gives.
template <class T, class Value>
std::vector<T> points_of(KernelSet set, const SpatialMap& map, const Box& box, Value value) {
  const Box held = map.sources(box);
  std::vector<T> voxels(static_cast<std::size_t>(held.count())), points(static_cast<std::size_t>(box.count()));
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = value(i);
  const HeldVoxels<T> from{voxels.data(), held};
  if constexpr (std::is_same_v<T, float>)
    interpolation_kernels(set).linear(from, map, box, points.data());
  else
    interpolation_kernels(set).heaviest(from, map, box, points.data());
  return points;
}

TEST(InterpolationKernels, BetweenTwoVoxels) {
  SpatialMap map;
  map.shift = {0, 0, 0.25};
  const Box box{{0, 0, 0}, {1, 1, 1}};  // reads 2 x 2 x 2 voxels, of which the first two count
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
    EXPECT_EQ(points_of<float>(set, map, box, [](std::size_t i) { return i == 1 ? 9.0F : 1.0F; }).front(), 3);
    EXPECT_EQ(points_of<std::int32_t>(set, map, box, [](std::size_t i) { return i == 1 ? 9 : 4; }).front(), 4);
  }
  map.shift = {0, 0, 0.5};
  for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast})
    EXPECT_EQ(points_of<std::int32_t>(set, map, box, [](std::size_t i) { return i % 2 == 0 ? 9 : 4; }).front(), 4)
        << "of equal weights the smallest label";
}

TEST(InterpolationKernels, FastIsTheReferenceToTheBit) {
  // Rows shorter than a vector, of several, and of more than one run with a remainder.
  const Box boxes[] = {{{-3, 2, 5}, {3, 4, 5}}, {{0, 0, -70}, {2, 3, 64}}, {{7, -1, 1}, {2, 2, 131}}, Box::none(3)};
  std::vector<float> random;
  for (std::uint64_t i = 0; i < 4099; ++i) random.push_back(static_cast<float>(random_between(1000 + i, 0, 2.2)));
  const auto value = [&](std::size_t i) { return random[i % random.size()]; };
  const auto label = [&](std::size_t i) { return static_cast<std::int32_t>(random[i / 3 % random.size()]); };
  std::size_t compared = 0, mixed = 0;
  for (std::uint64_t trial = 0; trial < 20; ++trial)
    for (const Box& box : boxes) {
      const SpatialMap map = random_map(trial);
      const auto slow = points_of<float>(KernelSet::kReference, map, box, value),
                 fast = points_of<float>(KernelSet::kFast, map, box, value);
      ASSERT_EQ(slow.size(), fast.size());
      ASSERT_TRUE(slow.empty() || std::memcmp(slow.data(), fast.data(), slow.size() * sizeof(float)) == 0)
          << "trial " << trial;
      const auto labels = points_of<std::int32_t>(KernelSet::kReference, map, box, label);
      ASSERT_EQ(labels, points_of<std::int32_t>(KernelSet::kFast, map, box, label)) << "trial " << trial;
      compared += slow.size();
      for (std::size_t i = 1; i < labels.size(); ++i) mixed += labels[i] != labels[i - 1];
    }
  EXPECT_GT(compared, 15000u);
  EXPECT_GT(mixed, compared / 10);
}

TEST(InterpolationKernels, PointsFarFromTheOriginAreThoseOfTheReference) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // beyond the indices of the vectorised kernel
  SpatialMap map;
  map.matrix[2] = {0.25, 0, 0.5};
  map.shift[2] = -0.5 * static_cast<double>(kFar);
  const Box box{{0, 0, kFar}, {2, 1, 9}};
  const auto value = [](std::size_t i) { return static_cast<float>(i * i % 7); };
  const auto slow = points_of<float>(KernelSet::kReference, map, box, value);
  EXPECT_EQ(slow, points_of<float>(KernelSet::kFast, map, box, value));
  EXPECT_EQ(slow[1], 0.5F) << "between the first two voxels, 0 and 1";
  const auto label = [](std::size_t i) { return static_cast<std::int32_t>(i % 3); };
  EXPECT_EQ(points_of<std::int32_t>(KernelSet::kReference, map, box, label),
            points_of<std::int32_t>(KernelSet::kFast, map, box, label));
}

TEST(InterpolationKernels, APointIsTheSameInAnyBox) {
  const SpatialMap map = random_map(5);
  const Box whole{{0, 0, 0}, {2, 3, 150}}, held = map.sources(whole);
  std::vector<float> voxels(static_cast<std::size_t>(held.count())), all(static_cast<std::size_t>(whole.count()));
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(random_between(i, -1, 1));
  interpolation_kernels(KernelSet::kFast).linear({voxels.data(), held}, map, whole, all.data());
  for (std::int64_t w = 0; w < 150; w += 7) {
    float one = 0;
    interpolation_kernels(KernelSet::kFast).linear({voxels.data(), held}, map, {{1, 2, w}, {1, 1, 1}}, &one);
    EXPECT_EQ(one, all[static_cast<std::size_t>((1 * 3 + 2) * 150 + w)]) << w;
  }
}

}  // namespace
}  // namespace voxshard
