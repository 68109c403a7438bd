// What the original's hosts bring to the cores, counted by hand.
#include "pipelines/commands/task_table.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(OriginalFeed, AVolumeIsItsImageAndOneHotLabelsInF32) {
  ModelSpec spec;  // 1 channel, 3 classes
  const Feed feed = task_of(task_table(), spec).feed(spec, {2, 8, 6, 4});
  EXPECT_EQ(feed.record_bytes, 16.0 * 2 * 8 * 6 * 4);
  EXPECT_EQ(feed.transfer_bytes, feed.record_bytes);
}

TEST(OriginalFeed, APictureIsBf16PixelsAndTheTargetsOfEachAnchor) {
  const Feed feed = task_of(task_table(), retinanet_spec({})).feed(retinanet_spec({}), {2, 128, 64});
  EXPECT_EQ(feed.record_bytes, 0) << "no records to inflate";
  const double cells = 16 * 8 + 8 * 4 + 4 * 2 + 2 * 1 + 1 * 1;
  EXPECT_EQ(feed.transfer_bytes, 2 * (128.0 * 64 * 6 + cells * 9 * 20));
}

}  // namespace
}  // namespace voxshard
