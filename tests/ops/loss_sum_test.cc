// Losses can be scaled and added: the gradients of a loss's inputs are linear in the gradient of the loss.
#include "libcore/graph/autodiff.h"
#include "tests/ops/op_harness.h"

namespace voxshard {
namespace {

using namespace test;

/// Losses of the same logits, conv(image, w).
struct Terms {
  Builder& b;
  ValueId logits, labels, boxes;

  ValueId segmentation(LossKind kind) const {
    const SegmentationAttrs attrs{.loss = kind, .groups = 2, .batch = 2, .dtype = b.type(logits).dtype};
    const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "sums");
    return b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
  }
  ValueId detection() const {
    const DetectionAttrs attrs{
        .batch = 2, .box_weight = 50, .alpha = 0.25, .gamma = 1.5, .delta = 0.5, .dtype = b.type(logits).dtype};
    const ValueId sums = b.op("detection_sums", {logits, labels, boxes, boxes}, attrs, "sums");
    return b.op("detection_loss", {sums, logits, labels, boxes, boxes}, attrs, "loss");
  }
  ValueId scaled(ValueId loss, double by) const { return b.op("scale", {loss}, ScaleAttrs{.by = by}, "scaled"); }
  ValueId sum(ValueId one, ValueId other) const { return b.op("add", {one, other}, {}, "both"); }
};

using BuildLoss = std::function<ValueId(const Terms&)>;

/// Returns d loss / d w, cut over two cores.
Tensor gradient(DType dtype, KernelSet set, const BuildLoss& build) {
  Graph graph;
  Builder b(graph, op_table());
  const Shape image{2, 5, 4, 3};
  const ValueId x = b.input("image", {dtype, image}), w = b.parameter("w", {dtype, {1, 1, 3, 4}});
  const ValueId logits = b.op("conv", {x, w}, ConvAttrs{.window = same(image, 1), .dtype = dtype}, "logits");
  const ValueId labels = b.input("labels", {DType::kI32, {2, 5, 4, 1}}),
                boxes = b.input("boxes", {dtype, {2, 5, 4, 4}});
  graph.outputs["loss"] = build({b, logits, labels, boxes});
  differentiate(b, graph.outputs["loss"]);
  for (const std::string& broken : verify(graph, op_table())) ADD_FAILURE() << broken;
  Parameters parameters{{"w", values_of({b.type(w), Role::kParameter, Values::kNormal}, 1)}};
  const Executable executable = lower(graph, op_table(), {.mesh = {.partition = {1, 2, 1, 1}}}, {.kernels = set});
  WorkerPool pool(1);
  InProcessTransport transport;
  CoreSet cores(executable, op_table(), parameters, pool, transport);
  const Graph& whole = executable.program.graph;
  for (ValueId id = 0; id < whole.size(); ++id) {
    const Node& node = whole.node(id);
    if (node.role != Role::kInput) continue;
    const Values values = node.name == "labels" ? Values::kLabels : Values::kNormal;
    const Tensor tensor = values_of({node.type, node.role, values, 4}, rng_stream(node.name));
    cores.feed(id, [&](const TensorView& box) { copy(tensor.view(), box); });
  }
  cores.run();
  return cores.gather(whole.gradients.at(w));
}

std::vector<BuildLoss> losses() {
  std::vector<BuildLoss> all;
  for (const LossKind kind : kLosses) all.push_back([kind](const Terms& t) { return t.segmentation(kind); });
  all.push_back([](const Terms& t) { return t.detection(); });
  return all;
}

TEST(ScaledLoss, GivesThatMuchOfTheGradient) {
  for (const BuildLoss& loss : losses())
    for (double by : {0.25, -2.0}) {  // powers of two: to the bit
      const Tensor whole = gradient(DType::kF32, KernelSet::kFast, loss);
      const Tensor part =
          gradient(DType::kF32, KernelSet::kFast, [&](const Terms& t) { return t.scaled(loss(t), by); });
      for (std::int64_t i = 0; i < whole.count(); ++i) EXPECT_EQ(load(part.view(), i), by * load(whole.view(), i)) << i;
    }
}

TEST(SumOfLosses, GivesTheSumOfTheGradients) {
  const Tensor one = gradient(DType::kF64, KernelSet::kReference, losses()[0]);
  for (std::size_t other = 1; other < losses().size(); ++other) {
    const Tensor two = gradient(DType::kF64, KernelSet::kReference, losses()[other]);
    const Tensor both = gradient(DType::kF64, KernelSet::kReference, [&](const Terms& t) {
      return t.sum(losses()[0](t), t.scaled(losses()[other](t), 0.3));
    });
    for (std::int64_t i = 0; i < both.count(); ++i)
      EXPECT_NEAR(load(both.view(), i), load(one.view(), i) + 0.3 * load(two.view(), i), 1e-12) << other << " at " << i;
  }
}

TEST(SumOfLosses, ALossTwiceGivesTwiceTheGradient) {
  const Tensor once = gradient(DType::kF32, KernelSet::kFast, losses()[0]);
  const Tensor twice = gradient(DType::kF32, KernelSet::kFast, [](const Terms& t) {
    const ValueId loss = losses()[0](t);
    return t.sum(loss, loss);
  });
  for (std::int64_t i = 0; i < once.count(); ++i) EXPECT_EQ(load(twice.view(), i), 2 * load(once.view(), i)) << i;
}

}  // namespace
}  // namespace voxshard
