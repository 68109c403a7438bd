// A model of the size at which convolutions are computed by transforms: cut, with recomputation and on any number of
// workers it gives the bits of the uncut one, except in weight gradients, whose sums are cut; --convolution exact uses
// no transforms.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/partition/text.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

const test::SceneOptions kScene{.extents = {1, 32, 18, 17}, .config = {.base_filters = 16, .depth = 2}};

std::map<std::string, int> kernels_of(const Graph& graph) {
  std::map<std::string, int> count;
  for (const Node& node : graph.nodes())
    if (node.role == Role::kOp && op_table().at(node.op).choose != nullptr)
      ++count[kConvKernelNames[static_cast<std::size_t>(kernel_of(node.attrs))]];
  return count;
}

Graph chosen(Convolution from, const Shape& extents = kScene.extents) {
  return choose_kernels(step_graph(test::scene_graph(kScene, extents, true), op_table(), Recompute::kNone), op_table(),
                        from);
}

EquivalenceReport compared(const Cut& cut) {
  WorkerPool pool(2);
  return check_equivalence({.factory =
                                [](DType dtype) {
                                  test::SceneOptions typed = kScene;
                                  typed.dtype = dtype;
                                  return test::scene_graph(typed, typed.extents, true);
                                },
                            .cut = cut},
                           pool);
}

TEST(WinogradModel, WideLayersAreTransformedThinAndShallowOnesAreNot) {
  const auto fast = kernels_of(chosen(Convolution::kFast));
  EXPECT_EQ(fast.at("winograd4"), 3 + 5 + 3)
      << "three passes of encoder0/conv1 and decoder0/conv1; decoder0/conv0 has a gradient for each of its two parts";
  EXPECT_GT(fast.at("library"), 0);
  EXPECT_EQ(kernels_of(chosen(Convolution::kExact)).count("winograd4"), 0u);
  EXPECT_EQ(kernels_of(chosen(Convolution::kFast, {1, 32, 14, 17})).count("winograd4"), 0u);
}

TEST(WinogradModel, IsEqualUncutAndCutOnTheTilesAndOffThem) {
  for (const Dims& partition : {Dims{1, 2, 1, 1, 1}, Dims{1, 3, 2, 1, 1}, Dims{1, 2, 2, 2, 1}, Dims{1, 8, 1, 1, 1}}) {
    const EquivalenceReport report = compared({.mesh = {.partition = partition}});
    EXPECT_TRUE(report.equal()) << to_string(partition) << " " << report.first_difference->layer << " "
                                << report.first_difference->what;
    EXPECT_GT(report.bit_equal, report.layers / 2);
  }
}

TEST(WinogradModel, IsEqualWhenItRecomputes) {
  for (Recompute recompute : {Recompute::kNorms, Recompute::kLevels}) {
    const EquivalenceReport report = compared({.mesh = {.partition = {1, 2, 1, 2, 1}}, .recompute = recompute});
    EXPECT_TRUE(report.equal()) << recompute_name(recompute) << " " << report.first_difference->layer;
  }
}

TEST(WinogradModel, TheChoiceIsKeptInTheTextOfAProgram) {
  const Cut cut{.mesh = {.partition = {1, 2, 1, 1, 1}}, .convolution = Convolution::kExact};
  const Program program = partition(chosen(Convolution::kExact), op_table(), cut);
  EXPECT_EQ(parse_program(whole_text(program), op_table()), program);
}

TEST(WinogradModel, AnyNumberOfWorkersGivesTheSameLoss) {
  std::vector<double> losses;
  for (int workers : {1, 3}) {
    test::SceneOptions o = kScene;
    o.workers = workers;
    test::UNetScene scene(o);
    Trainer trainer = scene.trainer({.kind = OptimizerKind::kSgd}, 0);
    trainer.step(o.extents, scene.feed());
    losses.push_back(trainer.step(o.extents, scene.feed()).loss);
  }
  EXPECT_EQ(losses[0], losses[1]) << "after a step: all gradients agree";
}

}  // namespace
}  // namespace voxshard
