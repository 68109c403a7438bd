// The detector of these tests has no network: it finds the one bright square of a generated clip, so that every box,
// number and timestamp is known beforehand.
#include "pipelines/tasks/detection/predict_video.h"

#include <nlohmann/json.hpp>

#include "io/boxes/coco.h"
#include "io/boxes/mot.h"
#include "io/video/video_copy.h"
#include "io/video/video_reader.h"
#include "io/video/video_writer.h"
#include "tests/io/video/video_scene.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

constexpr std::int64_t kWidth = 64, kHeight = 48, kSide = 16, kTop = 8;

/// Returns the square's left edge in frame `number`: 4 px further from frame to frame.
std::int64_t left_of(std::int64_t number) { return 4 * number; }

Tensor image(std::int64_t number) {
  Tensor rgb(DType::kU8, {kHeight, kWidth, 3});
  for (std::int64_t y = kTop; y < kTop + kSide; ++y)
    std::fill_n(rgb.as<std::uint8_t>() + (y * kWidth + left_of(number)) * 3, kSide * 3, std::uint8_t{255});
  return rgb;
}

/// Returns the box of the pixels that are brighter than grey.
std::vector<ScoredBox> bright_square(const Tensor& rgb) {
  std::int64_t x0 = kWidth, x1 = -1, y0 = kHeight, y1 = -1;
  for (std::int64_t y = 0; y < rgb.shape()[0]; ++y)
    for (std::int64_t x = 0; x < rgb.shape()[1]; ++x)
      if (rgb.as<std::uint8_t>()[(y * rgb.shape()[1] + x) * 3 + 1] > 127)
        x0 = std::min(x0, x), x1 = std::max(x1, x + 1), y0 = std::min(y0, y), y1 = std::max(y1, y + 1);
  if (x1 < 0) return {};
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  return {{.category = 0, .box = {d(x0), d(y0), d(x1 - x0), d(y1 - y0)}, .score = 0.9}};
}

const std::vector<DetectionClass> kClasses = {{"square", 5}};

/// Returns uneven timestamps: 0, 3, 4, 10, 11, 12, ... ticks of 1/25 s.
std::int64_t ticks_of(std::int64_t number) {
  return number < 3 ? std::array<std::int64_t, 3>{0, 3, 4}[number] : 7 + number;
}

class PredictVideo : public testing::Test {
 protected:
  static constexpr std::int64_t kFrames = 8;

  void SetUp() override {
    VideoWriter out(video_, {.width = kWidth, .height = kHeight, .time_base = {1, 25}});
    for (std::int64_t i = 0; i < kFrames; ++i) out.write(image(i), ticks_of(i));
    out.close();
  }
  fs::path file(const std::string& name) const { return scratch_.path() / name; }
  VideoPredictOptions options() const {
    return {.video = video_,
            .json = file("found.json"),
            .drawn = {},
            .prediction = {.coco = file("coco.json"), .mot = file("mot.txt")}};
  }
  VideoPredictReport run(const VideoPredictOptions& o) { return predict_video(o, kClasses, bright_square, progress_); }
  nlohmann::json found() const { return nlohmann::json::parse(read_bytes(file("found.json"))); }
  static std::vector<std::int64_t> indices(const nlohmann::json& found) {
    std::vector<std::int64_t> indices;
    for (const auto& frame : found.at("frames")) indices.push_back(frame.at("index"));
    return indices;
  }

  ScratchFolder scratch_;
  fs::path video_ = scratch_.path() / "clip.mp4";
  RecordingProgress progress_;
};

TEST_F(PredictVideo, EveryFrameHasItsBoxAndTheTimestampOfTheStream) {
  const VideoPredictReport report = run(options());
  EXPECT_EQ(report.frames, kFrames);
  EXPECT_EQ(report.detections, kFrames);
  EXPECT_EQ(progress_.updates, 1 + kFrames);
  const auto json = found();
  EXPECT_EQ(json.at("complete"), true);
  const VideoIndex index = VideoReader(video_).index();
  EXPECT_EQ(json.at("time_base"), rational_text(index.time_base));
  ASSERT_EQ(json.at("frames").size(), static_cast<std::size_t>(kFrames));
  for (std::int64_t i = 0; i < kFrames; ++i) {
    const auto& frame = json.at("frames")[i];
    EXPECT_EQ(frame.at("pts"), index[i].pts_ticks);
    EXPECT_DOUBLE_EQ(frame.at("seconds").get<double>(), static_cast<double>(ticks_of(i)) / 25);
    const auto box = frame.at("detections").at(0).at("bbox").get<std::array<double, 4>>();
    EXPECT_NEAR(box[0], static_cast<double>(left_of(i)), 1) << i;  // the codec blurs edges
    EXPECT_NEAR(box[1], static_cast<double>(kTop), 1) << i;
    EXPECT_NEAR(box[2], static_cast<double>(kSide), 2) << i;
  }
}

TEST_F(PredictVideo, AnObjectThatMovesSlowlyIsOneTrack) {
  EXPECT_EQ(run(options()).tracks, 1);
  for (const MotRow& row : read_mot(file("mot.txt")).rows) {
    EXPECT_EQ(row.track, 1);
    EXPECT_EQ(row.class_id, 5);
  }
  EXPECT_EQ(read_mot(file("mot.txt")).rows.at(7).frame, 8);  // MOT counts from 1
}

