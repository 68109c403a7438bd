// The largest part of each class is kept: held against a flood fill, on random maps and on parts that touch by a
// corner.
#include "io/volume/largest_component.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/expect_error.h"
#include "tests/keep_largest.h"

namespace voxshard {
namespace {

/// Fills each part of a class from its first voxel; the reference.
Tensor kept_by_flood_fill(const Tensor& labels, const std::vector<char>& of_class) {
  const Shape shape = labels.shape();
  const auto* v = labels.as<std::int32_t>();
  std::vector<int> part(static_cast<std::size_t>(labels.count()), -1);
  std::vector<std::int64_t> size;
  std::vector<int> label_of;
  for (std::int64_t start = 0; start < labels.count(); ++start) {
    if (part[start] >= 0) continue;
    const int id = static_cast<int>(size.size());
    std::vector<std::int64_t> open = {start};
    part[start] = id;
    size.push_back(0), label_of.push_back(v[start]);
    while (!open.empty()) {
      const std::int64_t at = open.back();
      open.pop_back();
      ++size.back();
      const std::int64_t z = at / (shape[1] * shape[2]), y = at / shape[2] % shape[1], x = at % shape[2];
      for (int n = 0; n < 27; ++n) {
        const std::int64_t k = z + n / 9 - 1, j = y + n / 3 % 3 - 1, i = x + n % 3 - 1;
        if (k < 0 || j < 0 || i < 0 || k >= shape[0] || j >= shape[1] || i >= shape[2]) continue;
        const std::int64_t to = (k * shape[1] + j) * shape[2] + i;
        if (part[to] >= 0 || v[to] != v[start]) continue;
        part[to] = id;
        open.push_back(to);
      }
    }
  }
  Tensor kept = labels;
  for (std::size_t c = 1; c < of_class.size(); ++c) {
    int best = -1;
    for (std::size_t p = 0; p < size.size(); ++p)
      if (label_of[p] == static_cast<int>(c) && (best < 0 || size[p] > size[best])) best = static_cast<int>(p);
    for (std::int64_t i = 0; i < labels.count(); ++i)
      if (of_class[c] && v[i] == static_cast<int>(c) && part[i] != best) kept.as<std::int32_t>()[i] = 0;
  }
  return kept;
}

Tensor random_labels(const Shape& shape, unsigned seed, double background) {
  std::mt19937 random(seed);
  Tensor labels(DType::kI32, shape);
  for (std::int64_t i = 0; i < labels.count(); ++i)
    labels.as<std::int32_t>()[i] =
        std::uniform_real_distribution<>()(random) < background ? 0 : static_cast<std::int32_t>(1 + random() % 3);
  return labels;
}

TEST(LargestComponent, IsThatOfAFloodFill) {
  unsigned seed = 0;
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{1, 1, 40}, Shape{1, 40, 1}, Shape{40, 1, 1}, Shape{9, 11, 13}, Shape{20, 5, 7}})
    for (const double background : {0.2, 0.7, 0.9, 0.97})
      for (const std::vector<char>& of_class : {std::vector<char>{0, 1, 1, 1}, {0, 0, 1}, {0}, {}}) {
        Tensor labels = random_labels(shape, ++seed, background);
        const Tensor before = labels, expected = kept_by_flood_fill(labels, of_class);
        const auto removed = keep_largest_components(labels, of_class);
        ASSERT_TRUE(compare(labels.view(), expected.view()).bit_equal) << "seed " << seed;
        std::int64_t lost = 0;
        for (std::int64_t i = 0; i < labels.count(); ++i)
          lost += before.as<std::int32_t>()[i] != labels.as<std::int32_t>()[i];
        EXPECT_EQ(std::accumulate(removed.begin(), removed.end(), std::int64_t{0}), lost);
      }
}

