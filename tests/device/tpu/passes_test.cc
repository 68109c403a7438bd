// The passes that a cut adds on a TPU, each by hand; none where nothing is cut; what fusion and the layout of products
// save and cost.
#include "libcore/device/tpu/halo_passes.h"

#include <fstream>
#include <map>

#include "libcore/device/tpu/product_layout.h"
#include "pipelines/emulation/explain_passes.h"
#include "pipelines/profile/device_files.h"
#include "pipelines/profile/trace_json.h"
#include "tests/device/tpu/tpu_scene.h"
#include "tests/partition/partition_scene.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using namespace test;

constexpr double kPassRate = 50e9, kPassDispatch = 1e-6;  // of the toy

/// image -> twice (element by element) -> convolution over it, a loss-like sum and the gradient of the weights.
Graph layered_graph(const Shape& image) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("image", {DType::kF32, image});
  const ValueId d_y = b.input("d_y", {DType::kF32, {image[0], image[1], image[2], 128}});
  const Window window = same_window(image, 3);
  const ValueId w = b.parameter("kernel", {DType::kF32, {3, 3, image.back(), 128}});
  const ValueId twice = b.op("scale", {x}, ScaleAttrs{.by = 2}, "twice");
  graph.outputs["y"] = b.op("conv", {twice, w}, ConvAttrs{.window = window}, "conv");
  graph.outputs["d_w"] = b.op("conv_weight_grad", {twice, d_y}, ConvWeightGradAttrs{.window = window}, "d_w");
  return graph;
}

struct Priced {
  Program program;
  StepPrice step;

  Priced(const Graph& graph, const Dims& grid, std::int64_t replicas = 1, const TpuSpec& device = toy_device())
      : program(cut(graph, grid, replicas)), step(price_step(program, op_table(), device, {})) {}
  const InstructionPrice& of(const std::string& name) const {
    return step.instructions.at(index_of(program, InstructionKind::kCompute, name));
  }
};

std::vector<Pass::Kind> kinds_of(const InstructionPrice& price) {
  std::vector<Pass::Kind> kinds;
  for (const Pass& pass : price.passes) kinds.push_back(pass.kind);
  return kinds;
}

using enum Pass::Kind;
using Kinds = std::vector<Pass::Kind>;

TEST(ProductLayout, SamplesOrChannelsAreInTheLanes) {
  EXPECT_EQ(product_elements({8, 80, 160, 256}), 8.0 * 80 * 160 * 256);
  EXPECT_EQ(product_elements({4, 16, 256, 256, 32}),
            8.0 * 16 * 256 * 256 * 128);                           // half the sublanes, a quarter of the lanes
  EXPECT_EQ(product_elements({128, 9, 9, 8}), 128.0 * 9 * 9 * 8);  // samples in the lanes
  EXPECT_EQ(product_elements({3, 5}), 8.0 * 128) << "no activation: the smallest tiles";
  EXPECT_EQ(product_elements({4, 0, 9, 8}), 0);
}

TEST(ProductLayout, MoreIsNeverLess) {
  for (std::int64_t n : {1, 8, 9, 127, 128})
    for (std::int64_t c : {1, 8, 64, 128, 129}) {
      const double here = product_elements({n, 4, 4, c});
      EXPECT_GE(here, static_cast<double>(n * 16 * c));
      EXPECT_GE(product_elements({n + 1, 4, 4, c}), here);
      EXPECT_GE(product_elements({n, 4, 4, c + 1}), here);
      EXPECT_GT(product_elements({n, 5, 4, c}), here);
    }
}

TEST(Fusion, AnElementByElementValueIsMadeByItsReaders) {
  const Priced one(layered_graph({8, 16, 16, 128}), {1, 1, 1, 1});
  EXPECT_EQ(one.of("twice").slowest.seconds(), 0);
  const double tensor = 4.0 * 8 * 16 * 16 * 128, weights = 4.0 * 3 * 8 * 128 * 128 * 3 / 8;
  EXPECT_NEAR(one.of("conv").slowest.memory_s, (2 * tensor + weights) / 100e9, 1e-12) << "it reads the image instead";
}

TEST(Fusion, IsLostWhereEdgesAreSent) {
  const Priced two(layered_graph({8, 16, 16, 128}), {1, 2, 1, 1});
  const InstructionPrice& twice = two.of("twice");
  ASSERT_EQ(kinds_of(twice), (Kinds{kMaterialise}));
  EXPECT_DOUBLE_EQ(twice.passes[0].bytes, 2 * 4.0 * 8 * 8 * 16 * 128) << "a half is read and written";
  EXPECT_DOUBLE_EQ(twice.passes[0].seconds, twice.passes[0].bytes / kPassRate + kPassDispatch);
  EXPECT_EQ(twice.slowest.memory_s, 0);
}

