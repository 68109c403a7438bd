#include "pipelines/drawing/program_tiles.h"

#include <nlohmann/json.hpp>

#include "libcore/lower/lower.h"
#include "libcore/ops/op_table.h"
#include "pipelines/model_runs/model_spec.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

Program unet(const Shape& extents, Cut cut) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 2, .depth = 3};
  spec.cut = std::move(cut);
  return lower_verified(build_graph(spec, extents, Phase::kTrain, DType::kF32), op_table(), spec.cut, {}).program;
}

DrawnSample black(const Dims& extents) {
  return extents.axes() == 2 ? DrawnSample("p", Tensor(DType::kU8, {extents[0], extents[1], 3}))
                             : DrawnSample("v", Tensor(DType::kF32, extents));
}

TileSheet sheet_of(const Program& program, const std::string& level, const Dims& extents) {
  return tile_sheet(program, drawn_value(program, level), black(extents), extents);
}

TEST(ProgramTiles, EveryTileIsWhatThePlanOwnsAndHolds) {
  const Program program = unet({1, 13, 21, 10}, {.mesh = {.partition = {1, 2, 3, 2, 1}}});
  for (const std::string level : {"0", "1", "2", "encoder0/conv0/norm", "decoder1"}) {
    const ValueId value = drawn_value(program, level);
    const ValuePlan& plan = program.plan(value);
    const Shape& shape = program.graph.node(value).type.shape;
    const TileSheet sheet = sheet_of(program, level, {13, 21, 10});
    ASSERT_GE(sheet.views.size(), 3u);
    for (int fixed = 0; fixed < 3; ++fixed) {
      const TileView& view = sheet.views[fixed];
      const int rows = fixed == 0 ? 2 : 1, columns = fixed == 2 ? 2 : 3;
      EXPECT_EQ(view.extent, (Dims{shape[rows], shape[columns]}));
      std::size_t met = 0;
      for (std::size_t core = 0; core < plan.own.size(); ++core) {
        const Box &own = plan.own[core], &held = plan.held[core];
        const std::int64_t at = shape[fixed + 1] / 2;
        if (own.empty() || at < own.begin[fixed + 1] || at >= own.end(fixed + 1)) continue;
        const auto tile = std::find_if(view.tiles.begin(), view.tiles.end(),
                                       [&](const DrawnTile& t) { return t.name == std::to_string(core); });
        ASSERT_NE(tile, view.tiles.end()) << "core " << core;
        for (const auto& [drawn, box] : {std::pair{tile->own, own}, {tile->held, held}}) {
          EXPECT_EQ(drawn.begin, (Dims{box.begin[rows], box.begin[columns]}));
          EXPECT_EQ(drawn.extent, (Dims{box.extent[rows], box.extent[columns]}));
        }
        ++met;
      }
      EXPECT_EQ(view.tiles.size(), met);
      EXPECT_GT(met, 0u);
    }
  }
}

/// The planes through the middle of 2 x 2 x 2 tiles meet no more than four of them each, and one in none.
TEST(ProgramTiles, EveryHaloIsSeenInAPlane) {
  const Dims extents = {12, 16, 20};
  const Program program = unet({1, 12, 16, 20}, {.mesh = {.partition = {1, 2, 2, 2, 1}}});
  const ValueId value = drawn_value(program, "");
  const TileSheet sheet = sheet_of(program, "", extents);
  EXPECT_GT(sheet.views.size(), 3u);
  EXPECT_LE(sheet.views.size(), 9u);
  std::map<std::string, int> seen;  // halos along rows and columns, by core
  for (const TileView& view : sheet.views)
    for (const DrawnTile& tile : view.tiles) seen[tile.name] += 1;
  for (int core = 0; core < 8; ++core) {
    const Box& own = program.plan(value).own[core];
    EXPECT_GE(seen[std::to_string(core)], 2) << "two planes show three axes: core " << core << " of " << to_string(own);
  }
  const Program slabs = unet({1, 32, 8, 8}, {.mesh = {.partition = {1, 4, 1, 1, 1}}});
  EXPECT_EQ(sheet_of(slabs, "", {32, 8, 8}).views.size(), 3u) << "one plane along the cut crosses all";
  const Program many = unet({1, 32, 32, 32}, {.mesh = {.partition = {1, 4, 4, 4, 1}}});
  const TileSheet crowded = sheet_of(many, "", {32, 32, 32});
  EXPECT_LE(crowded.views.size(), 9u);
}

TEST(ProgramTiles, CoresWithoutAPartAreNamed) {
  const Program program = unet({1, 12, 8, 8}, {.mesh = {.partition = {1, 5, 1, 1, 1}}});
  const TileSheet sheet = sheet_of(program, "", {12, 8, 8});
  EXPECT_EQ(sheet.views[1].tiles.size(), 4u) << "12 over 5: 3, 3, 3, 3, 0";
  EXPECT_EQ(sheet.lines.back(), "without a part of it: core 4");
  EXPECT_EQ(sheet.key.size(), 4u);
  EXPECT_THAT(sheet.key[1].text, HasSubstr("3:6 x 0:8 x 0:8, halo D 1 + 1"));
}

