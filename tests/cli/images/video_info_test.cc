// voxshard info on videos, as users call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

std::string videos() {
  const char* env = std::getenv("VOXSHARD_TEST_DATA");
  return (env ? std::string(env) : std::string(VOXSHARD_SOURCE_DIR "/../shared/data")) + "/video/";
}

class VideoInfoCli : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(videos())) GTEST_SKIP() << "no test data at " << videos();
  }
};

TEST_F(VideoInfoCli, TellsFramesTimesAndFormatFromTheStream) {
  const CommandResult r = run_voxshard("info " + videos() + "decord_apache2/video_90.mov --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto video = r.json().at("videos").at(0);
  EXPECT_EQ(video.at("codec"), "h264");
  EXPECT_EQ(video.at("rotation_degrees"), 90);
  EXPECT_EQ(video.at("width"), video.at("stored_height"));
  EXPECT_EQ(video.at("pixel_format"), "yuv420p");
  EXPECT_EQ(video.at("frames_counted_by"), "decoding");
  EXPECT_EQ(video.at("first_pts_ticks"), 0);
}

TEST_F(VideoInfoCli, CountsWhatDecodesUnlessItShallBeQuick) {
  const std::string file = videos() + "opencv_apache2/tree.avi --json";
  const auto counted = run_voxshard("info " + file).json().at("videos").at(0);
  EXPECT_EQ(counted.at("frames"), 68);
  EXPECT_EQ(counted.at("header_frames"), 444);
  EXPECT_FALSE(counted.at("notes").empty());
  EXPECT_EQ(run_voxshard("info --quick " + file).json().at("videos").at(0).at("frames_counted_by"), "packets");
}

TEST_F(VideoInfoCli, PrintsOneBlockPerVideo) {
  const CommandResult r = run_voxshard("info " + videos() + "decord_apache2/video_90.mov");
  EXPECT_THAT(r.out, HasSubstr("turned 90 degrees clockwise"));
  EXPECT_THAT(r.out, HasSubstr("counted by decoding"));
  EXPECT_THAT(r.out, HasSubstr("frames per second"));
}

TEST_F(VideoInfoCli, ABrokenVideoOfAFolderCostsOnlyItself) {
  Folder folder("video_info");
  std::filesystem::copy_file(videos() + "datumaro_mit/video.avi", folder / "good.avi");
  folder.write("broken.mp4", "no video at all");
  const CommandResult r = run_voxshard("info " + (folder / "") + " --json");
  EXPECT_EQ(r.exit_code, 8);
  EXPECT_EQ(r.json().at("folders").at(0).at("videos").size(), 1u);
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "broken.mp4");
}

TEST(VideoInfoErrors, AMissingVideoIsNamed) {
  const CommandResult r = run_voxshard("info nowhere.mp4 --json");
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(r.error_kind(), "input");
  EXPECT_THAT(r.err, HasSubstr("nowhere.mp4: no such file"));
}

}  // namespace
}  // namespace voxshard
