// Addresses of the channels of a file, and names of files of one channel.
#include "io/files/channel_address.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

TEST(ChannelAddress, IsReadBack) {
  const auto address = channel_in(channel_address("data/a b.nii.gz", 2, 11));
  ASSERT_TRUE(address);
  EXPECT_EQ(address->file, "data/a b.nii.gz");
  EXPECT_EQ(address->channel, 2);
  EXPECT_EQ(address->channels, 11);
  EXPECT_EQ(file_of_channel("data/a.nii#channel=0of2"), "data/a.nii");
}

TEST(ChannelAddress, EveryOtherPathIsNone) {
  for (const char* path : {"a.nii", "#channel=0of2", "a#channel=", "a#channel=1", "a#channel=of2", "a#channel=2of2",
                           "a#channel=-1of2", "a#channel=1of", "a#channel=0x1of2", "a#channel=0of99999",
                           "a#channel=0of2/b.nii", "a#channel=0of2x", "a#channel=99999999999999999999of2"}) {
    EXPECT_FALSE(channel_in(path)) << path;
    EXPECT_EQ(file_of_channel(path), path);
  }
}

TEST(ChannelAddress, StemsOfOneChannelHaveFourDigits) {
  EXPECT_EQ(channel_suffix(1), "_0001");
  const auto stem = channel_of_stem("liver_03_0012");
  ASSERT_TRUE(stem);
  EXPECT_EQ(stem->id, "liver_03");
  EXPECT_EQ(stem->channel, 12U);
  for (const char* other : {"liver_03", "_0001", "a_00x1", "a_-001", "a0001", ""}) EXPECT_FALSE(channel_of_stem(other));
}

}  // namespace
}  // namespace voxshard