TEST(Fusion, ReadsNoMoreTensorsThanTheDeviceSays) {
  TpuSpec none = toy_device();
  none.fused_tensors = 0;
  EXPECT_EQ(Priced(layered_graph({8, 16, 16, 128}), {1, 1, 1, 1}).of("twice").slowest.seconds(), 0);
  EXPECT_GT(Priced(layered_graph({8, 16, 16, 128}), {1, 1, 1, 1}, 1, none).of("twice").slowest.memory_s, 0);
}

TEST(HaloPasses, NoneOnUncutProgramsAndOnReplicas) {
  for (std::int64_t replicas : {1, 8}) {
    const Priced priced(layered_graph({8, 16, 16, 128}), {1, 1, 1, 1}, replicas);
    EXPECT_EQ(priced.step.busy.pass_s, 0);
    for (const InstructionPrice& price : priced.step.instructions) EXPECT_TRUE(price.passes.empty());
    for (const PassSum& sum : pass_sums(priced.step)) EXPECT_EQ(sum.count, 0);
    EXPECT_EQ(passes_text(priced.program, priced.step, "toy").substr(0, 9), "no passes");
  }
}

TEST(HaloPasses, ConcatAndMaskOfASamePaddedConvolutionByHand) {
  const Priced two(layered_graph({8, 16, 16, 128}), {1, 2, 1, 1});
  const InstructionPrice& conv = two.of("conv");
  ASSERT_EQ(kinds_of(conv), (Kinds{kConcat, kMask}));
  const double plane = 4.0 * 8 * 16 * 128;  // bytes; 8 planes a core, one more at either end
  EXPECT_DOUBLE_EQ(conv.passes[0].bytes, (8 + 10) * plane);
  EXPECT_DOUBLE_EQ(conv.passes[1].bytes, (10 + 10) * plane);
  EXPECT_DOUBLE_EQ(conv.slowest.pass_s, 38 * plane / kPassRate + 2 * kPassDispatch);
  EXPECT_EQ(conv.passes[0].axis, 1);
  EXPECT_EQ(two.program.graph.node(conv.passes[0].operand).name, "twice");
}

TEST(HaloPasses, TheSecondAxisCopiesWhatTheFirstLeft) {
  const Priced four(layered_graph({8, 16, 16, 128}), {1, 2, 2, 1});
  const InstructionPrice& conv = four.of("conv");
  ASSERT_EQ(kinds_of(conv), (Kinds{kConcat, kMask, kConcat, kMask}));
  const double voxel = 4.0 * 8 * 128;
  EXPECT_DOUBLE_EQ(conv.passes[0].bytes, (8 * 8 + 10 * 8) * voxel);
  EXPECT_DOUBLE_EQ(conv.passes[1].bytes, 2 * 10 * 8 * voxel);
  EXPECT_DOUBLE_EQ(conv.passes[2].bytes, (10 * 8 + 10 * 10) * voxel);
  EXPECT_DOUBLE_EQ(conv.passes[3].bytes, 2 * 10 * 10 * voxel);
}

TEST(HaloPasses, TheGradientOfWeightsBringsEdgesOfTheResultAndMultipliesThem) {
  const Priced two(layered_graph({8, 16, 16, 128}), {1, 2, 1, 1});
  const InstructionPrice& gradient = two.of("d_w");
  ASSERT_EQ(kinds_of(gradient), (Kinds{kWindow, kConcat, kMask}));
  EXPECT_DOUBLE_EQ(gradient.passes[0].seconds, 2.0 / 8 * gradient.slowest.matrix_s);
  EXPECT_EQ(gradient.passes[0].bytes, 0);
  EXPECT_EQ(two.program.graph.node(gradient.passes[1].operand).name, "d_y");
  EXPECT_DOUBLE_EQ(gradient.passes[1].bytes, (8 + 10) * 4.0 * 8 * 16 * 128);
}

TEST(HaloPasses, WhereStridesMakeEdgesUnequalTheWindowIsSlicedOut) {
  // 10 planes in parts of 5: windows of 3 with stride 2 need -0:5 + 1 of the first half (plane 5), 6:10 + 1 of the
  // second.
  const Priced even(conv_graph({8, 16, 16, 128}, 3), {1, 2, 1, 1}),
      strided(conv_graph({8, 10, 10, 128}, 3, 2), {1, 2, 1, 1});
  EXPECT_EQ(kinds_of(even.of("conv")), (Kinds{kConcat, kMask}));
  EXPECT_EQ(kinds_of(strided.of("conv")), (Kinds{kConcat, kSlice, kMask}));
}

