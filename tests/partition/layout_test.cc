// Layouts: owned boxes tile every value of a graph for any shape and mesh; ownership stays where the data is; replicas
// and contractions; the cut of a box into blocks.
#include "libcore/partition/layout.h"

#include "tests/expect_error.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// conv 3, conv stride 2, pool, up-sampling, concat, a norm's sums, a weight gradient: every boundary rule once.
Graph mixed_graph(const Shape& image) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("image", {DType::kF32, image});
  Shape weights = Dims::filled(image.axes() - 2, 3);
  weights.push_back(image.back());
  weights.push_back(image.back());
  const ValueId w = b.parameter("kernel", {DType::kF32, weights});
  const ValueId strided = b.op("conv", {x, w}, ConvAttrs{.window = same_window(image, 3, 2)}, "strided");
  const ValueId pooled =
      b.op("max_pool", {strided}, PoolAttrs{.window = same_window(b.type(strided).shape, 2, 2)}, "pooled");
  const ValueId up =
      b.op("upsample_nearest", {pooled},
           ResizeAttrs{.factor = Dims::filled(image.axes() - 2, 2), .shape = b.type(strided).shape}, "up");
  const ValueId both = b.op("concat", {up, strided}, ConcatAttrs{.axis = image.axes() - 1}, "both");
  b.op("conv_input_grad", {strided, w}, ConvInputGradAttrs{.window = same_window(image, 3, 2), .shape = image},
       "transposed");
  b.op("moment_sums", {both}, NormAttrs{.groups = image[0], .batch = image[0]}, "sums");
  b.op("conv_weight_grad", {x, strided}, ConvWeightGradAttrs{.window = same_window(image, 3, 2)}, "d_w");
  return graph;
}

TEST(Layout, TilesEveryValueWithoutOverlapForManyShapesAndMeshes) {
  constexpr std::uint64_t kSeed = 5;
  for (std::uint64_t i = 0; i < 150; ++i) {
    std::uint64_t draw = 16 * i;
    auto below = [&](std::int64_t n) { return rng_below({kSeed, 1}, draw++, n); };
    const int spatial = 2 + static_cast<int>(below(2));
    Shape image{1 + below(4)};
    Dims parts{1 + below(3)};
    for (int a = 0; a < spatial; ++a) {
      image.push_back(1 + below(14));
      parts.push_back(1 + below(4));
    }
    image.push_back(2);
    parts.push_back(1);
    const std::int64_t replicas = 1 + below(2);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(i) + ": " + to_string(image) + " over " +
                 std::to_string(replicas) + " replicas of " + to_string(parts));
    const Program program = partition(mixed_graph(image), op_table(),
                                      {.mesh = {.replicas = replicas, .partition = parts}, .thinnest_slab = below(4)});
    EXPECT_EQ(joined(verify(program, op_table())), "");
    for (ValueId id = 0; id < program.graph.size(); ++id) {
      if (program.replicated(id)) continue;
      const Shape& shape = program.graph.node(id).type.shape;
      std::vector<int> owners(static_cast<std::size_t>(element_count(shape)));
      std::vector<Box> counted;
      for (const Box& own : program.plan(id).own) {
        if (std::find(counted.begin(), counted.end(), own) != counted.end()) continue;  // a replica
        counted.push_back(own);
        ASSERT_TRUE(Box::whole(shape).contains(own));
        for (std::size_t at = 0; at < owners.size(); ++at) {  // at -> coordinates, row-major
          auto rest = static_cast<std::int64_t>(at);
          Box point = Box::whole(shape);
          for (int a = shape.axes() - 1; a >= 0; --a) {
            point.set(a, rest % shape[a], rest % shape[a] + 1);
            rest /= shape[a];
          }
          if (own.contains(point)) ++owners[at];
        }
      }
      for (int count : owners) ASSERT_EQ(count, 1) << program.graph.node(id).name;
    }
  }
}

TEST(Layout, OwnershipStaysWhereTheDataIsAfterAStride) {
  // 14 over 4 is 4, 4, 4, 2; a stride of 2 moves the boundaries 4, 8, 12 to 2, 4, 6, not to the greedy 2, 2, 2, 1 of 7.
  const Program program = cut(R"(
    image = input : f32[1x14x5x1]
    kernel = parameter : f32[3x3x1x2]
    conv = conv %image, %kernel kernel=3x3 stride=2x2 pad=0x1/1x1
  )",
                              {1, 4, 1, 1});
  const ValuePlan& y = program.plan(program.graph.find("conv"));
  EXPECT_EQ(y.own[0], (Box{{0, 0, 0, 0}, {1, 2, 3, 2}}));
  EXPECT_EQ(y.own[2], (Box{{0, 4, 0, 0}, {1, 2, 3, 2}}));
  EXPECT_EQ(y.own[3], (Box{{0, 6, 0, 0}, {1, 1, 3, 2}}));
}

