// Views share memory and keep global coordinates; copies convert between types; compare finds the largest difference.
#include "libcore/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace voxshard {
namespace {

/// Elements 0, 1, 2, ... in row-major order.
Tensor counted(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.count(); ++i) store(tensor.view(), i, static_cast<double>(i));
  return tensor;
}

TEST(Tensor, IsZeroFilledAndAligned) {
  const Tensor tensor(DType::kF32, {3, 5});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0U);
  for (std::int64_t i = 0; i < tensor.count(); ++i) EXPECT_EQ(load(tensor.view(), i), 0);
  EXPECT_EQ(tensor.bytes(), 60);
  EXPECT_FALSE(tensor.empty());
  EXPECT_TRUE(Tensor().empty());
}

TEST(Tensor, CopiesAreDeepAndMovesAreNot) {
  Tensor a = counted(DType::kI32, {4});
  Tensor b = a;
  b.as<std::int32_t>()[0] = 9;
  EXPECT_EQ(a.as<std::int32_t>()[0], 0);
  const std::byte* place = b.data();
  const Tensor c = std::move(b);
  EXPECT_EQ(c.data(), place);
  a = c;
  EXPECT_EQ(a.as<std::int32_t>()[0], 9);
  a = Tensor();
  EXPECT_TRUE(a.empty());
}

TEST(Tensor, AReleaseTakesNothingOutsideOfItsBytes) {
  const std::int64_t n = 3 << 20;  // elements: 12 MiB
  Tensor tensor = Tensor::unwritten(DType::kI32, {n});
  for (std::int64_t i = 0; i < n; ++i) tensor.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  const std::int64_t begin = (1 << 20) + 12, end = (9 << 20) - 4;  // bytes; neither is the edge of a page
  tensor.release(begin, end);
  tensor.release(100, 104), tensor.release(end, end);  // less than a page, and nothing
  for (std::int64_t i = 0; i < n; ++i)
    if (i < begin / 4 || i >= end / 4) {
      ASSERT_EQ(tensor.as<std::int32_t>()[i], i);
    }
  std::int64_t kept = 0;
  for (std::int64_t i = begin / 4; i < end / 4; ++i) kept += tensor.as<std::int32_t>()[i] == i;
  EXPECT_LE(kept, 2 * (64 << 10) / 4) << "pages at both ends, of at most 64 KiB";
}

TEST(View, SubSharesMemoryAndKeepsGlobalCoordinates) {
  const Tensor tensor = counted(DType::kF32, {1, 4, 5, 2});
  const Box box{{0, 1, 2, 0}, {1, 2, 3, 2}};
  const TensorView sub = tensor.view().sub(box);
  EXPECT_TRUE(sub.box == box);
  EXPECT_EQ(load(sub, 0), (1 * 5 + 2) * 2);
  EXPECT_FALSE(sub.is_dense());
  const TensorView deeper = sub.sub({{0, 2, 3, 0}, {1, 1, 1, 2}});
  EXPECT_EQ(load(deeper, 1), (2 * 5 + 3) * 2 + 1);
  store(deeper, 1, -7);
  EXPECT_EQ(load(tensor.view(), 27), -7);
}

TEST(View, SubWorksWithMarginsBelowZero) {
  Tensor tensor(DType::kF32, {1, 6, 1});
  const TensorView held = dense_view(tensor.data(), DType::kF32, {{0, -2, 0}, {1, 6, 1}});
  store(held.sub({{0, 0, 0}, {1, 1, 1}}), 0, 5);
  EXPECT_EQ(load(tensor.view(), 2), 5);
}

TEST(View, SubOutsideIsInternalAndEmptyIsFine) {
  const Tensor tensor(DType::kF32, {4, 4});
  EXPECT_THROW(tensor.view().sub({{2, 0}, {3, 4}}), Error);
  EXPECT_TRUE(tensor.view().sub({{9, 9}, {0, 2}}).box.empty());
}

TEST(View, AViewWithoutMemoryHasGeometryAlone) {
  const TensorView planned = dense_view(nullptr, DType::kF32, Box::whole({4, 4}));
  EXPECT_EQ(planned.sub({{1, 1}, {2, 2}}).data, nullptr);
  EXPECT_EQ(planned.sub({{1, 1}, {2, 2}}).strides, (Dims{4, 1}));
}

TEST(View, DenseIsJudgedByTheAxesThatMove) {
  const Tensor tensor(DType::kF32, {2, 4, 5, 3});
  EXPECT_TRUE(tensor.view().is_dense());
  EXPECT_TRUE(tensor.view().sub({{1, 1, 0, 0}, {1, 2, 5, 3}}).is_dense()) << "a slab of one sample";
  EXPECT_FALSE(tensor.view().sub({{0, 1, 0, 0}, {2, 2, 5, 3}}).is_dense()) << "slabs of two samples have a gap";
  EXPECT_FALSE(tensor.view().sub({{0, 0, 0, 0}, {1, 4, 5, 2}}).is_dense());
}

TEST(View, LiftedPutsAxesOfOneBehindN) {
  const Tensor tensor = counted(DType::kF32, {2, 3, 4, 5});
  const TensorView part = tensor.view().sub({{1, 1, 2, 0}, {1, 2, 2, 5}}), lifted = part.lifted();
  EXPECT_TRUE(lifted.box == (Box{{1, 0, 1, 2, 0}, {1, 1, 2, 2, 5}}));
  EXPECT_EQ(lifted.strides[2], part.strides[1]);
  EXPECT_EQ(lifted.data, part.data);
  const Tensor volume(DType::kF32, {1, 2, 3, 4, 5});
  EXPECT_EQ(volume.view().lifted().axes(), 5);
  EXPECT_EQ(Tensor(DType::kF32, {7}).view().lifted().axes(), 1);
}

