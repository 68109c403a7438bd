// Phantoms of a given size: every voxel and pixel is one of the phantom that they show.
#include "pipelines/phantoms/sized_phantoms.h"

#include <gtest/gtest.h>

#include "pipelines/phantoms/detection_phantom.h"
#include "pipelines/phantoms/phantom.h"

namespace voxshard {
namespace {

TEST(SizedPhantoms, AVolumeHasTheSizeAndTheSpacingAndTheAnatomy) {
  const Volume small = phantom_of_size(0, {12, 10, 8}, {2, 2, 3});
  EXPECT_EQ(small.voxels.shape(), (Shape{8, 10, 12}));
  EXPECT_EQ(small.geometry.spacing, (std::array<double, 3>{2, 2, 3}));
  const Volume whole = make_phantom({}).image;
  const Volume same = phantom_of_size(0, whole.geometry.size, {1, 1, 1});
  for (std::int64_t i = 0; i < whole.voxels.count(); ++i)
    ASSERT_EQ(same.voxels.as<float>()[i], whole.voxels.as<float>()[i]) << i;
}

TEST(SizedPhantoms, APictureHasTheSizeAndTheTissue) {
  const Tensor whole = make_detection_phantom({}).pixels;
  const Tensor same = picture_of_size(whole.shape()[0], whole.shape()[1]);
  EXPECT_TRUE(std::equal(whole.as<std::uint8_t>(), whole.as<std::uint8_t>() + whole.count(), same.as<std::uint8_t>()));
  EXPECT_EQ(picture_of_size(1, 3).shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(picture_of_size(500, 400).shape(), (Shape{500, 400, 3}));
}

}  // namespace
}  // namespace voxshard
