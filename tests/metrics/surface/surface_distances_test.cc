// Scores of surfaces by hand, by all pairs of elements, and by the laws that they keep.
#include "libcore/metrics/surface/surface_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "libcore/base/error.h"
#include "libcore/metrics/surface/distance_transform.h"
#include "tests/metrics/surface/mask_scene.h"

namespace voxshard {
namespace {

const SurfaceConvention& convention(const char* name) { return *find_convention(name); }
SurfaceOptions by(const char* name, double tolerance_mm = 1) {
  return {.convention = &convention(name), .tolerance_mm = tolerance_mm};
}

TEST(SurfaceDistances, TwoVoxelsByHand) {
  const Mask mine = voxels({3, 4, 5}, {{1, 1, 1}}), truth = voxels({3, 4, 5}, {{1, 2, 3}});
  const SurfaceDistances s = surface_distances(mine, truth, {9, 3, 2}, by("voxels", 5));
  EXPECT_EQ(s.from_prediction.weight, 1);
  EXPECT_EQ(hausdorff(s), 5) << "3 mm along H, 4 mm along W";
  EXPECT_EQ(hausdorff_percentile(s), 5);
  EXPECT_EQ(average_distance(s), 5);
  EXPECT_EQ(nsd(s), 1) << "a distance that equals the tolerance is within it";
  EXPECT_EQ(nsd(surface_distances(mine, truth, {9, 3, 2}, by("voxels", 4.999))), 0);
}

TEST(SurfaceDistances, SurfelsOfTwoVoxelsAsPublished) {
  // test_on_2_pixels_2mm_away of google-deepmind/surface-distance, commit ee651c8, surface_distance_test.py.
  const Mask mine = voxels({128, 128, 128}, {{50, 60, 70}}), truth = voxels({128, 128, 128}, {{50, 60, 72}});
  const SurfaceDistances s = surface_distances(mine, truth, {3, 2, 1}, by("surfels"));
  EXPECT_DOUBLE_EQ(s.from_prediction.mean_mm(), 1.5);
  EXPECT_DOUBLE_EQ(s.from_reference.mean_mm(), 1.5);
  EXPECT_EQ(hausdorff(s), 2);
  EXPECT_EQ(hausdorff_percentile(s), 2);
  EXPECT_DOUBLE_EQ(nsd(s), 0.5);
}

TEST(SurfaceDistances, SurfelsOfTwoHalvesAsPublished) {
  // test_two_cubes_shifted_by_one_pixel of the same file, given there with three digits: the image's edge is a surface.
  const GridSize size = {100, 100, 100};
  const SurfaceDistances s = surface_distances(block(size, {0, 0, 0}, {51, 100, 100}),
                                               block(size, {0, 0, 0}, {50, 100, 100}), {2, 1, 1}, by("surfels"));
  EXPECT_NEAR(s.from_reference.mean_mm(), 0.322, 5e-4);
  EXPECT_NEAR(s.from_prediction.mean_mm(), 0.339, 5e-4);
  EXPECT_EQ(hausdorff(s), 2);
  EXPECT_EQ(hausdorff_percentile(s), 2);
  EXPECT_NEAR(s.from_reference.within / s.from_reference.weight, 0.842, 5e-4);
  EXPECT_NEAR(s.from_prediction.within / s.from_prediction.weight, 0.830, 5e-4);
  EXPECT_NEAR(nsd(s), 0.836, 5e-4);
}

TEST(SurfaceDistances, OnlyTheBorderOfACubeCounts) {
  const Mask cube = block({7, 7, 7}, {1, 1, 1}, {5, 5, 5});
  const SurfaceDistances s = surface_distances(cube, cube, {2, 1, 1}, by("voxels"));
  EXPECT_EQ(s.from_prediction.weight, 125 - 27);
  EXPECT_EQ(hausdorff(s), 0);
  EXPECT_EQ(average_distance(s), 0);
  EXPECT_EQ(nsd(s), 1);
}

TEST(SurfaceDistances, APercentileLiesBetweenDistancesOfVoxelsAndIsOneOfSurfels) {
  // Ten voxels in a row, each one step from the next; the reference is the first. Distances 0 to 9, rank 0.95 x 9.
  const Mask mine = block({1, 1, 10}, {0, 0, 0}, {1, 1, 10}), truth = voxels({1, 1, 10}, {{0, 0, 0}});
  EXPECT_DOUBLE_EQ(hausdorff_percentile(surface_distances(mine, truth, {1, 1, 1}, by("voxels"))), 8.55);
  SurfaceOptions middle = by("voxels");
  middle.percent = 50;
  EXPECT_DOUBLE_EQ(hausdorff_percentile(surface_distances(mine, truth, {1, 1, 1}, middle)), 4.5);
  middle.convention = &convention("surfels");
  const double mm = hausdorff_percentile(surface_distances(mine, truth, {1, 1, 1}, middle));
  EXPECT_EQ(mm, std::round(mm));
}

TEST(SurfaceDistances, NothingIsInfinitelyFarAndTwoNothingsHaveNoScore) {
  const Mask nothing = empty_mask({4, 4, 4}), one = voxels({4, 4, 4}, {{1, 1, 1}});
  for (const char* name : {"voxels", "surfels"}) {
    for (const bool swapped : {false, true}) {
      const SurfaceDistances s =
          surface_distances(swapped ? nothing : one, swapped ? one : nothing, {1, 1, 1}, by(name));
      EXPECT_EQ(nsd(s), 0) << name;
      EXPECT_TRUE(std::isinf(hausdorff(s)) && std::isinf(hausdorff_percentile(s))) << name;
      EXPECT_TRUE(std::isinf(average_distance(s))) << name;
    }
    const SurfaceDistances none = surface_distances(nothing, nothing, {1, 1, 1}, by(name));
    for (const double score : {nsd(none), hausdorff(none), hausdorff_percentile(none), average_distance(none)})
      EXPECT_TRUE(std::isnan(score)) << name;
  }
}

TEST(SurfaceDistances, UnequalSizesAndPercentagesThatAreNoneAreRefused) {
  EXPECT_THROW(surface_distances(empty_mask({1, 2, 3}), empty_mask({1, 3, 2}), {1, 1, 1}, {}), Error);
  EXPECT_THROW(surface_distances(empty_mask({1, 2, 3}), empty_mask({1, 2, 3}), {1, 1, 1}, {.percent = 101}), Error);
}

/// The slow, obvious version: the distances of all elements, sorted with their weights.
std::vector<std::pair<double, double>> sorted_distances(const SurfaceElements& from, const SurfaceElements& to,
                                                        const GridSpacing& spacing) {
  const std::vector<double> mm2 = squared_distances_by_pairs(to.codes, spacing);
  std::vector<std::pair<double, double>> sorted;
  for (std::size_t i = 0; i < mm2.size(); ++i)
    if (from.codes.at[i]) sorted.emplace_back(std::sqrt(mm2[i]), from.weights[from.codes.at[i]]);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// The definition of each convention, from the sorted list.
double percentile_of(const std::vector<std::pair<double, double>>& sorted, bool interpolates, double share) {
  const auto n = static_cast<double>(sorted.size());
  if (interpolates) {
    const double rank = share * (n - 1);
    const auto k = static_cast<std::size_t>(rank), next = std::min(k + 1, sorted.size() - 1);
    return sorted[k].first + (sorted[next].first - sorted[k].first) * (rank - static_cast<double>(k));
  }
  double total = 0, sum = 0;
  for (const auto& [mm, weight] : sorted) total += weight;
  for (const auto& [mm, weight] : sorted)
    if ((sum += weight) >= share * total * (1 - 1e-12)) return mm;
  return sorted.back().first;
}

TEST(SurfaceDistances, AreThoseOfAllPairsOfElements) {
  std::int64_t seed = 100;
  for (const char* name : {"voxels", "surfels"})
    for (const GridSize& size : {GridSize{1, 1, 6}, GridSize{4, 1, 5}, GridSize{5, 6, 4}})
      for (const GridSpacing& spacing : {GridSpacing{1, 1, 1}, GridSpacing{5, 0.7, 0.68}})
        for (const int of_ten : {1, 4, 8}) {
          const Mask mine = random_mask(size, of_ten, ++seed), truth = random_mask(size, 3, ++seed);
          if (mine.empty() || truth.empty()) continue;
          const std::string of = std::string(name) + " with seed " + std::to_string(seed);
          const SurfaceDistances s = surface_distances(mine, truth, spacing, by(name, 1.5));
          const SurfaceElements a = convention(name).elements(mine, spacing);
          const SurfaceElements b = convention(name).elements(truth, spacing);
          const bool interpolates = convention(name).interpolates;
          for (const auto& [found, list] : {std::pair(s.from_prediction, sorted_distances(a, b, spacing)),
                                            std::pair(s.from_reference, sorted_distances(b, a, spacing))}) {
            double weight = 0, within = 0, sum = 0;
            for (const auto& [mm, w] : list) weight += w, within += mm <= 1.5 ? w : 0, sum += mm * w;
            EXPECT_NEAR(found.weight, weight, 1e-12 * weight) << of;
            EXPECT_NEAR(found.within, within, 1e-12 * weight) << of;
            EXPECT_NEAR(found.weighted_mm, sum, 1e-12 * (sum + weight)) << of;
            EXPECT_NEAR(found.largest_mm, list.back().first, 1e-12) << of;
            EXPECT_NEAR(found.percentile_mm, percentile_of(list, interpolates, 0.95), 1e-12) << of;
          }
        }
}

TEST(SurfaceDistances, AreSymmetric) {
  for (const char* name : {"voxels", "surfels"})
    for (std::int64_t seed = 1; seed < 8; ++seed) {
      const Mask a = random_mask({5, 6, 7}, 4, seed), b = random_mask({5, 6, 7}, 2, seed + 50);
      const SurfaceDistances s = surface_distances(a, b, {2, 1, 0.5}, by(name)),
                             t = surface_distances(b, a, {2, 1, 0.5}, by(name));
      EXPECT_EQ(nsd(s), nsd(t)) << name << seed;
      EXPECT_EQ(hausdorff(s), hausdorff(t)) << name << seed;
      EXPECT_EQ(hausdorff_percentile(s), hausdorff_percentile(t)) << name << seed;
      EXPECT_EQ(average_distance(s), average_distance(t)) << name << seed;
    }
}

TEST(SurfaceDistances, ScaleWithTheGridAndDoNotDependOnTheBox) {
  const Mask a = block({9, 9, 9}, {2, 2, 2}, {4, 5, 3}), b = block({9, 9, 9}, {3, 2, 1}, {4, 4, 4});
  const Mask cut_a = block({5, 5, 4}, {0, 0, 1}, {4, 5, 3}), cut_b = block({5, 5, 4}, {1, 0, 0}, {4, 4, 4});
  for (const char* name : {"voxels", "surfels"}) {
    const SurfaceDistances whole = surface_distances(a, b, {2, 1, 0.5}, by(name, 1)),
                           cut = surface_distances(cut_a, cut_b, {2, 1, 0.5}, by(name, 1)),
                           twice = surface_distances(a, b, {4, 2, 1}, by(name, 2));
    EXPECT_EQ(hausdorff(whole), hausdorff(cut));
    EXPECT_DOUBLE_EQ(average_distance(whole), average_distance(cut));
    EXPECT_EQ(nsd(whole), nsd(cut));
    EXPECT_DOUBLE_EQ(2 * hausdorff_percentile(whole), hausdorff_percentile(twice));
    EXPECT_DOUBLE_EQ(2 * average_distance(whole), average_distance(twice));
    EXPECT_DOUBLE_EQ(nsd(whole), nsd(twice));
  }
}

}  // namespace
}  // namespace voxshard
