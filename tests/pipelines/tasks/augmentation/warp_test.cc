// Linear interpolation at mapped places: against a slow version in double, exact on ramps, and labels by the largest
// weight of a one-hot interpolation.
#include "pipelines/tasks/augmentation/warp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/scratch_folder.h"
#include "tests/tensor/random_map.h"

namespace voxshard {
namespace {

constexpr std::uint64_t kSeed = 17;

double random_between(std::uint64_t index, double low, double high) {
  return test::random_between({kSeed, rng_stream("warp_test")}, index, low, high);
}

SpatialMap random_map(std::uint64_t trial) { return test::random_map({kSeed, rng_stream("warp_test")}, trial, -3, 9); }

/// A volume of 7 x 6 x 8 voxels in a file of the cache.
struct MappedScene {
  explicit MappedScene(DiskType type, const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& value) {
    Volume volume{.geometry = {.size = {8, 6, 7}},
                  .voxels = Tensor(type == DiskType::kF32 ? DType::kF32 : DType::kI32, {7, 6, 8})};
    TensorView view = volume.voxels.view();
    for (std::int64_t i = 0; i < volume.voxels.count(); ++i) store(view, i, value(i / 48, i / 8 % 6, i % 8));
    write_volume(folder.path() / "volume.nii", volume, type);
    mapped.emplace(MappedVolume::open(folder.path() / "volume.nii"));
  }
  double at(const std::array<std::int64_t, 3>& index, double outside) const {
    const Box voxel{{index[0], index[1], index[2]}, {1, 1, 1}};
    if (!Box::whole(mapped->shape()).contains(voxel)) return outside;
    Tensor one(DType::kF32, {1, 1, 1});
    mapped->read_box(voxel, one.view());
    return one.as<float>()[0];
  }
  /// Calls body(index, weight) for the eight voxels around a place.
  template <class Body>
  static void around(const Vector3& place, const Body& body) {
    for (int corner = 0; corner < 8; ++corner) {
      std::array<std::int64_t, 3> index{};
      double weight = 1;
      for (std::size_t a = 0; a < 3; ++a) {
        const double low = std::floor(place[a]), fraction = place[a] - low;
        const int bit = (corner >> a) & 1;
        index[a] = static_cast<std::int64_t>(low) + bit;
        weight *= bit == 1 ? fraction : 1 - fraction;
      }
      body(index, weight);
    }
  }
  ScratchFolder folder{"warp"};
  std::optional<MappedVolume> mapped;
};

const Box kPoints{{-2, 1, 3}, {5, 4, 6}};

TEST(Warp, ImagesAreInterpolatedAsTheSlowVersionDoes) {
  const MappedScene scene(DiskType::kF32, [](std::int64_t d, std::int64_t h, std::int64_t w) {
    return random_between(1000 + static_cast<std::uint64_t>((d * 6 + h) * 8 + w), -1, 1);
  });
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const SpatialMap map = random_map(trial);
    const Tensor values = warp_image(*scene.mapped, map, kPoints, 0.25F);
    test::each_index(kPoints, [&](std::int64_t i, const auto& index) {
      double expected = 0;
      MappedScene::around(map.at(index),
                          [&](const auto& voxel, double weight) { expected += weight * scene.at(voxel, 0.25); });
      // Seven interpolations of values up to 1: each rounds a difference of up to 2, a product and a sum, and its
      // fraction once.
      ASSERT_NEAR(values.as<float>()[i], expected, 3 * 8 * 0x1.0p-24) << trial << " " << i;
    });
  }
}

TEST(Warp, ARampIsKept) {
  const MappedScene scene(DiskType::kF32, [](std::int64_t d, std::int64_t h, std::int64_t w) {
    return static_cast<double>(2 * d - 3 * h + w);
  });
  SpatialMap map;  // half a voxel on, every second row backwards: all sums are exact
  map.matrix = {{{0.5, 0, 0}, {0, -0.25, 0}, {0, 0, 0.5}}};
  map.shift = {2, 3.5, 1.25};
  const Tensor values = warp_image(*scene.mapped, map, kPoints, 99);
  test::each_index(kPoints, [&](std::int64_t i, const auto& index) {
    const Vector3 place = map.at(index);
    EXPECT_EQ(values.as<float>()[i], static_cast<float>(2 * place[0] - 3 * place[1] + place[2]));
  });
}

TEST(Warp, ALabelIsTheOneWithTheLargestWeight) {
  const MappedScene scene(DiskType::kU8, [](std::int64_t d, std::int64_t h, std::int64_t w) {
    return std::floor(random_between(5000 + static_cast<std::uint64_t>((d * 6 + h) * 8 + w), 0, 3));
  });
  int compared = 0;
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const SpatialMap map = random_map(trial);
    const Tensor labels = warp_labels(*scene.mapped, map, kPoints, -1);
    test::each_index(kPoints, [&](std::int64_t i, const auto& index) {
      std::map<std::int32_t, double> weights;
      MappedScene::around(map.at(index), [&](const auto& voxel, double weight) {
        weights[static_cast<std::int32_t>(scene.at(voxel, -1))] += weight;
      });
      double most = 0, next = 0;
      std::int32_t heaviest = 0;
      for (const auto& [label, weight] : weights)
        if (weight > most)
          next = most, most = weight, heaviest = label;
        else
          next = std::max(next, weight);
      if (most - next < 16 * 0x1.0p-24) return;  // rounding decides
      ++compared;
      ASSERT_EQ(labels.as<std::int32_t>()[i], heaviest) << trial << " " << i;
    });
  }
  EXPECT_GT(compared, 2000);
}

TEST(Warp, OfEqualWeightsTheSmallestLabelIsTaken) {
  const MappedScene scene(DiskType::kU8,
                          [](std::int64_t, std::int64_t, std::int64_t w) { return static_cast<double>(8 - w); });
  SpatialMap map;
  map.shift = {0, 0, 0.5};
  const Tensor labels = warp_labels(*scene.mapped, map, {{1, 1, 2}, {1, 1, 1}}, -1);
  EXPECT_EQ(labels.as<std::int32_t>()[0], 5) << "between 6 and 5";
}

}  // namespace
}  // namespace voxshard