TEST(HaloPasses, KernelsThatStayInTheirPartNeedNone) {
  const Priced pointwise(conv_graph({8, 16, 16, 128}, 1), {1, 2, 2, 1}),
      pooled(conv_graph({8, 16, 16, 128}, 2, 2), {1, 2, 2, 1});
  EXPECT_TRUE(pointwise.of("conv").passes.empty());
  EXPECT_TRUE(pooled.of("conv").passes.empty());
}

TEST(HaloPasses, ATensorThatTwoLikeOpsReadIsBroughtOnce) {
  Graph graph = layered_graph({8, 16, 16, 128});
  Builder b(graph, op_table());
  graph.outputs["z"] = b.op("conv", {graph.find("twice"), graph.find("kernel")},
                            ConvAttrs{.window = same_window({8, 16, 16, 128}, 3)}, "again");
  const Priced two(graph, {1, 2, 1, 1});
  EXPECT_EQ(two.of("conv").passes.size(), 2u);
  EXPECT_TRUE(two.of("again").passes.empty());
}

TEST(HaloPasses, WiderWindowsAndSlowerPassesAreDearerAndHalfAPartIsMoreThanHalfTheWork) {
  const auto seconds = [](std::int64_t kernel, std::int64_t ways, const TpuSpec& device) {
    return Priced(conv_graph({8, 64, 16, 128}, kernel), {1, ways, 1, 1}, 1, device).of("conv").slowest.pass_s;
  };
  const TpuSpec toy = toy_device();
  TpuSpec slower = toy;
  slower.pass_bytes_s /= 2;
  for (std::int64_t ways : {2, 4, 8, 16}) {
    const double now = seconds(3, ways, toy);
    EXPECT_GT(seconds(5, ways, toy), now) << ways;
    EXPECT_GT(seconds(3, ways, slower), now) << ways;
    if (ways == 2) continue;
    EXPECT_LT(now, seconds(3, ways / 2, toy)) << ways;
    EXPECT_GT(2 * now, seconds(3, ways / 2, toy)) << ways << ": the edges stay as wide";
  }
}

TEST(HaloPasses, UnmaskedPaddingLeavesTheMasksOfUnevenParts) {
  TpuSpec unmasked = toy_device();
  unmasked.masks_padding = false;
  EXPECT_EQ(kinds_of(Priced(conv_graph({8, 16, 16, 128}, 3), {1, 2, 1, 1}, 1, unmasked).of("conv")), (Kinds{kConcat}));
  const Kinds uneven = kinds_of(Priced(conv_graph({8, 15, 16, 128}, 3), {1, 2, 1, 1}, 1, unmasked).of("conv"));
  EXPECT_EQ(std::count(uneven.begin(), uneven.end(), kMask), 1);
}

TEST(HaloPasses, AreToldPassByPassAndInAll) {
  const Priced two(layered_graph({8, 16, 16, 128}), {1, 2, 1, 1});
  const std::string text = passes_text(two.program, two.step, "toy");
  for (const char* piece : {"materialise", "concat", "mask", "window", "twice", "of the cores of toy"})
    EXPECT_THAT(text, testing::HasSubstr(piece));
  double seconds = 0;
  for (const PassSum& sum : pass_sums(two.step)) seconds += sum.seconds;
  EXPECT_NEAR(seconds, two.step.busy.pass_s, 1e-15);
}

TEST(HaloPasses, StandInFrontOfTheirInstructionInAProfile) {
  const Scene scene("passes_profile");
  const Graph graph = layered_graph({8, 16, 16, 128});
  const Program two = cut(graph, {1, 2, 1, 1}), one = cut(graph, {1, 1, 1, 1});
  for (const Program* program : {&two, &one}) {
    TraceFile trace({.file = scene.path("passes.json"), .device = device_from_name("tpu-v3").device}, 1);
    trace.price(*program, op_table(), {});
    trace.write();
    std::ifstream in(scene.path("passes.json"));
    std::map<std::string, std::pair<double, double>> spans;  // of core 0, microseconds
    const Json json = Json::parse(in);
    for (const auto& event : json.at("traceEvents"))
      if (event.contains("cat") && event.at("args").value("core", -1) == 0)
        spans[event.at("cat").get<std::string>() + ": " + event.at("name").get<std::string>()] = {event.at("ts"),
                                                                                                  event.at("dur")};
    std::string names;
    for (const auto& [name, span] : spans) names += name + "\n";
    ASSERT_EQ(spans.contains("passes: concat for conv"), program == &two) << names;
    if (program != &two) continue;
    const auto concat = spans.at("passes: concat for conv"), mask = spans.at("passes: mask for conv"),
               products = spans.at("matrix unit: conv");
    EXPECT_NEAR(concat.first + concat.second, mask.first, 0.01);
    EXPECT_NEAR(mask.first + mask.second, products.first, 0.01);
  }
}

}  // namespace
}  // namespace voxshard
