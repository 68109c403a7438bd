// Ops that state a grain, defined outside of the engine: a result is the same to the bit on every cut, on the grain and
// off it, though each of its values depends on all of its tile.
//
//   tile_mix {x}: per tile of 4 x 4 planes (D, H) of the *tensor*, y = a sum in f32 over the tile and one voxel around
//   it, in one order: a kernel that is given less than the tile computes other bits, or reads beyond what it holds
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "libcore/check/equivalence.h"
#include "libcore/graph/builder.h"
#include "libcore/partition/text.h"
#include "libcore/tensor/rows.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

constexpr std::int64_t kTile = 4;

TensorType same_type(const Attributes&, std::span<const TensorType> in) { return in[0]; }

/// Returns the box with one voxel around it in D and H.
Box with_neighbours(const OpContext&, int, const Box& it) {
  Box box = it;
  for (int a : {1, 2}) box.set(a, it.begin[a] - 1, it.end(a) + 1);
  return box;
}

/// Reads the tile of each output and the voxels around it, all of which the tensor holds; fails when it was given less.
std::unique_ptr<Kernel> tile_mix(const OpContext& op, KernelSet) {
  return std::make_unique<FunctionKernel>([shape = op.result.shape](const KernelCall& c) {
    for_each_row(c.output.box, [&](const Dims& at) {
      Box tile = Box::whole(shape);
      for (int a : {1, 2}) {
        const std::int64_t first = at[a] / kTile * kTile;
        tile.set(a, first - 1, std::min(first + kTile, shape[a]) + 1);
      }
      for (std::int64_t k = 0; k < row_count(c.output.box); ++k) {
        float sum = 0;
        Dims from = at;
        for (std::int64_t d = tile.begin[1]; d < tile.end(1); ++d)
          for (std::int64_t h = tile.begin[2]; h < tile.end(2); ++h) {
            from[1] = d, from[2] = h;
            const double weight =
                1.0 / (1.0 + static_cast<double>((d - at[1]) * (d - at[1]) + (h - at[2]) * (h - at[2])));
            ASSERT_TRUE(d >= c.inputs[0].box.begin[1] && d < c.inputs[0].box.end(1)) << d;
            ASSERT_TRUE(h >= c.inputs[0].box.begin[2] && h < c.inputs[0].box.end(2)) << h;
            sum += static_cast<float>(weight * load(c.inputs[0], offset_at(c.inputs[0], from) + k));
          }
        store(c.output, offset_at(c.output, at) + k, static_cast<double>(sum));
      }
    });
  });
}

OpTable table_with_grain() {
  OpTable table = op_table();
  table.add({.name = "tile_mix",
             .infer = same_type,
             .needed = with_neighbours,
             .grain =
                 [](const OpContext&) {
                   return Dims{1, kTile, kTile, 1, 1};
                 },
             .kernel = tile_mix});
  return table;
}

/// image (2, 13, 10, 3, 2) -> tile_mix -> tile_mix.
Graph mixed(const OpTable& ops) {
  Graph graph;
  Builder b(graph, ops);
  const ValueId x = b.input("image", {DType::kF32, {2, 13, 10, 3, 2}}, input::Image{});
  const ValueId once = b.op("tile_mix", {x}, {}, "once");
  graph.outputs["twice"] = b.op("tile_mix", {once}, {}, "twice");
  return graph;
}

Tensor result_of(const Graph& graph, const OpTable& ops, const Cut& cut, int workers) {
  const Executable e = lower(graph, ops, cut, {.workers = workers});
  WorkerPool pool(workers);
  InProcessTransport transport;
  Parameters none;
  CoreSet cores(e, ops, none, pool, transport, ArenaMode::kChecked);
  cores.feed(graph.find("image"), [&](const TensorView& box) {
    for_each_row(box.box, [&](const Dims& at) {
      for (std::int64_t k = 0; k < row_count(box.box); ++k) {
        std::uint64_t voxel = 0;
        for (int a = 0; a + 1 < at.axes(); ++a) voxel = voxel * 16 + static_cast<std::uint64_t>(at[a]);
        store(box, offset_at(box, at) + k, rng_normal({7, 7}, 4 * voxel + static_cast<std::uint64_t>(k)));
      }
    });
  });
  cores.run();
  return cores.gather(graph.outputs.at("twice"));
}

TEST(Grain, ACutOnItAndOffItGivesTheBitsOfTheUncutTensor) {
  const OpTable ops = table_with_grain();
  const Graph graph = mixed(ops);
  const Tensor uncut = result_of(graph, ops, {.mesh = {.partition = {1, 1, 1, 1, 1}}}, 1);
  double size = 0;
  for (std::int64_t i = 0; i < uncut.count(); ++i) size += std::abs(load(uncut.view(), i));
  EXPECT_GT(size, 1);
  for (const Dims& partition :
       {Dims{1, 2, 1, 1, 1}, Dims{1, 3, 1, 1, 1}, Dims{1, 4, 1, 1, 1}, Dims{1, 5, 2, 1, 1}, Dims{2, 13, 1, 1, 1},
        Dims{1, 4, 3, 1, 1}, Dims{2, 1, 4, 3, 1}, Dims{1, 1, 10, 1, 1}, Dims{1, 16, 1, 1, 1}})
    for (int workers : {1, 3}) {
      const Tensor cut = result_of(graph, ops, {.mesh = {.partition = partition}}, workers);
      EXPECT_EQ(std::memcmp(uncut.data(), cut.data(), static_cast<std::size_t>(uncut.bytes())), 0)
          << to_string(partition);
    }
}