TEST(Layout, BothSidesOfASkipConnectionAgree) {
  const Program program = cut(R"(
    image = input : f32[1x13x11x2]
    kernel = parameter : f32[3x3x2x2]
    strided = conv %image, %kernel kernel=3x3 stride=2x2 pad=1x1/1x1
    pooled = max_pool %strided kernel=2x2 stride=2x2 pad=0x0/1x0
    up = upsample_nearest %pooled factor=2x2 shape=1x7x6x2 follows %strided
    both = concat %up, %strided axis=3
  )",
                              {1, 3, 2, 1});
  const auto& up = program.plan(program.graph.find("up")).own;
  EXPECT_EQ(up, program.plan(program.graph.find("strided")).own);
}

TEST(Layout, ThinSlabsAreMergedOntoTheFirstOfTheirNeighbours) {
  constexpr std::string_view kScene = R"(
    image = input : f32[1x32x8x2]
    kernel = parameter : f32[3x3x2x2]
    strided = conv %image, %kernel kernel=3x3 stride=2x2 pad=0x0/1x1 : f32[1x16x4x2]
    pooled = max_pool %strided kernel=2x2 stride=2x2 : f32[1x8x2x2]
    up = upsample_nearest %pooled factor=2x2 shape=1x16x4x2 follows %strided
    transposed = conv_input_grad %strided, %kernel kernel=3x3 stride=2x2 pad=0x0/1x1 shape=1x32x8x2 follows %image
  )";
  const Program fine = cut(kScene, {1, 8, 1, 1});
  const Program coarse = cut(kScene, {.mesh = {.partition = {1, 8, 1, 1}}, .thinnest_slab = 2});
  EXPECT_EQ(joined(verify(coarse, op_table())), "");
  const auto planes = [](const Program& program, const char* name) {
    std::vector<std::int64_t> extents;
    for (const Box& own : program.plan(program.graph.find(name)).own)
      extents.push_back(own.empty() ? 0 : own.extent[1]);
    return extents;
  };
  using Planes = std::vector<std::int64_t>;
  EXPECT_EQ(planes(coarse, "strided"), (Planes{2, 2, 2, 2, 2, 2, 2, 2})) << "not thin";
  EXPECT_EQ(planes(fine, "pooled"), (Planes{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(planes(coarse, "pooled"), (Planes{2, 0, 2, 0, 2, 0, 2, 0}));
  EXPECT_EQ(planes(coarse, "up"), planes(coarse, "strided")) << "back on the finer grid of its skip";
  EXPECT_EQ(planes(coarse, "transposed"), planes(coarse, "image"));
}

TEST(Layout, AMergeEndsWhenOnePartIsLeft) {
  const Program coarse = cut(R"(
    image = input : f32[1x9x8x2]
    kernel = parameter : f32[3x3x2x2]
    strided = conv %image, %kernel kernel=3x3 stride=2x2 pad=1x0/1x1
    pooled = max_pool %strided kernel=2x2 stride=2x2 pad=0x0/1x0 : f32[1x3x2x2]
  )",
                             {.mesh = {.partition = {1, 3, 2, 1}}, .thinnest_slab = 100});
  EXPECT_EQ(joined(verify(coarse, op_table())), "");
  EXPECT_EQ(coarse.plan(coarse.graph.find("pooled")).own[0], (Box{{0, 0, 0, 0}, {1, 3, 2, 2}}));
  for (std::size_t core = 1; core < 6; ++core) EXPECT_TRUE(coarse.plan(coarse.graph.find("pooled")).own[core].empty());
}

TEST(Layout, ReplicasCutTheBatchBeforeThePartitionDoes) {
  const Program program = cut("image = input : f32[7x4x4x1]", {2, 1, 1, 1}, 2);
  std::vector<std::pair<std::int64_t, std::int64_t>> samples;  // 7 over 2 replicas: 4 and 3; each over 2: 2 2 and 2 1
  for (const Box& own : program.plan(0).own) samples.emplace_back(own.begin[0], own.end(0));
  EXPECT_EQ(samples, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 2}, {2, 4}, {4, 6}, {6, 7}}));
}

TEST(Layout, AConcatAlongACutAxisIsCutAnew) {
  const Program program = cut(R"(
    a = input : f32[1x8x5x2]
    c = input : f32[1x5x5x2]
    y = concat %a, %c axis=1
    part = slice %y axis=1 first=4 shape=1x6x5x2
  )",
                              {1, 3, 2, 1});
  EXPECT_EQ(joined(verify(program, op_table())), "");
}

