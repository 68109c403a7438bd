// Faults planted in one routine of the seam: the comparisons of the kernel tests must find each.
#include <gtest/gtest-spi.h>

#include "tests/kernels/amx/amx_scene.h"

namespace voxshard {
namespace {

using namespace test;
using amx::kEmulated, amx::kLineBytes, amx::kTileBytes, amx::kWeightsStep, amx::Routines;

/// Returns the number of comparisons of a case that fail over these routines.
int complaints(const Routines& routines, const Case& c, DType result = DType::kBF16) {
  ::testing::TestPartResultArray found;
  {
    const ::testing::ScopedFakeTestPartResultReporter intercept(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    compare_amx(routines, c, result, 0, false);
  }
  int failed = 0;
  for (int i = 0; i < found.size(); ++i) failed += found.GetTestPartResult(i).failed() ? 1 : 0;
  return failed;
}

Routines named(const char* name) {
  Routines r = kEmulated;
  r.name = name;
  return r;
}

const Case kVolume = case_of(window_of(3, 3, 1, 1, 1, 1), {3, 5, 9}, 20, 33, 1);  // runs on over the ends of rows
const Case kRows = case_of(window_of(3, 3, 1, 1, 1, 1), {2, 3, 32}, 20, 33, 1);   // rows of whole tiles
const Case kPlane = case_of(window_of(2, 3, 1, 1, 1, 1), {7, 173}, 40, 16, 1);    // rows cut in parts

void expect_found(const Routines& faulty) {
  for (const Case& c : {kVolume, kRows, kPlane}) {
    EXPECT_EQ(complaints(kEmulated, c), 0) << c.name;
    EXPECT_GT(complaints(faulty, c), 0) << faulty.name << " was not found: " << c.name;
    EXPECT_GT(complaints(faulty, c, DType::kF32), 0) << faulty.name << " was not found in f32: " << c.name;
  }
}

TEST(AmxFaults, AnEdgeOfARowThatIsNotPackedIsFound) {
  Routines faulty = named("the last voxel of a row is left out of lines");
  faulty.copy_lines = [](const amx::VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to,
                         std::int64_t chunk_bytes) {
    amx::VoxelRow less = row;
    less.past -= 1;
    kEmulated.copy_lines(less, from, count, to, chunk_bytes);
  };
  expect_found(faulty);
  faulty = named("the last voxel of a row is left out of pairs");
  faulty.copy_pairs = [](const amx::VoxelRow& row, const amx::PairLines& to) {
    amx::VoxelRow less = row;
    less.past -= 1;
    kEmulated.copy_pairs(less, to);
  };
  expect_found(faulty);
}

TEST(AmxFaults, PaddingThatRepeatsTheEdgeIsFound) {
  Routines faulty = named("what lies before a row is its first voxel");
  faulty.copy_lines = [](const amx::VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to,
                         std::int64_t chunk_bytes) {
    kEmulated.copy_lines(row, from, count, to, chunk_bytes);
    if (row.past > row.first && from < row.first) kEmulated.copy_lines(row, row.first, 1, to, chunk_bytes);
  };
  expect_found(faulty);
}

TEST(AmxFaults, ATapThatIsDroppedIsFound) {
  Routines faulty = named("the last tap of a plane is dropped");
  faulty.multiply_taps = [](const amx::TapProducts& p, std::int64_t first_tile, std::int64_t past_tile,
                            std::int64_t first, std::int64_t past) {
    for (std::int64_t unit = first; unit < past; ++unit) {
      amx::TapProducts less = p;
      less.tap_count -= 1;
      for (const std::byte*& weights : less.weights)  // the weights of a unit begin where they did
        if (weights != nullptr) weights += unit * kWeightsStep;
      kEmulated.multiply_taps(less, first_tile, past_tile, unit, unit + 1);
    }
  };
  expect_found(faulty);
}

TEST(AmxFaults, AGroupOfVoxelsLeftOutOfAWeightGradientIsFound) {
  Routines faulty = named("the last group of a round is left out");
  faulty.multiply_groups = [](const amx::GroupProducts& p, std::int64_t first, std::int64_t past, bool zero) {
    kEmulated.multiply_groups(p, first, past - 1, zero);
  };
  expect_found(faulty);
}

TEST(AmxFaults, ChannelsThatAreMissingAndNotZeroAreFound) {
  Routines faulty = named("what is missing to 32 channels stays what it was");
  faulty.copy_lines = [](const amx::VoxelRow& row, std::int64_t from, std::int64_t count, std::byte* to,
                         std::int64_t chunk_bytes) {
    const std::int64_t left = row.channels % amx::kDepth, chunk = row.channels / amx::kDepth;
    std::vector<std::byte> before(static_cast<std::size_t>(count * kLineBytes));
    if (left > 0) std::memcpy(before.data(), to + chunk * chunk_bytes, before.size());
    kEmulated.copy_lines(row, from, count, to, chunk_bytes);
    for (std::int64_t i = 0; i < count && left > 0; ++i)
      std::memcpy(to + chunk * chunk_bytes + i * kLineBytes + 2 * left, before.data() + i * kLineBytes + 2 * left,
                  static_cast<std::size_t>(kLineBytes - 2 * left));
  };
  expect_found(faulty);
}

TEST(AmxFaults, WeightsOfAChannelThatAreNotPackedAreFound) {
  Routines faulty = named("the last source channel is not packed");
  faulty.pack_weights = [](const amx::WeightSquare& w, std::byte* to) {
    amx::WeightSquare less = w;
    less.sources -= 1;
    kEmulated.pack_weights(less, to);
  };
  expect_found(faulty);
}

TEST(AmxFaults, AnEdgeTileThatIsNotWrittenIsFound) {
  Routines faulty = named("the last voxel of a part of a tile is not stored");
  faulty.store_bf16 = [](const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels,
                         std::uint16_t* to, std::int64_t stride) {
    kEmulated.store_bf16(sums, rows == 16 ? rows : rows - 1, bias, channels, to, stride);
  };
  faulty.store_f32 = [](const std::byte* sums, std::int64_t rows, const float* bias, std::int64_t channels, float* to,
                        std::int64_t stride) {
    kEmulated.store_f32(sums, rows == 16 ? rows : rows - 1, bias, channels, to, stride);
  };
  for (const Case& c : {kVolume, kPlane})
    for (DType type : {DType::kBF16, DType::kF32})
      EXPECT_GT(complaints(faulty, c, type), 0) << faulty.name << " was not found: " << c.name;
}

TEST(AmxFaults, ASecondBlockOfResultsThatIsTheFirstIsFound) {
  Routines faulty = named("both blocks of results have the weights of the first");
  faulty.multiply_taps = [](const amx::TapProducts& p, std::int64_t first_tile, std::int64_t past_tile,
                            std::int64_t first, std::int64_t past) {
    amx::TapProducts same = p;
    if (same.weights[1] != nullptr) same.weights[1] = same.weights[0];
    kEmulated.multiply_taps(same, first_tile, past_tile, first, past);
  };
  for (const Case& c : {kVolume, kRows}) EXPECT_GT(complaints(faulty, c), 0) << faulty.name << ": " << c.name;
}

/// Counts of begin() and end() around the products, and of products outside.
struct Scopes {
  int open = 0, begun = 0, outside = 0;
};
Scopes scopes;

TEST(AmxSeam, ProductsHaveTheirTilesAndNoneAreLeftBehind) {
  scopes = {};
  Routines counted = named("counted");
  counted.begin = [] { ++scopes.open, ++scopes.begun; };
  counted.end = [] { --scopes.open; };
  counted.multiply_taps = [](const amx::TapProducts& p, std::int64_t first_tile, std::int64_t past_tile,
                             std::int64_t first, std::int64_t past) {
    scopes.outside += scopes.open == 1 ? 0 : 1;
    kEmulated.multiply_taps(p, first_tile, past_tile, first, past);
  };
  counted.multiply_groups = [](const amx::GroupProducts& p, std::int64_t first, std::int64_t past, bool zero) {
    scopes.outside += scopes.open == 1 ? 0 : 1;
    kEmulated.multiply_groups(p, first, past, zero);
  };
  compare_amx(counted, kVolume, DType::kBF16, 0, true);
  EXPECT_EQ(scopes.begun, 3);
  EXPECT_EQ(scopes.open, 0);
  EXPECT_EQ(scopes.outside, 0);
}

}  // namespace
}  // namespace voxshard
