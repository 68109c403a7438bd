// An op and a model that are defined outside of the engine: rows of a table that is passed in, cut and differentiated
// like the engine's own.
//
//   forward_difference {x}: y[d] = x[d + 1] - x[d] along the first spatial axis, x = 0 beyond the end: a halo of one
//   plane
#include <gtest/gtest.h>

#include "libcore/check/equivalence.h"
#include "libcore/models/layers.h"
#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

TensorType same_type(const Attributes&, std::span<const TensorType> in) { return in[0]; }

Box with_the_next(const OpContext&, int, const Box& it) {
  Box box = it;
  box.set(1, it.begin[1], it.end(1) + 1);
  return box;
}

Box with_the_one_before(const OpContext&, int, const Box& it) {
  Box box = it;
  box.set(1, it.begin[1] - 1, it.end(1));
  return box;
}

/// Returns the kernel of out[d] = sign * (in[d + step] - in[d]).
std::unique_ptr<Kernel> difference(int step, double sign) {
  return std::make_unique<FunctionKernel>([=](const KernelCall& c) {
    for_each_row(c.output.box, [&](const Dims& at) {
      Dims other = at;
      other[1] += step;
      const std::int64_t here = offset_at(c.inputs[0], at), there = offset_at(c.inputs[0], other),
                         to = offset_at(c.output, at);
      for (std::int64_t k = 0; k < row_count(c.output.box); ++k)
        store(c.output, to + k, sign * (load(c.inputs[0], there + k) - load(c.inputs[0], here + k)));
    });
  });
}

OpTable table_with_toys() {
  OpTable table = op_table();
  table.add({.name = "forward_difference",
             .infer = same_type,
             .needed = with_the_next,
             .differentiate =
                 [](GradientContext& g) {
                   g.d_inputs[0] = g.builder.op("forward_difference_grad", {g.d_result}, {}, "grad/" + g.node.name);
                 },
             .kernel = [](const OpContext&, KernelSet) { return difference(1, 1); }});
  table.add({.name = "forward_difference_grad",  // d_x[d] = d_y[d - 1] - d_y[d]
             .infer = same_type,
             .needed = with_the_one_before,
             .kernel = [](const OpContext&, KernelSet) { return difference(-1, 1); }});
  return table;
}

Graph toy_model(DType dtype, const OpTable& ops) {
  Graph graph;
  Builder b(graph, ops);
  Layers layers(b, {.dtype = dtype, .norm = {.kind = NormKind::kBatch}});
  const ValueId image = b.input("image", {dtype, {2, 9, 8, 7, 1}}, input::Image{});
  ValueId x = layers.norm_activation(layers.conv(image, {.name = "stem", .filters = 4}), "stem");
  x = b.op("forward_difference", {x}, {}, "edges");
  const ValueId logits = layers.conv(x, {.name = "head", .filters = 3, .kernel = 1, .f32_result = true});
  const ValueId labels = b.input("labels", {DType::kI32, {2, 9, 8, 7, 1}}, input::Labels{.classes = 3});
  const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy, .batch = 2, .dtype = dtype};
  const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "loss/sums");
  graph.outputs["logits"] = logits;
  graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
  return graph;
}

TEST(ToyOp, AModelWithItIsEqualUncutAndCut) {
  const OpTable ops = table_with_toys();
  WorkerPool pool(2);
  for (const Dims& partition : {Dims{1, 2, 1, 1, 1}, Dims{1, 4, 2, 1, 1}, Dims{2, 3, 1, 2, 1}, Dims{1, 9, 1, 1, 1}}) {
    const EquivalenceReport report = check_equivalence({.ops = ops,
                                                        .factory = [&](DType dtype) { return toy_model(dtype, ops); },
                                                        .cut = {.mesh = {.partition = partition}}},
                                                       pool);
    EXPECT_TRUE(report.equal()) << to_string(partition) << " " << report.first_difference->layer;
    EXPECT_GT(report.bit_equal, report.layers / 2);
  }
}

TEST(ToyOp, ItsHaloIsExchanged) {
  const OpTable ops = table_with_toys();
  const Executable e = lower(toy_model(DType::kF32, ops), ops, {.mesh = {.partition = {1, 3, 1, 1, 1}}}, {});
  const ValueId read = e.program.graph.find("stem/norm");
  ASSERT_NE(read, kNoValue);
  EXPECT_EQ(e.program.plan(read).held[0].extent[1], e.program.plan(read).own[0].extent[1] + 1);
  EXPECT_EQ(e.program.plan(read).held[1].begin[1], e.program.plan(read).own[1].begin[1]) << "nothing below is needed";
}

}  // namespace
}  // namespace voxshard
