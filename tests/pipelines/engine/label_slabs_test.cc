// Steps over the slabs of a label map: in order, each sees what the one before wrote, and how a map is cut into slabs
// changes nothing.
#include "pipelines/engine/label_slabs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxshard {
namespace {

using testing::ElementsAre;

/// Adds to every label the largest label of the whole map.
struct AddsLargest : SlabStep {
  std::int32_t largest = 0;
  bool all_seen = false;
  std::vector<std::int64_t> seen_planes, rewritten_planes;

  void see(const TensorView& slab) override {
    for (std::int64_t d = 0; d < slab.extent()[0]; ++d) seen_planes.push_back(slab.box.begin[0] + d);
    for (std::int64_t i = 0; i < slab.count(); ++i) largest = std::max(largest, slab.as<std::int32_t>()[i]);
  }
  void seen() override { all_seen = true; }
  void rewrite(const TensorView& slab) override {
    EXPECT_TRUE(all_seen);
    for (std::int64_t d = 0; d < slab.extent()[0]; ++d) rewritten_planes.push_back(slab.box.begin[0] + d);
    for (std::int64_t i = 0; i < slab.count(); ++i) slab.as<std::int32_t>()[i] += largest;
  }
};

Tensor counted(const Shape& shape) {
  Tensor labels(DType::kI32, shape);
  for (std::int64_t i = 0; i < labels.count(); ++i) labels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  return labels;
}

TEST(LabelSlabs, EachStepSeesWhatTheOneBeforeWroteWhateverTheSlabs) {
  for (const std::int64_t planes : {1, 2, 3, 5, 0}) {
    Tensor labels = counted({5, 3, 2});  // labels 0 to 29
    LabelSlabs slabs = LabelSlabs::of(labels, planes);
    std::int64_t visits = 0;
    LabelSlabs watched{.for_each = [&](const auto& visit) {
      ++visits;
      slabs.for_each(visit);
    }};
    AddsLargest first, second;
    rewrite_slabs(watched, {&first, &second});
    EXPECT_EQ(first.largest, 29);
    EXPECT_EQ(second.largest, 58);
    EXPECT_EQ(labels.as<std::int32_t>()[0], 87) << planes;
    EXPECT_EQ(labels.as<std::int32_t>()[29], 116);
    EXPECT_EQ(visits, 3) << "one more than there are steps";
    EXPECT_THAT(first.seen_planes, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(second.rewritten_planes, ElementsAre(0, 1, 2, 3, 4));
  }
}

TEST(LabelSlabs, WithoutAStepNothingIsVisited) {
  bool visited = false;
  rewrite_slabs({.for_each = [&](const auto&) { visited = true; }}, {});
  EXPECT_FALSE(visited);
}

TEST(LabelSlabs, AnEmptyMapIsSeenByEachStep) {
  const Tensor none(DType::kI32, {0, 4, 4});
  AddsLargest step;
  rewrite_slabs(LabelSlabs::of(none), {&step});
  EXPECT_TRUE(step.all_seen);
  EXPECT_TRUE(step.seen_planes.empty());
}

}  // namespace
}  // namespace voxshard
