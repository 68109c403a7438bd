// Deep layers whose weights outweigh their activations: whole on one core, cut into slices of channels that are tasks;
// equal uncut and cut, forward and backward.
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/kernels/conv_table.h"
#include "libcore/models/layers.h"
#include "libcore/partition/text.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

/// Returns a model of two convolutions with 128 channels on 4 x 4 x 6 voxels between two that are not deep.
Graph deep_model(DType dtype) {
  Graph graph;
  Builder b(graph, op_table());
  Layers layers(b, {.dtype = dtype, .norm = {.kind = NormKind::kBatch}});
  const ValueId image = b.input("image", {dtype, {2, 4, 4, 6, 1}}, input::Image{});
  ValueId x = layers.norm_activation(layers.conv(image, {.name = "stem", .filters = 4}), "stem");
  for (const char* name : {"deep0", "deep1"})
    x = layers.norm_activation(layers.conv(x, {.name = name, .filters = 128}), name);
  const ValueId logits = layers.conv(x, {.name = "head", .filters = 3, .kernel = 1, .f32_result = true});
  const ValueId labels = b.input("labels", {DType::kI32, {2, 4, 4, 6, 1}}, input::Labels{.classes = 3});
  const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy, .batch = 2, .dtype = dtype};
  const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "loss/sums");
  graph.outputs["logits"] = logits;
  graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
  return graph;
}

Program program_over(const Dims& partition_dims, std::int64_t replicas = 1) {
  return lower(deep_model(DType::kF32), op_table(), {.mesh = {.replicas = replicas, .partition = partition_dims}}, {})
      .program;
}

TEST(Slices, AreChosenWhereWeightsOutweighActivations) {
  ConvUse use{.window = {.kernel = {3, 3, 3},
                         .stride = {1, 1, 1},
                         .dilation = {1, 1, 1},
                         .pad_lo = {1, 1, 1},
                         .pad_hi = {1, 1, 1}},
              .weights = {3, 3, 3, 512, 256},
              .over = {1, 8, 8, 8, 256}};
  EXPECT_EQ(conv_slices(ConvKernel::kLibrary, use), 4);
  use.pass = ConvPass::kInputGrad;
  EXPECT_EQ(conv_slices(ConvKernel::kLibrary, use), 8) << "the channels of d_x";
  use.pass = ConvPass::kForward;
  use.over = {1, 64, 64, 64, 256};
  EXPECT_EQ(conv_slices(ConvKernel::kLibrary, use), 1) << "activations outweigh";
  use.over = {};
  EXPECT_EQ(conv_slices(ConvKernel::kLibrary, use), 1) << "nothing global is known";
}

TEST(Slices, LieOnTheFirstCoreOfAReplicaAndEachWeightBelongsToOneTask) {
  const Program program = program_over({1, 2, 2, 1, 1}, 2);
  int sliced = 0;
  for (const Instruction& instruction : program.instructions) {
    const Node& node = program.graph.node(instruction.value);
    if (instruction.kind != InstructionKind::kCompute || (node.op != "conv" && node.op != "conv_input_grad")) continue;
    const auto types = program.graph.input_types(instruction.value);
    const std::int64_t slices = slices_of(op_table().at(node.op), {node.attrs, types, node.type});
    if (slices == 1) continue;
    ++sliced;
    for (std::size_t core = 0; core < 8; ++core) {
      const auto& blocks = instruction.blocks[core];
      ASSERT_EQ(blocks.size(), core % 4 == 0 ? static_cast<std::size_t>(slices) : 0u) << node.name << " core " << core;
      for (std::size_t s = 0; s < blocks.size(); ++s) {
        EXPECT_EQ(blocks[s].extent[4], node.type.shape.back() / slices);
        EXPECT_EQ(blocks[s].begin[4], static_cast<std::int64_t>(s) * blocks[s].extent[4]);
        EXPECT_EQ(blocks[s].extent[1], 4) << "all planes";
      }
    }
  }
  EXPECT_EQ(sliced, 2) << "the second deep layer, forward and input gradient";
  EXPECT_NE(to_text(program).find("whole on one core: its weights outweigh it"), std::string::npos);
  EXPECT_EQ(parse_program(whole_text(program), op_table()), program);
}

TEST(Slices, AModelWithThemIsEqualUncutAndCut) {
  WorkerPool pool(2);
  for (const Dims& partition : {Dims{1, 2, 1, 1, 1}, Dims{1, 2, 2, 3, 1}, Dims{2, 1, 4, 1, 1}}) {
    const EquivalenceReport report =
        check_equivalence({.factory = deep_model, .cut = {.mesh = {.partition = partition}}}, pool);
    EXPECT_TRUE(report.equal()) << to_string(partition) << " " << report.first_difference->layer << " "
                                << report.first_difference->what;
    EXPECT_GT(report.bit_equal, report.layers / 2);
  }
}

}  // namespace
}  // namespace voxshard
