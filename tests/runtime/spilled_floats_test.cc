// Numbers in a file are those in memory, and as few of them as are promised are in memory.
#include "libcore/runtime/spilled_floats.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/mapped_file.h"

namespace voxshard {
namespace {

using namespace test;

constexpr std::int64_t kRows = 1200, kInARow = 12000;  // 58 MB

/// Adds `sign` times its place to each number, by rows, forwards or by columns of `step` numbers.
void add_places(const SpilledFloats& floats, float sign, bool backwards) {
  const auto rows_of = [&](std::int64_t thread) {
    SpilledFloats::Visit visit(floats);
    for (std::int64_t i = thread; i < kRows; i += 2) {
      const std::int64_t row = backwards ? kRows - 1 - i : i;
      float* const numbers = visit.at(row * kInARow, kInARow);
      for (std::int64_t k = 0; k < kInARow; ++k) numbers[k] += sign * static_cast<float>(row + k);
    }
  };
  std::thread other(rows_of, 1);
  rows_of(0);
  other.join();
}

TEST(SpilledFloats, AreTheSameInAFileAndInMemoryWhoeverVisitsThem) {
  const Shape shape{kRows, kInARow};
  const MappedFile file(SpilledFloats::bytes_of(shape));
  SpilledFloats spilled, dense;
  EXPECT_TRUE(spilled.empty());
  spilled.make(shape, file.descriptor()), dense.make(shape);
  EXPECT_EQ(spilled.shape(), shape);
  EXPECT_EQ(dense.resident_bytes(2), SpilledFloats::bytes_of(shape));
  EXPECT_EQ(spilled.resident_bytes(2), SpilledFloats::window_bytes(2));
  ASSERT_LT(2 * spilled.resident_bytes(2), dense.resident_bytes(2)) << "else there is nothing to see";
  for (SpilledFloats* floats : {&spilled, &dense}) {
    add_places(*floats, 1, false), add_places(*floats, -1, false);
    add_places(*floats, 3, true);
  }
  SpilledFloats::Visit visit(spilled), other(dense);
  for (std::int64_t column = 0; column < kInARow; column += 997)  // each a page of its own
    for (std::int64_t row = 0; row < kRows; ++row)
      ASSERT_EQ(*visit.at(row * kInARow + column, 1), *other.at(row * kInARow + column, 1)) << row << " " << column;
  EXPECT_EQ(*visit.at(5 * kInARow + 7, 1), 36);
}

TEST(SpilledFloats, OfAFileNoMoreThanTheWindowIsInMemory) {
  const Shape shape{kRows, kInARow};
  const MappedFile file(SpilledFloats::bytes_of(shape));
  SpilledFloats floats;
  floats.make(shape, file.descriptor());
  SpilledFloats::Visit visit(floats);
  const std::byte* const begin = reinterpret_cast<const std::byte*>(visit.at(0, 1));
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::fill_n(visit.at(row * kInARow, kInARow), kInARow, 1.0F);
    if (row % 20 == 0) most = std::max(most, resident_of(begin));
  }
  EXPECT_LE(most, floats.resident_bytes(1));
  EXPECT_GT(most, floats.resident_bytes(1) / 4);
  most = 0;
  double sum = 0;
  for (std::int64_t column = 0; column < kInARow; column += 4001)
    for (std::int64_t row = 0; row < kRows; ++row) {
      sum += *visit.at(row * kInARow + column, 1);
      if (row % 20 == 0) most = std::max(most, resident_of(begin));
    }
  EXPECT_EQ(sum, 3 * kRows);
  EXPECT_LE(most, floats.resident_bytes(1)) << "also where each number lies in another page";
}

}  // namespace
}  // namespace voxshard