TEST(Copy, MovesABoxBetweenUnlikeLayouts) {
  const Tensor from = counted(DType::kF32, {1, 4, 5, 2});
  const Box box{{0, 1, 1, 0}, {1, 3, 2, 2}};
  Tensor to(DType::kF32, {1, 6, 6, 2});
  const TensorView held = dense_view(to.data(), DType::kF32, {{0, 0, -1, 0}, {1, 6, 6, 2}}).sub(box);
  copy(from.view(), held);
  EXPECT_TRUE(compare(from.view().sub(box), held).bit_equal);
  double sum = 0, expected = 0;
  for (std::int64_t i = 0; i < to.count(); ++i) sum += load(to.view(), i);
  for (std::int64_t z = 1; z < 4; ++z)
    for (std::int64_t y = 1; y < 3; ++y)
      for (std::int64_t c = 0; c < 2; ++c) expected += static_cast<double>((z * 5 + y) * 2 + c);
  EXPECT_EQ(sum, expected) << "nothing else was written";
}

TEST(Copy, ConvertsBetweenAllTypes) {
  constexpr DType kAll[] = {DType::kF32, DType::kBF16, DType::kF64, DType::kI32, DType::kU8};
  for (DType a : kAll)
    for (DType b : kAll) {
      const Tensor from = counted(a, {3, 40});
      Tensor to(b, {3, 40});
      copy(from.view(), to.view());
      for (std::int64_t i = 0; i < 120; ++i)
        EXPECT_EQ(load(to.view(), i), static_cast<double>(i)) << dtype_name(a) << " to " << dtype_name(b);
    }
}

TEST(Copy, RoundsToBf16) {
  Tensor from(DType::kF32, {1}), to(DType::kBF16, {1});
  from.as<float>()[0] = 1.01F;
  copy(from.view(), to.view());
  EXPECT_EQ(load(to.view(), 0), 1.0078125);
}

TEST(Copy, ReadsOnlyInsideItsSource) {
  const Tensor from(DType::kF32, {4});
  Tensor to(DType::kF32, {5});
  EXPECT_THROW(copy(from.view(), to.view()), Error);
}

TEST(Copy, HandlesScalarsAndEmptyBoxes) {
  Tensor from(DType::kF64, {}), to(DType::kF32, {});
  store(from.view(), 0, 2.5);
  copy(from.view(), to.view());
  EXPECT_EQ(load(to.view(), 0), 2.5);
  EXPECT_NO_THROW(copy(from.view(), dense_view(nullptr, DType::kF32, Box::none(3))));
}

TEST(FillZero, ClearsItsBoxAlone) {
  Tensor tensor = counted(DType::kBF16, {3, 4});
  fill_zero(tensor.view().sub({{1, 1}, {1, 2}}));
  EXPECT_EQ(load(tensor.view(), 4), 4);
  EXPECT_EQ(load(tensor.view(), 5), 0);
  EXPECT_EQ(load(tensor.view(), 6), 0);
  EXPECT_EQ(load(tensor.view(), 7), 7);
}

TEST(Compare, FindsTheLargestDifferenceAndItsPlace) {
  const Tensor a = counted(DType::kF32, {2, 3});
  Tensor b = a;
  EXPECT_TRUE(compare(a.view(), b.view()).bit_equal);
  b.as<float>()[1] += 0.5F;
  b.as<float>()[5] -= 2;
  const Difference d = compare(a.view(), b.view());
  EXPECT_FALSE(d.bit_equal);
  EXPECT_EQ(d.max_abs, 2);
  EXPECT_EQ(d.at, (Dims{1, 2}));
  EXPECT_EQ(d.max_magnitude, 5);
  EXPECT_EQ(d.sum_square, 4.25);
  EXPECT_EQ(d.sum_square_a, 0 + 1 + 4 + 9 + 16 + 25);
}

TEST(Compare, TellsGlobalCoordinates) {
  Tensor a(DType::kF32, {2, 2}), b(DType::kF32, {2, 2});
  b.as<float>()[3] = 1;
  const Box box{{10, 20}, {2, 2}};
  EXPECT_EQ(compare(dense_view(a.data(), DType::kF32, box), dense_view(b.data(), DType::kF32, box)).at, (Dims{11, 21}));
}

TEST(Compare, ANaNOnOneSideIsInfinitelyFarAndOnBothIsEqual) {
  Tensor a(DType::kF32, {1}), b(DType::kF32, {1});
  a.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isinf(compare(a.view(), b.view()).max_abs));
  EXPECT_TRUE(std::isinf(compare(b.view(), a.view()).max_abs));
  b = a;
  EXPECT_TRUE(compare(a.view(), b.view()).bit_equal);
}

TEST(Compare, RefusesUnlikeBoxesAndTypes) {
  EXPECT_THROW(compare(Tensor(DType::kF32, {2}).view(), Tensor(DType::kF32, {3}).view()), Error);
  EXPECT_THROW(compare(Tensor(DType::kF32, {2}).view(), Tensor(DType::kF64, {2}).view()), Error);
}

}  // namespace
}  // namespace voxshard
