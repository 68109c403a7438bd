#include "tests/check/faults/scenes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "libcore/kernels/conv_table.h"
#include "libcore/models/classifier.h"
#include "libcore/models/unet.h"

namespace voxshard::test {
namespace {

constexpr std::string_view kPlane = "last plane of ";
constexpr const char* kOpOfPass[] = {"conv", "conv_input_grad", "conv_weight_grad"};  // in the order of ConvPass

/// True when the fault is planted at this place: of the missing planes along D, H and W one per place, in turn.
bool is_this_turn(std::string_view fault, Breadth breadth, std::size_t place) {
  if (breadth == Breadth::kTwoOfAKind || !fault.starts_with(kPlane)) return true;
  return fault[kPlane.size()] == "DHW"[place % 3];
}

void print(const PlantedRow& row) {
  std::printf("| %s | %s | %s | %s | %s | %.3g |\n", row.kernel.c_str(), row.pass.c_str(), row.size.c_str(),
              row.fault.c_str(), row.found.empty() ? "NOT FOUND" : row.found.c_str(), row.ratio);
}

void expect_planted(const std::set<KernelUse>& planted, const std::set<KernelUse>& expected) {
  for (const KernelUse& use : expected) {
    const auto& [kernel, op, window] = use;
    EXPECT_TRUE(planted.contains(use)) << "no fault was planted in " << op << " of " << to_string(window) << " by "
                                       << kConvKernelNames[static_cast<std::size_t>(kernel)];
  }
  for (const char* op : kOpOfPass)
    EXPECT_TRUE(std::ranges::any_of(planted, [&](const KernelUse& one) { return std::get<std::string>(one) == op; }))
        << "no fault was planted in any " << op;
}

}  // namespace

Graph reference_unet(DType dtype) { return build_unet({}, {.size = {32, 32, 32}, .dtype = dtype}, op_table()); }

FaultSceneOptions reference_unet_scene(DType dtype) { return {.factory = reference_unet, .dtype = dtype}; }

FaultSceneOptions layer_scene(std::int64_t channels, std::int64_t size, DType dtype, ConvKernel kernel) {
  const auto factory = [=](DType type) {
    Graph graph;
    Builder b(graph, op_table());
    Layers layers(b, {.dtype = type});
    const Shape image{1, size, size, size, channels};
    ValueId x = b.input("image", {type, image}, input::Image{});
    x = layers.norm_activation(x, "before");
    x = layers.norm_activation(layers.conv(x, {.name = "conv", .filters = channels}), "conv");
    x = layers.upsample(layers.max_pool(x, "pool"), x, "up");
    const ValueId logits = layers.conv(x, {.name = "head", .filters = 3, .kernel = 1, .f32_result = true});
    const ValueId labels = b.input("labels", {DType::kI32, {1, size, size, size, 1}}, input::Labels{.classes = 3});
    const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy, .dtype = type};
    const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "loss/sums");
    graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
    return graph;
  };
  return {.factory = factory, .dtype = dtype, .kernel = kernel};
}

std::set<KernelUse> uses_of_layer(std::int64_t channels, std::int64_t size, DType dtype, ConvKernel kernel) {
  const Dims one = Dims::filled(3, 1);
  std::set<KernelUse> found;
  for (const ConvRow& row : conv_rows()) {
    const ConvUse use{.pass = row.pass,
                      .window = {.kernel = {3, 3, 3}, .stride = one, .dilation = one, .pad_lo = one, .pad_hi = one},
                      .weights = {3, 3, 3, channels, channels},
                      .over = {1, size, size, size, channels},
                      .dtype = dtype};
    if (row.kernel == kernel && row.runs(use) && conv_is_trusted(row))
      found.emplace(kernel, kOpOfPass[static_cast<std::size_t>(row.pass)], use.window.kernel);
  }
  return found;
}

FaultSceneOptions mean_scene(DType dtype) {
  const auto factory = [](DType type) {
    const GraphOptions options{.batch = 2, .size = {16, 16, 20}, .dtype = type};
    Graph graph;
    Builder b(graph, op_table());
    Layers layers(b, {.dtype = type});
    const ValueId x = layers.norm_activation(image_input(b, options, 32), "before");
    add_class_head(b, layers, x, {.classes = 3}, options);
    return graph;
  };
  return {.factory = factory, .dtype = dtype};
}

void expect_all_found(FaultScene& scene, Breadth breadth, std::set<KernelUse> expected) {
  std::printf("| kernel | pass | size | fault | found at | times what is allowed |\n|---|---|---|---|---|---|\n");
  std::set<KernelUse> planted_in;
  const std::vector<ValueId> places = scene.places(breadth == Breadth::kTwoOfAKind ? 2 : 1);
  for (std::size_t place = 0; place < places.size(); ++place) {
    const ValueId id = places[place];
    const PlantedRow sound = scene.row(id);
    const LayerReport report = scene.check(id);
    EXPECT_FALSE(report.first_difference) << sound.layer << " without a fault: " << report.first_difference->difference
                                          << ", allowed " << report.first_difference->tolerance;
    for (const Fault& fault : faults()) {
      if (!is_this_turn(fault.name, breadth, place)) continue;
      const std::optional<PlantedRow> planted = scene.plant(id, fault);
      if (!planted) continue;
      planted_in.insert(scene.use(id));
      print(*planted);
      EXPECT_TRUE(planted->changed) << "the damage damaged nothing: " << sound.layer << ", " << fault.name;
      EXPECT_EQ(planted->found, sound.layer) << sound.kernel << ", " << sound.pass << ", " << fault.name;
    }
  }
  expected.merge(scene.uses());
  expect_planted(planted_in, expected);
}

EquivalenceOptions::Lower without_a_share(const std::string& layer, std::size_t core, bool& had_a_share) {
  return [layer, core, &had_a_share](const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
    Lowered lowered{
        .program = partition(choose_kernels(step_graph(graph, ops, cut.recompute), ops, cut.convolution), ops, cut)};
    for (Instruction& instruction : lowered.program.instructions)
      if (instruction.kind == InstructionKind::kCompute &&
          lowered.program.graph.node(instruction.value).name == layer) {
        had_a_share = !instruction.blocks[core].empty();
        instruction.blocks[core].clear();
      }
    lowered.memory = plan_memory(lowered.program, ops, {});
    return make_executable(std::move(lowered), ops, target);
  };
}

}  // namespace voxshard::test
