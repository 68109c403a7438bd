// The program of every model, cut in every way, is read back from its text.
#include <gtest/gtest.h>

#include "libcore/graph/recompute.h"
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/text.h"
#include "tests/models/placed_targets.h"

namespace voxshard {
namespace {

void expect_reads_back(const Graph& graph, const Cut& cut) {
  const Program program = partition(with_recomputation(graph, op_table(), cut.recompute), op_table(), cut);
  EXPECT_TRUE(parse_program(whole_text(program), op_table()) == program) << to_string(cut.mesh.partition);
}

TEST(ProgramText, ProgramsOfTheUNetReadBack) {
  const Graph graph = build_unet({.base_filters = 4, .depth = 3}, {.batch = 2, .size = {17, 16, 12}}, op_table());
  for (Recompute recompute : {Recompute::kNone, Recompute::kLevels}) {
    for (const Dims& parts : {Dims{1, 1, 1, 1, 1}, Dims{1, 2, 2, 2, 1}, Dims{2, 8, 1, 1, 1}})
      for (std::int64_t thinnest : {0, 2})
        expect_reads_back(graph, {.mesh = {.partition = parts}, .thinnest_slab = thinnest, .recompute = recompute});
    expect_reads_back(graph,
                      {.mesh = {.replicas = 2, .partition = {1, 2, 1, 1, 1}},
                       .inputs = {{"labels", {.kind = InputPlacement::Kind::kFirstCore, .grid = {1, 1, 2, 1, 1}}}},
                       .recompute = recompute});
  }
}

TEST(ProgramText, ProgramsOfRetinaNetReadBack) {
  const Graph graph =
      build_retinanet({.backbone = Backbone::kResNet18, .classes = 3, .filters = 8, .pyramid_filters = 8},
                      {.batch = 2, .size = {96, 70}}, op_table());
  for (auto kind : {InputPlacement::Kind::kCut, InputPlacement::Kind::kWhereDivisible})
    expect_reads_back(
        graph, {.mesh = {.replicas = 2, .partition = {1, 2, 2, 1}}, .inputs = test::placed_targets({.kind = kind})});
}

}  // namespace
}  // namespace voxshard