TEST(Grain, OwnershipStaysGreedyCeilAndACutOffTheGrainCostsMargin) {
  const OpTable ops = table_with_grain();
  const Program program = partition(mixed(ops), ops, {.mesh = {.partition = {1, 4, 1, 1, 1}}});
  ASSERT_TRUE(verify(program, ops).empty());
  const ValuePlan& image =
      program.plan(program.graph.find("image"));  // 13 planes: 0:4 4:8 8:12 12:13, all on the grain
  for (std::size_t core = 0; core < 4; ++core) {
    EXPECT_EQ(image.own[core].begin[1], static_cast<std::int64_t>(4 * core));
    EXPECT_EQ(image.held[core].begin[1], image.own[core].begin[1] - 1);
    EXPECT_EQ(image.held[core].end(1), image.own[core].end(1) + 1) << "the tile of 1 plane ends with the tensor";
  }
  const Program off = partition(mixed(ops), ops, {.mesh = {.partition = {1, 5, 1, 1, 1}}});  // 0:3 3:6 6:9 9:12 12:13
  ASSERT_TRUE(verify(off, ops).empty());
  const ValuePlan& cut = off.plan(off.graph.find("image"));
  EXPECT_EQ(cut.own[1], (Box{{0, 3, 0, 0, 0}, {2, 3, 10, 3, 2}}));
  EXPECT_EQ(cut.held[1].begin[1], -1) << "3:6 lies in the tiles 0:4 and 4:8";
  EXPECT_EQ(cut.held[1].end(1), 9);
}

TEST(Grain, BlocksBeginOnIt) {
  EXPECT_EQ(rounded_out({{0, 3, 5, 0}, {1, 3, 1, 2}}, {1, 4, 1, 1}, {1, 7, 9, 2}), (Box{{0, 0, 5, 0}, {1, 7, 1, 2}}));
  const Box box{{0, 6, 0, 0}, {1, 17, 5, 2}};
  std::int64_t end = 6;
  for (const Box& block : split_blocks(box, 4, {1, 4, 4, 1})) {
    EXPECT_EQ(block.begin[1], end);
    EXPECT_TRUE(end == 6 || end % 4 == 0) << end;
    end = block.end(1);
  }
  EXPECT_EQ(end, 23);
  EXPECT_EQ(split_blocks({{0, 1, 0, 0}, {1, 2, 5, 2}}, 2, {1, 4, 4, 1}).size(), 1u) << "no multiple lies inside";
}

OpTable convolutions_with_grain() {
  OpTable ops;
  for (const auto& [name, def] : op_table().all()) {
    OpDef own = def;
    if (own.choose != nullptr) own.grain = [](const OpContext&) { return Dims{1, 4, 4, 4, 1}; };
    ops.add(std::move(own));
  }
  return ops;
}

TEST(Grain, AModelWhoseConvolutionsHaveOneIsEqualUncutAndCut) {
  const OpTable ops = convolutions_with_grain();
  WorkerPool pool(2);
  const test::SceneOptions scene{.extents = {1, 13, 8, 11}};
  for (const Dims& partition : {Dims{1, 2, 2, 1, 1}, Dims{1, 3, 1, 2, 1}}) {
    const EquivalenceReport report = check_equivalence({.ops = ops,
                                                        .factory =
                                                            [&](DType dtype) {
                                                              test::SceneOptions typed = scene;
                                                              typed.dtype = dtype;
                                                              return test::scene_graph(typed, typed.extents, true);
                                                            },
                                                        .cut = {.mesh = {.partition = partition}}},
                                                       pool);
    EXPECT_TRUE(report.equal()) << to_string(partition) << " " << report.first_difference->layer;
    EXPECT_GT(report.bit_equal, report.layers / 2);
  }
}

TEST(Grain, OfConvolutionsWidensMarginsAloneAndItsProgramComesBackFromItsText) {
  const OpTable ops = convolutions_with_grain();
  const Graph graph = test::scene_graph({.extents = {1, 13, 8, 11}}, {1, 13, 8, 11}, false);
  const Program plain = partition(graph, op_table(), {.mesh = {.partition = {1, 2, 2, 1, 1}}});
  const Program grained = partition(graph, ops, {.mesh = {.partition = {1, 2, 2, 1, 1}}});
  ASSERT_TRUE(verify(grained, ops).empty());
  std::int64_t held = 0, wider = 0;
  for (ValueId id = 0; id < graph.size(); ++id)
    for (std::size_t core = 0; core < plain.plan(id).held.size(); ++core) {
      EXPECT_EQ(grained.plan(id).own[core], plain.plan(id).own[core]);
      held += plain.plan(id).held[core].count(), wider += grained.plan(id).held[core].count();
    }
  EXPECT_GT(wider, held);
  EXPECT_EQ(parse_program(whole_text(grained), ops), grained);
}

}  // namespace
}  // namespace voxshard