TEST_F(PredictVideo, CocoResultsAreNumberedAsTheFrames) {
  run(options());
  const auto results = nlohmann::json::parse(read_bytes(file("coco.json")));
  ASSERT_EQ(results.size(), static_cast<std::size_t>(kFrames));
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].at("image_id"), i);
  EXPECT_EQ(results[0].at("category_id"), 5);
}

TEST_F(PredictVideo, ChosenFramesKeepTheirNumbers) {
  VideoPredictOptions o = options();
  o.prediction.frames = FrameSelection{.stride = 2, .range = frame_range_from_text("1:7")};
  EXPECT_EQ(run(o).frames, 3);
  EXPECT_EQ(indices(found()), (std::vector<std::int64_t>{1, 3, 5}));
}

TEST_F(PredictVideo, TheAnnotatedVideoHasTheSameTimestamps) {
  VideoPredictOptions o = options();
  o.drawn = file("seen.mp4");
  o.prediction.frames = FrameSelection{.range = frame_range_from_text("1:6")};
  EXPECT_EQ(run(o).not_drawn, 0);
  VideoReader drawn(file("seen.mp4"));
  ASSERT_EQ(drawn.index().size(), 5);
  EXPECT_EQ(drawn.stream().width, enlargement(kHeight, kWidth) * kWidth) << "small videos are enlarged";
  EXPECT_EQ(drawn.stream().height, enlargement(kHeight, kWidth) * kHeight);
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_DOUBLE_EQ(drawn.index().seconds(i), static_cast<double>(ticks_of(i + 1)) / 25) << i;
}

TEST_F(PredictVideo, BoxesAreDrawnOnlyFromTheScoreAskedFor) {
  const auto coloured_pixels = [&](double drawn_score) {
    VideoPredictOptions o = options();
    o.drawn = file("seen.mp4");
    o.drawn_score = drawn_score;
    run(o);
    VideoFrame frame;
    EXPECT_TRUE(VideoReader(file("seen.mp4")).read(0, frame));
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < frame.rgb.count(); i += 3) {
      const auto* p = frame.rgb.as<std::uint8_t>() + i;
      count += std::abs(p[0] - p[1]) > 60;  // the clip itself is black and white
    }
    return count;
  };
  EXPECT_GT(coloured_pixels(0.9), 30);
  EXPECT_EQ(coloured_pixels(0.91), 0);
}

TEST_F(PredictVideo, AStopLeavesWholeFilesThatSaySo) {
  progress_.stop = false;
  const auto stop_after_three = [&](const Tensor& rgb) {
    progress_.stop = progress_.updates == 3;
    return bright_square(rgb);
  };
  const VideoPredictReport report = predict_video(options(), kClasses, stop_after_three, progress_);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.frames, 3);
  EXPECT_FALSE(fs::exists(file("found.json")));
  const auto json = nlohmann::json::parse(read_bytes(file("found.incomplete.json")));
  EXPECT_EQ(json.at("complete"), false);
  EXPECT_EQ(indices(json), (std::vector<std::int64_t>{0, 1, 2}));
  progress_.stop = false;
  predict_video(options(), kClasses, bright_square, progress_);
  EXPECT_TRUE(fs::exists(file("found.json")));
  EXPECT_FALSE(fs::exists(file("found.incomplete.json"))) << "of an earlier call";
}

TEST_F(PredictVideo, AnErrorOfTheDetectorLeavesNoFile) {
  const auto fails = [&](const Tensor& rgb) -> std::vector<ScoredBox> {
    if (progress_.updates == 2) throw Error(ErrorKind::kBudget, "[plan] too large");
    return bright_square(rgb);
  };
  VideoPredictOptions o = options();
  o.drawn = file("seen.mp4");
  expect_error(ErrorKind::kBudget, "too large", [&] { predict_video(o, kClasses, fails, progress_); });
  EXPECT_EQ(scratch_.files(), 1u);  // the clip
}

TEST_F(PredictVideo, NoFrameChosenIsAnErrorBeforeAnyFile) {
  VideoPredictOptions o = options();
  o.prediction.frames = FrameSelection{.range = frame_range_from_text("8:")};
  expect_error(ErrorKind::kNoCase, "no frame is chosen of its 8", [&] { run(o); });
  EXPECT_EQ(scratch_.files(), 1u);
}

TEST_F(PredictVideo, TheVideoIsNeverOverwritten) {
  VideoPredictOptions o = options();
  o.drawn = scratch_.path() / "." / "clip.mp4";
  expect_error(ErrorKind::kUsage, "is the video", [&] { run(o); });
  o = options();
  o.prediction.coco = o.json;
  expect_error(ErrorKind::kUsage, "named for two outputs", [&] { run(o); });
}

TEST_F(PredictVideo, ADamagedEndGivesTheFramesBeforeItAndANote) {
  REQUIRE_FFMPEG();
  const fs::path whole = make_clip(scratch_.path(), "whole.mkv", "-c:v ffv1 -g 1");  // 25 frames of about one size
  const std::string bytes = read_bytes(whole);
  write_bytes(video_, bytes.substr(0, bytes.size() / 2));
  const VideoPredictReport report = run(options());
  EXPECT_GE(report.frames, 8);
  EXPECT_LE(report.frames, 17);
  EXPECT_FALSE(report.notes.empty());
  EXPECT_EQ(found().at("notes"), report.notes);
  EXPECT_EQ(found().at("frames").size(), static_cast<std::size_t>(report.frames));
}

}  // namespace
}  // namespace voxshard