TEST(ProgramTiles, ManyIdleCoresAreRangesAndInTheEndANumber) {
  const Program few = unet({1, 12, 12, 8}, {.mesh = {.partition = {1, 5, 5, 1, 1}}});
  EXPECT_EQ(sheet_of(few, "", {12, 12, 8}).lines.back(), "without a part of it: core 4,9,14,19-24");
  const Program many = unet({1, 24, 24, 8}, {.mesh = {.partition = {1, 16, 16, 1, 1}}});
  EXPECT_EQ(sheet_of(many, "", {24, 24, 8}).lines.at(4),
            "without a part of it: core 12-15,28-31,44-47,60-63,76-79,92-95,108-111,124-127,... 112 in all");
}

TEST(ProgramTiles, CoresThatHoldTheSameShareATile) {
  const Program program = unet({1, 8, 8, 8}, {.mesh = {.partition = {1, 4, 1, 1, 1}},
                                              .inputs = {{"image", {.kind = InputPlacement::Kind::kReplicated}}}});
  const TileSheet sheet = sheet_of(program, "image", {8, 8, 8});
  ASSERT_EQ(sheet.views[0].tiles.size(), 1u);
  EXPECT_EQ(sheet.views[0].tiles[0].name, "0-3");
  EXPECT_THAT(sheet.lines[2], HasSubstr("nothing is exchanged"));
}

TEST(ProgramTiles, OfSeveralReplicasTheFirstSampleIsDrawn) {
  const Program program = unet({4, 8, 8, 8}, {.mesh = {.replicas = 2, .partition = {1, 2, 1, 1, 1}}});
  const TileSheet sheet = sheet_of(program, "", {8, 8, 8});
  ASSERT_EQ(sheet.views[1].tiles.size(), 2u);
  EXPECT_EQ(sheet.views[1].tiles[1].name, "1");
  EXPECT_THAT(sheet.lines[0], HasSubstr("2 replicas, drawn is the first sample"));
}

TEST(ProgramTiles, LevelsAreTheResolutionsOfTheNetworkFinestFirst) {
  const Program program = unet({1, 13, 20, 10}, {.mesh = {.partition = {1, 2, 2, 1, 1}}});
  const auto levels = drawn_levels(program);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].extents, (Dims{13, 20, 10}));
  EXPECT_EQ(program.graph.node(levels[0].value).name, "image");
  for (std::size_t i = 0; i < levels.size(); ++i) EXPECT_EQ(drawn_value(program, std::to_string(i)), levels[i].value);
  EXPECT_TRUE(program.graph.node(drawn_value(program, "encoder1")).name.starts_with("encoder1/"));
}

TEST(ProgramTiles, AnUnknownLevelNamesTheChoices) {
  const Program program = unet({1, 8, 8, 8}, {.mesh = {.partition = {1, 2, 1, 1, 1}}});
  for (const std::string level : {"9", "99999999999999999999", "-1", "encoder", "nowhere"}) {
    expect_error(ErrorKind::kConfig, "{level} \"" + level + "\" is no level", [&] { drawn_value(program, level); });
    expect_error(ErrorKind::kConfig, "0 (8 x 8 x 8), 1 (4 x 4 x 4), 2 (2 x 2 x 2)",
                 [&] { drawn_value(program, level); });
    expect_error(ErrorKind::kConfig, "image, encoder0, encoder1, encoder2, decoder1, decoder0, head",
                 [&] { drawn_value(program, level); });
  }
  expect_error(ErrorKind::kConfig, "did you mean encoder1?", [&] { drawn_value(program, "encodre1"); });
  expect_error(ErrorKind::kConfig, "not cut along space", [&] { drawn_value(program, "head/kernel"); });
}

TEST(ProgramTiles, ImagesHaveOneViewAndTheirPyramidIsTheLevels) {
  ModelSpec spec = retinanet_spec({.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8});
  spec.cut.mesh.partition = {1, 3, 2, 1};
  const Program program =
      lower_verified(build_graph(spec, {1, 97, 130}, Phase::kTrain, DType::kF32), op_table(), spec.cut, {}).program;
  const TileSheet sheet = sheet_of(program, "", {97, 130});
  ASSERT_EQ(sheet.views.size(), 1u);
  EXPECT_EQ(sheet.views[0].extent, (Dims{97, 130}));
  EXPECT_EQ(sheet.views[0].tiles.size(), 6u);
  EXPECT_EQ(drawn_levels(program).size(), 8u) << "97, 49, 25, 13, 7, 4, 2, 1";
  const auto json = tiles_json(program, drawn_value(program, ""));
  EXPECT_EQ(json.at("tiles").size(), 6u);
  EXPECT_EQ(json.at("tiles")[5].at("own"), to_string(program.plan(program.graph.find("image")).own[5]));
}

}  // namespace
}  // namespace voxshard
