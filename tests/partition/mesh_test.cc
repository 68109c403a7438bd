// From a user's text to a mesh: what is accepted, each kind of refusal, the numbering of cores, the greedy-ceil cut.
#include "libcore/partition/mesh.h"

#include <gtest/gtest.h>

#include <set>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

std::string refusal(std::string_view text, int axes) {
  try {
    parse_partition(text, axes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kConfig) << text;
    return error.what();
  }
  return "accepted";
}

void expect_refused(std::string_view text, int axes, const std::string& piece) {
  const std::string why = refusal(text, axes);
  EXPECT_NE(why.find(piece), std::string::npos) << "\"" << text << "\": " << why;
  EXPECT_NE(why.find("\"" + std::string(text) + "\""), std::string::npos) << "the text is shown: " << why;
}

TEST(ParsePartition, AcceptsThreeWaysToWriteIt) {
  const Dims expected{1, 2, 2, 2, 1};
  EXPECT_EQ(parse_partition("1x2x2x2x1", 5), expected);
  EXPECT_EQ(parse_partition("1,2,2,2,1", 5), expected);
  EXPECT_EQ(parse_partition("[1, 2, 2, 2, 1]", 5), expected);
  EXPECT_EQ(parse_partition("1x16x8x1", 4), (Dims{1, 16, 8, 1}));
}

TEST(ParsePartition, RefusesWhatIsNotAListOfWholeNumbers) {
  for (const char* text : {"", "x", "abc", "1x2x", "x1x2", "1xx1", "1x2.5x1", "1xtwox1", "[1,2", "0x10x1x1x1y",
                           "1x99999999999999999999x1", "1 2 2 2 1", "1x2 2x1"})
    expect_refused(text, 5, "is not a list of whole numbers");
}

TEST(ParsePartition, RefusesEntriesBelowOne) {
  expect_refused("1x0x1x1x1", 5, "has the entry 0");
  expect_refused("1x-2x1x1x1", 5, "has the entry -2");
}

TEST(ParsePartition, RefusesAnotherRank) {
  expect_refused("1x2x1", 5, "has 3 entries, but the input tensor has 5 axes");
  expect_refused("1x2x1x1x1", 4, "has 5 entries, but the input tensor has 4 axes");
  expect_refused("1x1x1x1x1x1x1x1x1", 5, "has 9 entries");
  expect_refused("1x1x1x1x1x1x1x1x1", 9, "has more than 6 entries");
}

TEST(ParsePartition, RefusesACutChannelAxis) { expect_refused("1x1x1x1x2", 5, "cuts the channel axis"); }

TEST(ParsePartition, SaysHowToWriteIt) { expect_refused("two", 5, "for example 1x2x2x2x1"); }

TEST(Mesh, NumbersCoresReplicaByReplicaThenRowMajor) {
  const Mesh mesh{.replicas = 2, .partition = {1, 2, 2, 2, 1}};
  EXPECT_EQ(mesh.cores(), 16);
  EXPECT_EQ(mesh.cores_per_replica(), 8);
  EXPECT_EQ(mesh.part_of(0), (Dims{0, 0, 0, 0, 0}));
  EXPECT_EQ(mesh.part_of(5), (Dims{0, 1, 0, 1, 0}));
  EXPECT_EQ(mesh.part_of(8), (Dims{1, 0, 0, 0, 0}));
  EXPECT_EQ(mesh.part_of(15), (Dims{1, 1, 1, 1, 0}));
  EXPECT_EQ(mesh.parts(0), 2);
  EXPECT_EQ(mesh.parts(1), 2);
}

TEST(Mesh, EveryCoreHoldsAPartOfItsOwn) {
  for (const Mesh& mesh : {Mesh{.replicas = 3, .partition = {2, 3, 1, 2, 1}}, Mesh{.partition = {1, 5, 2, 1}}}) {
    std::set<Dims> parts;
    for (std::int64_t core = 0; core < mesh.cores(); ++core) {
      const Dims part = mesh.part_of(core);
      for (int a = 0; a < part.axes(); ++a) EXPECT_TRUE(part[a] >= 0 && part[a] < mesh.parts(a)) << core;
      parts.insert(part);
    }
    EXPECT_EQ(static_cast<std::int64_t>(parts.size()), mesh.cores());
  }
}

std::vector<std::int64_t> tiles(std::int64_t extent, std::int64_t parts) {
  std::vector<std::int64_t> sizes;
  for (const auto& [begin, end] : greedy_ceil(extent, parts)) sizes.push_back(end - begin);
  return sizes;
}

// The examples of partition_or_replicate_on_host in TensorFlow's tpu_feed.py and its tests.
TEST(GreedyCeil, GivesTheTilesOfTheOriginal) {
  using Tiles = std::vector<std::int64_t>;
  EXPECT_EQ(tiles(5, 2), (Tiles{3, 2}));         // (5, 14) by (2, 4)
  EXPECT_EQ(tiles(14, 4), (Tiles{4, 4, 4, 2}));  // and (14, 5) by (4, 2): the last tile is (2, 2)
  EXPECT_EQ(tiles(5, 4), (Tiles{2, 2, 1, 0}));
  EXPECT_EQ(tiles(8, 4), (Tiles{2, 2, 2, 2}));
  EXPECT_EQ(tiles(1, 3), (Tiles{1, 0, 0}));
  EXPECT_EQ(tiles(7, 1), (Tiles{7}));
}

TEST(GreedyCeil, TilesAnyExtentInOrderWithoutGaps) {
  constexpr std::uint64_t kSeed = 11;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::int64_t extent = rng_below({kSeed, 0}, i, 60), parts = 1 + rng_below({kSeed, 1}, i, 20);
    std::int64_t at = 0, widest = 0;
    const auto cut = greedy_ceil(extent, parts);
    ASSERT_EQ(static_cast<std::int64_t>(cut.size()), parts);
    for (const auto& [begin, end] : cut) {
      EXPECT_EQ(begin, at) << extent << " over " << parts << ", seed " << kSeed;
      EXPECT_LE(begin, end);
      widest = std::max(widest, end - begin);
      at = end;
    }
    EXPECT_EQ(at, extent) << extent << " over " << parts << ", seed " << kSeed;
    EXPECT_EQ(widest, ceil_div(extent, parts));
  }
}

}  // namespace
}  // namespace voxshard