TEST(Layout, AConcatAlongACutBatchIsCutAnew) {
  const Program program = cut(R"(
    a = input : f32[2x8x5x2]
    c = input : f32[3x8x5x2]
    y = concat %a, %c axis=0
    part = slice %y axis=0 first=1 shape=3x8x5x2
  )",
                              {2, 2, 1, 1}, 2);
  EXPECT_EQ(joined(verify(program, op_table())), "");
}

TEST(Layout, AGradientOfAPoolIsCutEvenWhenNothingOfItsSizeWasSeenBefore) {
  const Program program = cut(R"(
    d_y = input : f32[1x4x5x2]
    d_x = avg_pool_grad %d_y kernel=2x2 stride=2x2 pad=0x0/0x1 shape=1x8x9x2
  )",
                              {1, 2, 2, 1});
  EXPECT_EQ(joined(verify(program, op_table())), "");
}

/// A weight gradient, and sums of one group per sample.
constexpr std::string_view kContractions = R"(
  image = input : f32[3x8x8x2]
  kernel = parameter : f32[3x3x2x2]
  strided = conv %image, %kernel kernel=3x3 stride=2x2 pad=0x0/1x1
  sums = moment_sums %strided groups=3 batch=3 : f64[3x2x2]
  d_w = conv_weight_grad %image, %strided kernel=3x3 stride=2x2 pad=0x0/1x1
)";

TEST(Layout, AContractionOverACutTensorIsReplicated) {
  const Program program = cut(kContractions, {1, 2, 2, 1});
  EXPECT_TRUE(program.replicated(program.graph.find("d_w")));
  EXPECT_TRUE(program.replicated(program.graph.find("kernel")));
}

TEST(Layout, GroupsOfACutBatchStayWithTheirSamples) {
  const Program program = cut(kContractions, {3, 2, 1, 1});
  const ValuePlan& sums = program.plan(program.graph.find("sums"));
  EXPECT_FALSE(sums.layout.replicated);
  EXPECT_EQ(sums.own[0], (Box{{0, 0, 0}, {1, 2, 2}}));
  EXPECT_EQ(sums.own[1], sums.own[0]) << "the second half of sample 0 holds a replica of its sums";
  EXPECT_EQ(sums.own[5], (Box{{2, 0, 0}, {1, 2, 2}}));
}

TEST(Layout, AMeshOfAnotherRankIsAConfigError) {
  expect_error(ErrorKind::kConfig, "1x2x1x1 has 4 entries, but the input tensor 1x8x8x8x1 has 5 axes", [&] {
    cut("image = input : f32[1x8x8x8x1]", {1, 2, 1, 1});
  });
}

TEST(SplitBlocks, TileTheBoxAndStayNearTheWish) {
  constexpr std::uint64_t kSeed = 9;
  for (std::uint64_t i = 0; i < 400; ++i) {
    auto draw = [&](std::uint64_t stream, std::int64_t n) { return rng_below({kSeed, stream}, i, n); };
    Box box{{draw(1, 3), draw(2, 9) - 2, draw(3, 9)}, {1 + draw(4, 4), 1 + draw(5, 9), 1 + draw(6, 5)}};
    box.begin.push_back(0);
    box.extent.push_back(3);
    const std::int64_t wish = 1 + draw(7, 16);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + to_string(box) + " in " + std::to_string(wish));
    const auto blocks = split_blocks(box, wish);
    std::int64_t count = 0;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      EXPECT_TRUE(box.contains(blocks[a]) && !blocks[a].empty());
      count += blocks[a].count();
      for (std::size_t b = 0; b < a; ++b) EXPECT_TRUE(intersect(blocks[a], blocks[b]).empty());
    }
    EXPECT_EQ(count, box.count());
    EXPECT_LT(static_cast<std::int64_t>(blocks.size()), 2 * wish);
    if (wish == 1) {
      EXPECT_EQ(blocks.size(), 1U);
    }
  }
  EXPECT_TRUE(split_blocks(Box::none(4), 4).empty());
}

TEST(SplitBlocks, ALargeBatchHasAsManyBlocksAsAreWishedNotOneASample) {
  const auto blocks = split_blocks(Box::whole({64, 28, 28, 1}), 4);
  ASSERT_EQ(blocks.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(blocks[i], (Box{{16 * static_cast<std::int64_t>(i), 0, 0, 0}, {16, 28, 28, 1}}));
}

}  // namespace
}  // namespace voxshard
