// The files of a segmentation: which classes each has, by the frames of each class.
#include "io/dicom_out/segment_parts.h"

#include <gmock/gmock.h>

namespace voxshard {
namespace {

using testing::ElementsAre;

TEST(SegmentParts, AreOneFileUnlessItHasTooManyFrames) {
  EXPECT_THAT(segment_parts({0, 200, 0, 200}, 1), ElementsAre(whole_segmentation(4)));
  EXPECT_THAT(segment_parts({0, 200, 1, 200}, 0), ElementsAre(whole_segmentation(4)));
  EXPECT_THAT(segment_parts({0, 200, 1, 200}, 2), ElementsAre(SegmentPart{1, 2, 1, 2}, SegmentPart{3, 3, 2, 2}));
  EXPECT_THAT(segment_parts({0, 500}, 9), ElementsAre(SegmentPart{1, 1, 1, 9})) << "a class is never split";
  EXPECT_THAT(segment_parts({0}, 3), ElementsAre(whole_segmentation(1)));
  EXPECT_THAT(segment_parts({0, 401, 1}, SIZE_MAX / 4), ElementsAre(SegmentPart{1, 2, 1, SIZE_MAX / 4}));
}

TEST(SegmentParts, FilesWithoutAFrameAreNotCounted) {
  EXPECT_THAT(segment_parts({0, 300, 0, 0, 0, 0, 300}, 2),
              ElementsAre(SegmentPart{1, 2, 1, 2}, SegmentPart{5, 6, 2, 2}));
}

TEST(SegmentParts, NumberSegmentsFromOneInEachFile) {
  const SegmentPart part{5, 6, 2, 2};
  EXPECT_EQ(part.segment(5), 1u);
  EXPECT_EQ(part.segment(6), 2u);
  EXPECT_TRUE(part.holds(5) && part.holds(6));
  EXPECT_FALSE(part.holds(4) || part.holds(7));
  EXPECT_EQ(part.ending(), ".seg.2.dcm");
  EXPECT_EQ(whole_segmentation(7).ending(), ".seg.dcm");
  EXPECT_EQ(frames_of(part, {0, 1, 2, 3, 4, 5, 6}), 11);
}

}  // namespace
}  // namespace voxshard