TEST(LargestComponent, PartsThatTouchByACornerAreOne) {
  Tensor labels(DType::kI32, {2, 2, 5});
  auto* v = labels.as<std::int32_t>();
  v[0] = 1;              // (0, 0, 0)
  v[10 + 5 + 1] = 1;     // (1, 1, 1): touches it by a corner
  v[10 + 4] = v[4] = 1;  // (1, 0, 4) and (0, 0, 4): as large, but later
  const auto removed = keep_largest_components(labels, {0, 1});
  EXPECT_EQ(removed, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(v[0], 1);
  EXPECT_EQ(v[16], 1);
  EXPECT_EQ(v[4], 0);
}

TEST(LargestComponent, PartsAboveAShareOfTheLargestStayToo) {
  Tensor labels(DType::kI32, {1, 1, 16});  // parts of 4, 2, 3 and 1 voxels
  const int values[] = {1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0};
  const auto kept = [&](double above) {
    std::copy_n(values, 16, labels.as<std::int32_t>());
    LargestComponents largest({0, 1}, 0, above);
    largest.see(labels.view());
    largest.seen();
    largest.rewrite(labels.view());
    return std::vector<int>(labels.as<std::int32_t>(), labels.as<std::int32_t>() + 16);
  };
  EXPECT_EQ(kept(1), (std::vector{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(kept(0.5), (std::vector{1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0})) << "half is not above half";
  EXPECT_EQ(kept(0.25), (std::vector{1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(kept(0), std::vector<int>(std::begin(values), std::end(values)));
}

/// Feeds a map slab by slab, seen and rewritten in slabs of different thickness.
TEST(LargestComponent, SlabsOfAnyThicknessGiveTheBitsOfTheWhole) {
  for (unsigned seed = 100; seed < 130; ++seed) {
    const Tensor before = random_labels({7, 6, 9}, seed, seed % 2 == 0 ? 0.5 : 0.85);
    Tensor whole = before, cut = before;
    const std::vector<char> of_class = {0, 1, 0, 1};
    const auto removed = keep_largest_components(whole, of_class);
    LargestComponents largest(of_class);
    const auto each_slab = [&](std::int64_t planes, const auto& body) {
      for (std::int64_t first = 0; first < 7; first += planes) {
        Box box = Box::whole(cut.shape());
        box.set(0, first, std::min<std::int64_t>(7, first + planes));
        body(cut.view().sub(box));
      }
    };
    each_slab(1 + seed % 3, [&](const TensorView& slab) { largest.see(slab); });
    largest.seen();
    each_slab(1 + seed % 5, [&](const TensorView& slab) { largest.rewrite(slab); });
    ASSERT_TRUE(compare(cut.view(), whole.view()).bit_equal) << "seed " << seed;
    EXPECT_EQ(largest.removed(), removed);
  }
}

TEST(LargestComponent, PartsOfALeastSizeAreCounted) {
  Tensor labels(DType::kI32, {3, 3, 9});
  auto* v = labels.as<std::int32_t>();
  v[0] = v[1] = v[9 + 2] = 1;         // three voxels, the last one by a corner
  v[4] = 1;                           // one voxel
  v[2 * 27 + 7] = v[2 * 27 + 8] = 1;  // two voxels in the last plane
  v[2 * 27 + 9 + 4] = 2;
  LargestComponents parts({0, 1, 1});
  parts.see(labels.view()), parts.seen();
  EXPECT_EQ(parts.parts(1, 1), 3);
  EXPECT_EQ(parts.parts(1, 2), 2);
  EXPECT_EQ(parts.parts(1, 3), 1);
  EXPECT_EQ(parts.parts(1, 4), 0);
  EXPECT_EQ(parts.parts(2, 1), 1);
}

TEST(LargestComponent, TooManyPartsAreRefusedAndNothingChanges) {
  Tensor labels = random_labels({8, 8, 64}, 7, 0.5);
  const Tensor before = labels;
  expect_error(ErrorKind::kInput, "choose {largest} none", [&] { keep_largest_components(labels, {0, 1, 1, 1}, 100); });
  EXPECT_TRUE(compare(labels.view(), before.view()).bit_equal);
}

}  // namespace
}  // namespace voxshard
