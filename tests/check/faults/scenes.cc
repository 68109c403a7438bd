#include "tests/check/faults/scenes.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "libcore/models/unet.h"

namespace voxshard::test {
namespace {

constexpr std::string_view kPlane = "last plane of ";

/// True when the fault is planted at this place: of the missing planes along D, H and W one per place, in turn.
bool is_this_turn(std::string_view fault, Breadth breadth, std::size_t place) {
  if (breadth == Breadth::kTwoOfAKind || !fault.starts_with(kPlane)) return true;
  return fault[kPlane.size()] == "DHW"[place % 3];
}

void print(const PlantedRow& row) {
  std::printf("| %s | %s | %s | %s | %s | %.3g |\n", row.kernel.c_str(), row.pass.c_str(), row.size.c_str(),
              row.fault.c_str(), row.found.empty() ? "NOT FOUND" : row.found.c_str(), row.ratio);
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

void expect_all_found(FaultScene& scene, Breadth breadth) {
  std::printf("| kernel | pass | size | fault | found at | times what is allowed |\n|---|---|---|---|---|---|\n");
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
      print(*planted);
      EXPECT_TRUE(planted->changed) << "the damage damaged nothing: " << sound.layer << ", " << fault.name;
      EXPECT_EQ(planted->found, sound.layer) << sound.kernel << ", " << sound.pass << ", " << fault.name;
    }
  }
}

}  // namespace voxshard::test
