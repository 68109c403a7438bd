// What is not zero in an image, and in any channel of a case; boxes and filled masks.
#include "pipelines/tasks/segmentation/nnunet/nonzero_crop.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace voxshard {
namespace {

TEST(NonzeroCrop, HolesAreFilledAndBaysAreNot) {
  Tensor ring(DType::kF32, {3, 5, 5});
  std::fill_n(ring.as<float>(), ring.count(), 1.0F);
  const auto at = [](int d, int h, int w) { return (d * 5 + h) * 5 + w; };
  ring.as<float>()[at(1, 2, 2)] = 0;                                     // a hole
  ring.as<float>()[at(1, 4, 1)] = 0, ring.as<float>()[at(1, 3, 1)] = 0;  // a bay from the border
  const std::vector<char> mask = nonzero_mask(ring);
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 0), 2);
  EXPECT_EQ(mask[at(1, 2, 2)], 1);
  EXPECT_EQ(mask[at(1, 3, 1)], 0);
}

TEST(NonzeroCrop, OfSeveralChannelsIsThatOfTheirUnion) {
  Tensor a(DType::kF32, {1, 5, 6}), b(DType::kF32, {1, 5, 6});
  std::fill_n(a.as<float>(), 30, 0.0F), std::fill_n(b.as<float>(), 30, 0.0F);
  for (int i = 0; i < 30; ++i)  // halves of a ring around a hole: rows 1 to 3, columns 1 to 3
    if (i / 6 >= 1 && i / 6 <= 3 && i % 6 >= 1 && i % 6 <= 3 && i != 14) (i % 6 < 2 ? a : b).as<float>()[i] = 1;
  NonzeroVoxels both;
  both.add(a), both.add(b);
  EXPECT_EQ(both.box(), (Box{{0, 1, 1}, {1, 3, 3}}));
  EXPECT_EQ(both.mask(), std::vector<char>({1, 1, 1, 1, 0, 1, 1, 1, 1})) << "one slice: the hole reaches its border";
  NonzeroVoxels alone;
  alone.add(a);
  EXPECT_EQ(alone.box(), nonzero_box(a));
  EXPECT_EQ(alone.mask(), std::vector<char>({1, 1, 1}));
}

}  // namespace
}  // namespace voxshard
