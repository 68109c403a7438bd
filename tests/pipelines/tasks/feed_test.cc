// The bytes of a step's samples, counted by hand.
#include "pipelines/tasks/table/task_table.h"

#include <gtest/gtest.h>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

Feed fed(const ModelSpec& spec, const Shape& extents, bool with_gradient = false) {
  Graph graph = build_graph(spec, extents, Phase::kTrain, spec.precision);
  if (with_gradient) graph = step_graph(graph, op_table(), Recompute::kNone);
  return feed_of(graph, task_of(task_table(), spec).records());
}

TEST(Feed, AVolumeIsItsImageAndOneHotLabelsInF32) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 2, .depth = 2};  // 1 channel, 3 classes
  for (bool with_gradient : {false, true}) {
    const Feed feed = fed(spec, {2, 8, 6, 4}, with_gradient);
    EXPECT_EQ(feed.record_bytes, 16.0 * 2 * 8 * 6 * 4);
    EXPECT_EQ(feed.transfer_bytes, feed.record_bytes);
    EXPECT_EQ(feed.input_bytes, (2 + 4) * 2.0 * 8 * 6 * 4) << "here a bf16 image and i32 labels are written";
  }
}

TEST(Feed, AImageIsBf16PixelsAndTheTargetsOfEachAnchor) {
  ModelSpec spec = retinanet_spec({.backbone = Backbone::kResNet18, .classes = 3, .filters = 4, .pyramid_filters = 8});
  const double cells = 16 * 8 + 8 * 4 + 4 * 2 + 2 * 1 + 1 * 1, targets = cells * 9 * 20;
  for (DType precision : {DType::kBF16, DType::kF32}) {
    spec.precision = precision;
    const Feed feed = fed(spec, {2, 128, 64});
    EXPECT_EQ(feed.record_bytes, 2 * 128.0 * 64 * 3) << "JPEG is unpacked by the rule of gzip: the bytes that come out";
    EXPECT_EQ(feed.transfer_bytes, 2 * (128.0 * 64 * 6 + targets));
    EXPECT_EQ(feed.input_bytes, 2 * (128.0 * 64 * 3 * static_cast<double>(dtype_bytes(precision)) + targets));
  }
}

}  // namespace
}  // namespace voxshard
