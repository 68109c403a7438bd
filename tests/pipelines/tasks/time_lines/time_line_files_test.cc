// Time lines as files: what is written is read back, files of other programs are refused.
#include "pipelines/tasks/time_lines/time_line_files.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kClasses = {"left", "a,\"b\""};

/// Returns ten frames, the first at tick 100, 40 ticks of 1/1000 s each but the fifth, which is 60.
VideoIndex ten_frames() {
  VideoIndex index{.time_base = {1, 1000}};
  for (std::int64_t i = 0; i < 10; ++i)
    index.frames.push_back({.pts_ticks = 100 + 40 * i + (i > 4 ? 20 : 0), .duration_ticks = 40, .keyframe = i == 0});
  return index;
}

struct Written : Scene {
  explicit Written(const std::string& name, bool complete = true) : Scene(name) {
    const VideoIndex index = ten_frames();
    TimeLinesWriter writer(time_line_files(path("found.json")), {{"task", "classification"}}, kClasses);
    writer.begin("a.mp4", index);
    TimeLineMaker maker;
    const std::vector<FrameSpan> spans = {{0, 4}, {4, 8}, {6, 10}};
    const std::vector<std::vector<double>> rows = {{0.75, 0.25}, {0.125, 0.875}, {0.25, 0.75}};
    for (std::size_t i = 0; i < spans.size(); ++i) writer.window({spans[i], rows[i]}), maker.add(spans[i], rows[i]);
    writer.end(maker.finish(), {.repeated = 1, .notes = {"odd"}});
    writer.begin("none.mp4", index);
    writer.end({}, {});
    writer.close(complete);
  }
  nlohmann::json json() const { return read_json(path("found.json")); }
};

TEST(TimeLineFiles, WhatIsWrittenIsRead) {
  const Written scene("time_lines_written");
  const auto json = scene.json();
  EXPECT_EQ(json.at("task"), "classification");
  ASSERT_EQ(json.at("predictions").size(), 1u) << "a video without a window is in no file";
  const auto& video = json.at("predictions")[0];
  EXPECT_EQ(video.at("class"), kClasses[1]);
  EXPECT_EQ(video.at("seconds"), 0.42);
  EXPECT_EQ(video.at("repeated_frames"), 1);
  EXPECT_EQ(video.at("windows")[1].at("pts"), (std::vector<int>{260, 440})) << "ticks are those of the stream";
  EXPECT_EQ(video.at("windows")[1].at("seconds"), (std::vector<double>{0.16, 0.34})) << "seconds after the first frame";
  EXPECT_EQ(video.at("windows")[2].at("pts")[1], 520) << "the last frame has its duration";
  const ReadTimeLine line = time_line_from_json(video, kClasses);
  ASSERT_EQ(line.windows.size(), 3u);
  EXPECT_EQ(line.windows[2].frames, (FrameSpan{6, 10}));
  EXPECT_THAT(line.windows[1].probabilities, ElementsAre(0.125, 0.875));
  ASSERT_EQ(line.intervals.size(), 2u);
  EXPECT_EQ(line.intervals[1].frames, (FrameSpan{4, 10}));
  EXPECT_EQ(line.intervals[1].label, 1);
  EXPECT_DOUBLE_EQ(line.intervals[1].end_s, 0.42);
}

TEST(TimeLineFiles, TablesHaveARowPerIntervalAndPerWindow) {
  const Written scene("time_lines_tables");
  EXPECT_EQ(Scene::bytes_of(scene.path("found.csv")),
            "file,start_s,end_s,class,probability,begin_frame,end_frame\n"
            "a.mp4,0,0.16,left,0.75,0,4\n"
            "a.mp4,0.16,0.42,\"a,\"\"b\"\"\",0.8125,4,10\n");
  EXPECT_THAT(Scene::bytes_of(scene.path("found.windows.csv")),
              HasSubstr("end_frame,p(left),\"p(a,\"\"b\"\")\"\na.mp4,0,0.16,left,0.75,0,4,0.75,0.25\n"));
}

TEST(TimeLineFiles, WhatIsNotCompleteSaysSo) {
  const Written scene("time_lines_incomplete", false);
  for (const char* name : {"found.json", "found.csv", "found.windows.csv"})
    EXPECT_FALSE(std::filesystem::exists(scene.path(name)));
  EXPECT_TRUE(std::filesystem::exists(scene.path("found.incomplete.json")));
  EXPECT_TRUE(std::filesystem::exists(scene.path("found.windows.incomplete.csv")));
}

TEST(TimeLineFiles, WhatIsNoTimeLineIsRefused) {
  const Written scene("time_lines_refused");
  const nlohmann::json good = scene.json().at("predictions")[0];
  const auto refused = [&](const char* pointer, const nlohmann::json& value, const char* text) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    expect_error(ErrorKind::kInput, text, [&] { time_line_from_json(bad, kClasses); });
  };
  refused("/windows", 3, "no list of windows");
  refused("/windows/1/frames", {4, 4}, "ends before it begins");
  refused("/windows/1/frames", {4, 1e18}, "not two numbers");
  refused("/windows/1/frames", {4, std::int64_t{1} << 60}, "out of range");
  refused("/windows/1/frames", {-1, 4}, "out of range");
  refused("/windows/1/seconds", {0.2, "x"}, "not two numbers");
  refused("/windows/1/seconds", {0.5, 0.25}, "ends before it begins");
  refused("/windows/2/frames", {4, 8}, "windows out of order");
  refused("/windows/2/frames", {6, 7}, "windows out of order");  // it begins later and ends before the one before it
  refused("/windows/0/probabilities", {0.5}, "a probability for each");
  refused("/windows/0/probabilities", {0.5, nullptr}, "no number from 0 to 1");
  refused("/intervals/1/class", "unheard of", "does not name");
  refused("/intervals/1/frames", {3, 8}, "intervals out of order");
  refused("/seconds", -1, "no number of seconds");
}

}  // namespace
}  // namespace voxshard
