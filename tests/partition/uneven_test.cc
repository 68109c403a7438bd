// Uneven sizes and inputs that lie otherwise than the mesh: the tiles of the original's examples, row-major over the
// cores, and placements (whole on every core, on the first core, another grid) that tile and feed their readers.
#include "tests/expect_error.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;
using Kind = InputPlacement::Kind;

/// Returns the extents of the boxes of an (N, rows, columns, C) = (1, rows, columns, 1) input, core by core.
std::vector<std::pair<std::int64_t, std::int64_t>> tiles(std::int64_t rows, std::int64_t columns, const Dims& parts) {
  const Program program =
      cut("image = input : f32[" + to_string(Shape{1, rows, columns, 1}) + "]", {1, parts[0], parts[1], 1});
  EXPECT_EQ(joined(verify(program, op_table())), "");
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const Box& own : program.plan(0).own) sizes.emplace_back(own.extent[1], own.extent[2]);
  return sizes;
}

// partition_or_replicate_on_host in tensorflow's tpu_feed.py, its comments and tests.
TEST(UnevenTiles, Of5By14Over2By4) {
  using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(tiles(5, 14, {2, 4}), (Sizes{{3, 4}, {3, 4}, {3, 4}, {3, 2}, {2, 4}, {2, 4}, {2, 4}, {2, 2}}));
}

TEST(UnevenTiles, Of14By5Over4By2) {
  using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(tiles(14, 5, {4, 2}), (Sizes{{4, 3}, {4, 2}, {4, 3}, {4, 2}, {4, 3}, {4, 2}, {2, 3}, {2, 2}}));
}

TEST(UnevenTiles, Of5By5Over4By1HaveAnEmptyOne) {
  using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(tiles(5, 5, {4, 1}), (Sizes{{2, 5}, {2, 5}, {1, 5}, {0, 0}}));
}

/// Returns the text of a convolution of "image" whose result is compared with "labels", voxel by voxel.
std::string image_and_labels(const Shape& image) {
  Shape labels = image;
  labels[3] = 1;
  return "image = input : f32[" + to_string(image) + "]\n" +
         "kernel = parameter : f32[3x3x2x2]\n"
         "conv = conv %image, %kernel kernel=3x3 pad=1x1/1x1\n"
         "labels = input : i32[" +
         to_string(labels) + "]\n" + "sums = segmentation_sums %conv, %labels batch=" + std::to_string(image[0]) + "\n";
}

Program placed(const Shape& image, const Mesh& mesh, const std::vector<PlacedInput>& inputs) {
  return cut(image_and_labels(image), {.mesh = mesh, .inputs = inputs});
}

/// Returns the number of voxels copied into the margins of a value, by receiving core.
std::map<std::int64_t, std::int64_t> received(const Program& program, const std::string& name) {
  std::map<std::int64_t, std::int64_t> voxels;
  for (const Instruction& instruction : program.instructions)
    if (instruction.kind == InstructionKind::kExchange && program.graph.node(instruction.value).name == name)
      for (const Copy& copy : instruction.copies) voxels[copy.to] += copy.box.count();
  return voxels;
}

TEST(InputPlacement, ReplicatedIsWholeOnEveryCoreOfAReplica) {
  const Program program =
      placed({4, 9, 6, 2}, {.replicas = 2, .partition = {1, 4, 1, 1}}, {{"labels", {.kind = Kind::kReplicated}}});
  EXPECT_EQ(joined(verify(program, op_table())), "");
  const auto& own = program.plan(program.graph.find("labels")).own;
  for (std::size_t core = 0; core < 8; ++core)
    EXPECT_EQ(own[core], (Box{{core < 4 ? 0 : 2, 0, 0, 0}, {2, 9, 6, 1}})) << core;
  EXPECT_TRUE(received(program, "labels").empty()) << "every core has what it reads";
  EXPECT_EQ(program.plan(program.graph.find("conv")).own[3], (Box{{0, 9, 0, 0}, {0, 0, 6, 2}}))
      << "9 over 4: 3, 3, 3, 0";
}

TEST(InputPlacement, OnTheFirstCoreOthersGetWhatTheyRead) {
  const Program program =
      placed({2, 8, 6, 2}, {.replicas = 2, .partition = {1, 2, 2, 1}}, {{"labels", {.kind = Kind::kFirstCore}}});
  EXPECT_EQ(joined(verify(program, op_table())), "");
  const auto& own = program.plan(program.graph.find("labels")).own;
  for (std::size_t core = 0; core < 8; ++core) EXPECT_EQ(own[core].count(), core % 4 == 0 ? 48 : 0) << core;
  const auto voxels = received(program, "labels");
  EXPECT_EQ(voxels.size(), 6u);
  for (const auto& [core, count] : voxels) EXPECT_EQ(count, 12) << core;
}

TEST(InputPlacement, AnotherGridIsRowMajorOverTheSameCores) {
  const Program program = placed({1, 8, 6, 2}, {.partition = {1, 4, 1, 1}}, {{"labels", {.grid = {1, 2, 2, 1}}}});
  EXPECT_EQ(joined(verify(program, op_table())), "");
  const auto& own = program.plan(program.graph.find("labels")).own;
  EXPECT_EQ(own[1], (Box{{0, 0, 3, 0}, {1, 4, 3, 1}}));
  EXPECT_EQ(own[2], (Box{{0, 4, 0, 0}, {1, 4, 3, 1}}));
  EXPECT_EQ(program.plan(program.graph.find("conv")).own[1], (Box{{0, 2, 0, 0}, {1, 2, 6, 2}}));
}

TEST(InputPlacement, GivesItsLayoutOnlyWhereNothingElseIsCut) {
  const Program program = placed({1, 8, 6, 2}, {.partition = {1, 4, 1, 1}}, {{"image", {.kind = Kind::kFirstCore}}});
  EXPECT_EQ(joined(verify(program, op_table())), "");
  const auto& conv = program.plan(program.graph.find("conv")).own;
  EXPECT_EQ(conv[0].count(), 96);
  for (std::size_t core = 1; core < 4; ++core) EXPECT_TRUE(conv[core].empty()) << core;
  EXPECT_EQ(received(program, "labels"), (std::map<std::int64_t, std::int64_t>{{0, 36}}));
}

TEST(InputPlacement, TilesForManyShapesAndMeshes) {
  constexpr std::uint64_t kSeed = 21;
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::uint64_t draw = 16 * i;
    auto below = [&](std::int64_t n) { return rng_below({kSeed, 2}, draw++, n); };
    const Shape image{1 + below(4), 1 + below(9), 1 + below(9), 2};
    const Mesh mesh{.replicas = 1 + below(2), .partition = {1 + below(2), 1 + below(3), 1 + below(3), 1}};
    const auto any = [&] { return InputPlacement{.kind = static_cast<Kind>(below(3))}; };
    const Program program = placed(image, mesh, {{"image", any()}, {"labels", any()}});
    EXPECT_EQ(joined(verify(program, op_table())), "")
        << "seed " << kSeed << " case " << i << ": " << to_string(image) << " over " << to_string(mesh.partition);
  }
}

TEST(InputPlacement, RefusesAGridOfOtherCores) {
  for (const Dims& grid : {Dims{1, 2, 4, 1}, Dims{1, 2, 1}}) {
    expect_error(ErrorKind::kConfig, to_string(grid), [&] {
      placed({1, 8, 6, 2}, {.partition = {1, 4, 1, 1}}, {{"labels", {.grid = grid}}});
    });
  }
}

}  // namespace
}  // namespace voxshard
