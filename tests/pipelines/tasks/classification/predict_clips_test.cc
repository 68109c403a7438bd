// Time lines of films by a run that was trained on clips: the same for each frame, whatever the cut, the batch and the
// hop; a bad film is left out alone, a stop is reported.
#include "pipelines/tasks/classification/predict_clips.h"

#include <gmock/gmock.h>

#include "io/files/config_file.h"
#include "io/video/video_reader.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/tasks/classification/samples/window_reader.h"
#include "tests/base/sanitizer.h"
#include "tests/pipelines/tasks/classification/film_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

class PredictClips : public TrainedFilms {};

TEST_F(PredictClips, WhatIsPredictedIsScored) {
  const PredictReport report = predict(options(trained_->data()));
  EXPECT_EQ(report.cases.size(), 4u) << "the films of the test part";
  EXPECT_TRUE(report.failures.empty());
  EXPECT_FALSE(report.damaged);
  EXPECT_EQ(report.next.at(0), "evaluate");
  const ClassPredictions found = scene_.found();
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(found.rows[0].file, "bright/0.mkv");
  EXPECT_EQ(found.rows[0].time_line.windows.size(), 2u) << "16 frames, 8 a clip";
  EXPECT_EQ(found.rows[0].time_line.intervals.size(), 1u);
  EXPECT_THAT(Scene::bytes_of(scene_.path("found.csv")), HasSubstr("\nbright/0.mkv,0,0.64,bright,"));
  EXPECT_THAT(Scene::bytes_of(scene_.path("found.windows.csv")), HasSubstr("\nbright/0.mkv,0.32,0.64,bright,"));
  const EvaluateOptions o{
      .predictions = scene_.path("found.json"), .references = trained_->data(), .summary = scene_.path("scores.json")};
  const TaskReport scores = run_evaluate(o, scene_.progress);
  EXPECT_FALSE(scores.partial) << scores.text;
  EXPECT_EQ(scores.json.at("accuracy"), 1.0);
  EXPECT_EQ(scores.json.at("items"), 8) << "clips";
  EXPECT_EQ(scores.json.at("videos").at("items"), 4);
  EXPECT_EQ(scores.json.at("videos").at("accuracy"), 1.0);
  EXPECT_NEAR(scores.json.at("time").at("labelled_s").get<double>(), 4 * 0.64, 1e-9);
  EXPECT_EQ(scores.json.at("time").at("accuracy"), 1.0);
}

TEST_F(PredictClips, AChangeOfClassIsAChangeOfInterval) {
  const auto film = scene_.film("mixed.mkv", {{21, kDark}, {20, kBright}});
  predict(options(film), 2);
  const auto json = read_json(scene_.path("found.json"));
  EXPECT_EQ(json.at("hop"), 2);
  const ClassPredictions found = scene_.found();
  const ReadTimeLine& line = found.rows.at(0).time_line;
  EXPECT_EQ(line.windows.size(), 18u) << "begins 0, 2, .., 34: it stands for frames to 42, of which there are 41";
  ASSERT_EQ(line.intervals.size(), 2u);
  EXPECT_EQ(found.classes.at(line.intervals[0].label), "dark");
  EXPECT_EQ(line.intervals[0].begin_s, 0);
  EXPECT_NEAR(line.intervals[0].end_s, 0.84, 0.16) << "within half a clip of the cut";
  EXPECT_EQ(line.intervals[1].begin_s, line.intervals[0].end_s);
  EXPECT_NEAR(line.intervals[1].end_s, 1.64, 1e-9);
  scene_.write("mixed.csv", "file,start,end,class\nmixed.mkv,0,0.84,dark\nmixed.mkv,0.84,90,bright\n");
  const TaskReport scores =
      run_evaluate({.predictions = scene_.path("found.json"), .references = scene_.path("mixed.csv")}, scene_.progress);
  const auto& time = scores.json.at("time");
  EXPECT_NEAR(time.at("labelled_s").get<double>(), 1.64, 1e-9) << "what is labelled behind the end is not there";
  EXPECT_NEAR(time.at("covered_s").get<double>(), 1.64, 1e-9);
  EXPECT_GT(time.at("accuracy").get<double>(), 0.85);
  EXPECT_EQ(scores.json.at("videos").at("items"), 0) << "the film is of two classes";
  EXPECT_GT(scores.json.at("items"), 0) << "clips inside of the intervals";
}

TEST_F(PredictClips, FilmsBesideFoldersOfClassesAloneArePredictedAndThatIsSaid) {
  for (const char* name : {"in/dark/a.mkv", "in/bright/b.mkv", "in/c.mkv"}) scene_.film(name, {{16, kDark}});
  EXPECT_EQ(predict(options(scene_.path("in"))).cases.size(), 1u);
  EXPECT_THAT(scene_.progress.lines, testing::Contains(HasSubstr("items beside folders of classes")));
}

TEST_F(PredictClips, FilmsInFoldersAreNumbered) {
  scene_.film("in/MEIER/film.mkv", {{16, kDark}});
  scene_.film("in/HUBER/film.mkv", {{16, kBright}});
  PredictOptions o = options(scene_.path("in"));
  o.recursive = true;
  const PredictReport report = predict(o);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_THAT(scene_.found().rows.at(0).file, "case_0001");
  EXPECT_THAT(Scene::bytes_of(scene_.path("found.json")), testing::Not(HasSubstr("MEIER")));
  EXPECT_THAT(Scene::bytes_of(scene_.path("found.case_paths.jsonl")), HasSubstr("HUBER/film.mkv"));
}

TEST_F(PredictClips, AListIsPredictedWhateverItsIntervalsHold) {
  scene_.film("a.mkv", {{24, kDark}}), scene_.film("b.mkv", {{24, kBright}});
  scene_.write("short.csv", "./a.mkv,0,0.1,dark\na.mkv,0.1,0.2,unheard of\nb.mkv,0,0.04,bright\nnone.mkv,dark\n" +
                                std::string(230, 'x') + ".mkv,dark\n");
  const PredictReport report = predict(options(scene_.path("short.csv")));
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_THAT(ClassScene::codes(report.failures), testing::ElementsAre("E_READ", "E_READ"));
  EXPECT_EQ(scene_.found().rows.at(0).file, "a.mkv");
}

TEST_F(PredictClips, ACutOtherThreadsAndFewerAtOncePredictTheSame) {
  const auto film = scene_.film("a.mkv", {{30, kDark}, {31, kBright}});
  predict(options(film), 3);
  PredictOptions cut = options(film, "cut.json");
  cut.partition = Dims{1, 2, 2, 1, 1};
  predict(cut, 3, {}, {.threads = 1});
  const auto a = scene_.found().rows.at(0).time_line, b = scene_.found("cut.json").rows.at(0).time_line;
  ASSERT_EQ(a.windows.size(), b.windows.size());
  for (std::size_t i = 0; i < a.windows.size(); ++i) {
    EXPECT_EQ(a.windows[i].frames, b.windows[i].frames);
    EXPECT_NEAR(a.windows[i].probabilities[0], b.windows[i].probabilities[0], 1e-6);
  }
  predict(options(film, "again.json"), 3);
  EXPECT_TRUE(Scene::bytes_of(scene_.path("again.json")) == Scene::bytes_of(scene_.path("found.json")));
}

TEST_F(PredictClips, AHopLargerThanAClipLeavesGaps) {
  predict(options(scene_.film("a.mkv", {{50, kBright}})), 20);
  const ReadTimeLine line = scene_.found().rows.at(0).time_line;
  std::vector<FrameSpan> spans;
  for (const ReadSpan& interval : line.intervals) spans.push_back(interval.frames);
  EXPECT_EQ(spans, (std::vector<FrameSpan>{{0, 8}, {20, 28}, {40, 50}})) << "the last two windows touch";
}

TEST_F(PredictClips, ABadFilmCostsItself) {
  scene_.film("new/a.mkv", {{12, kDark}}), scene_.film("new/short.mkv", {{6, kDark}});
  scene_.film("new/seven.mkv", {{7, kBright}});
  scene_.write("new/text.mp4", "hello");
  const PredictReport report = predict(options(scene_.path("new")));
  EXPECT_EQ(report.cases.size(), 2u) << "seven frames are all that a clip looks at";
  EXPECT_EQ(report.failures.size(), 2u);
  const std::string quarantine = Scene::bytes_of(scene_.path("found.quarantine.csv"));
  EXPECT_THAT(quarantine, HasSubstr("short.mkv,E_CLIP"));
  EXPECT_THAT(quarantine, HasSubstr("text.mp4,E_READ"));
  expect_error(ErrorKind::kNoCase, "none of 1 videos",
               [&] { predict(options(scene_.path("new/short.mkv"), "b.json")); });
  scene_.write("empty/a.txt", "x");
  expect_error(ErrorKind::kNoCase, "classes (but 1 file that is no input (1 .txt)); what is read",
               [&] { predict(options(scene_.path("empty"), "c.json")); });
  expect_error(ErrorKind::kInput, "does not exist", [&] { predict(options(scene_.path("nowhere"), "d.json")); });
  expect_error(ErrorKind::kUsage, "JSON file", [&] { predict(options(scene_.path("new"), "folder")); });
  expect_error(ErrorKind::kUsage, ".mp4",
               [&] { predict(options(scene_.path("new/a.mkv"), "e.json"), {}, "seen.gif"); });
}

TEST_F(PredictClips, OverTheMemoryOfTheProcessIsLeftOut) {
  scene_.film("new/a.mkv", {{12, kDark}}), scene_.film("new/wide.mkv", {{8, kDark}}, 900, 1200);
  PredictOptions o = options(scene_.path("new"));
  const PredictReport all = predict(o);
  EXPECT_EQ(all.cases.size(), 2u);
  const std::int64_t wide =
      windows_plan(
          {.steps = {.length = 4, .stride = 2, .hop = 8}, .frames = 8, .pixels = 900 * 1200, .extents = {1, 4, 16, 16}})
          .total();
  EXPECT_GT(wide, 60 << 20);
  EXPECT_GE(all.memory.plan.total(), wide) << "what the report plans is the widest moment";
  if (test::kShadowed) GTEST_SKIP() << "what the process has grows by freed blocks that the sanitizer keeps";
  const PredictReport less =
      predict(o, {}, {}, {.threads = 2, .host_budget_bytes = all.memory.plan.total() - wide / 2});
  EXPECT_EQ(less.cases.size(), 1u);
  ASSERT_EQ(less.failures.size(), 1u);
  EXPECT_EQ(less.failures[0].id, "wide.mkv");
  EXPECT_EQ(less.failures[0].code, "E_BUDGET");
}

TEST_F(PredictClips, AStopKeepsTheWindowsUntilThen) {
  scene_.film("new/a.mkv", {{16, kDark}}), scene_.film("new/b.mkv", {{120, kBright}});
  scene_.film("new/c.mkv", {{16, kDark}});
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
      stop |= stage == "predict" && done > 12;
    }
  } stopping;
  PredictOptions o = options(scene_.path("new"));
  FilmScene::own(o).hop = 1;
  const PredictReport report = run_predict(o, stopping);
  EXPECT_TRUE(report.interrupted);
  EXPECT_FALSE(std::filesystem::exists(scene_.path("found.json")));
  const ClassPredictions found = scene_.found("found.incomplete.json");
  ASSERT_EQ(found.rows.size(), 1u) << "the film that was stopped is no prediction";
  EXPECT_EQ(found.failures.at(0).id, "b.mkv");
  const auto json = read_json(scene_.path("found.incomplete.json")).at("predictions");
  EXPECT_EQ(json[0].at("complete"), true);
  EXPECT_EQ(json[1].at("complete"), false);
  EXPECT_EQ(json[1].at("windows").size(), 64u) << "of 114: what was whole when the stop came";
  EXPECT_EQ(report.cases.size(), 1u);
  EXPECT_THAT(report.not_reached, testing::ElementsAre("b.mkv", "c.mkv"));
  EXPECT_THAT(Scene::bytes_of(scene_.path("found.quarantine.csv")), HasSubstr("c.mkv,E_STOPPED"));
  predict(options(scene_.path("new")));
  EXPECT_FALSE(std::filesystem::exists(scene_.path("found.incomplete.json")));
  EXPECT_FALSE(std::filesystem::exists(scene_.path("found.windows.incomplete.csv")));
}

TEST_F(PredictClips, AnErrorWhileDrawingKeepsTheTimeLinesUntilThen) {
  scene_.film("new/a.mkv", {{16, kDark}}), scene_.film("new/b.mkv", {{16, kBright}});
  scene_.film("new/c.mkv", {{16, kDark}});
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view text) override {
      if (stage == "draw" && text == "b.mkv") throw Error(ErrorKind::kOutput, "the disk is full");
    }
  } full;
  PredictOptions o = options(scene_.path("new"));
  FilmScene::own(o).draw = scene_.path("drawn");
  expect_error(ErrorKind::kOutput, "the disk is full", [&] { run_predict(o, full); });
  EXPECT_FALSE(std::filesystem::exists(scene_.path("found.json")));
  const ClassPredictions found = scene_.found("found.incomplete.json");
  ASSERT_EQ(found.rows.size(), 2u) << "the films that were predicted before it";
  EXPECT_EQ(found.rows[1].file, "b.mkv");
  EXPECT_TRUE(std::filesystem::exists(scene_.path("found.incomplete.csv")));
}

TEST_F(PredictClips, OneThreadAndTwoWriteTheSameBytes) {
  const auto film = scene_.film("a.mkv", {{30, kDark}, {31, kBright}});
  std::vector<std::string> bytes;
  for (const int threads : {1, 2}) {
    PredictOptions o = options(film);
    o.partition = Dims{1, 2, 2, 1, 1};
    predict(o, 3, {}, {.threads = threads});
    bytes.push_back(Scene::bytes_of(scene_.path("found.json")));
  }
  EXPECT_TRUE(bytes[0] == bytes[1]);
}

TEST_F(PredictClips, TheTimeLineIsDrawnIntoTheFilm) {
  const auto film = scene_.film("mixed.mkv", {{24, kDark}, {24, kBright}}, 96, 128);
  const PredictReport report = predict(options(film), 8, scene_.path("seen.mp4"));
  EXPECT_EQ(report.found.at("not_drawn"), 0);
  VideoReader drawn(scene_.path("seen.mp4")), plain(film);
  ASSERT_EQ(drawn.index().size(), 48);
  EXPECT_EQ(drawn.stream().height, 4 * 96) << "small videos are enlarged";
  EXPECT_EQ(drawn.stream().width, 4 * 128);
  for (const std::int64_t f : {0, 7, 47}) EXPECT_DOUBLE_EQ(drawn.index().seconds(f), plain.index().seconds(f));
  VideoFrame frame;
  ASSERT_TRUE(drawn.read(12, frame));
  const auto colour = [&](std::int64_t y, std::int64_t x) {
    const auto* p = frame.rgb.as<std::uint8_t>() + 3 * (4 * y * 512 + 4 * x);
    return std::array<int, 3>{p[0], p[1], p[2]};
  };
  EXPECT_NE(colour(94, 10), colour(94, 110)) << "the two classes have their colours along the lower edge";
  EXPECT_GT(std::ranges::min(colour(94, 32)), 120) << "the mark, a quarter of the way, is white";
  predict(options(trained_->data(), "set.json"), {}, scene_.path("drawn"));
  EXPECT_EQ(VideoReader(scene_.path("drawn/bright_1.mp4")).index().size(), 16);
  predict(options(trained_->data(), "set.json"), {}, scene_.path("drawn"));  // its own are replaced
}

TEST_F(PredictClips, HopAndDrawAreForClips) {
  ClassScene images("clips_pictures");
  images.dark_and_bright("data/train", 3), images.dark_and_bright("data/test", 2);
  TrainOptions o{.work = images.data(), .run = images.path("run"), .steps = 1, .batch = 2, .resources = {.threads = 2}};
  o.spec = usual_spec(test::toy_classifier(2));
  o.spec.precision = DType::kF32;
  run_train(o, images.progress);
  PredictOptions p{.run = images.path("run"),
                   .input = images.data(),
                   .output = images.path("found.json"),
                   .models = test::with_toys()};
  FilmScene::own(p).hop = 2;
  expect_error(ErrorKind::kUsage, "are for videos", [&] { run_predict(p, images.progress); });
}

/// Returns the begins of windows, by a plain loop over the frames that exist.
std::vector<std::int64_t> plain_begins(std::int64_t frames, std::int64_t hop) {
  std::vector<std::int64_t> begins;
  for (std::int64_t begin = 0; begin + 6 < frames; begin += hop) begins.push_back(begin);
  if (!begins.empty() && begins.back() + 8 < frames) begins.push_back(frames - 7);
  return begins;
}

TEST_F(PredictClips, RealVideosOfEveryCodecArePredictedToTheirEnd) {
  const char* data = std::getenv("VOXSHARD_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "VOXSHARD_TEST_DATA is not set";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(data) / "video"))
    if (is_video_name(entry.path())) files.push_back(entry.path());
  ASSERT_GE(files.size(), 20u);
  std::set<std::string> codecs;
  std::size_t predicted = 0;
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    std::optional<VideoReader> video;
    try {
      video.emplace(file);
    } catch (const Error&) {
      expect_error(ErrorKind::kNoCase, "videos could be predicted", [&] { predict(options(file)); });
      continue;
    }
    const VideoIndex& index = video->index();
    const std::int64_t hop = index.size() > 200 ? 100 : 3;
    if (index.size() < 7) {
      expect_error(ErrorKind::kNoCase, "fewer than the 7", [&] { predict(options(file)); });
      continue;
    }
    const PredictReport report = predict(options(file), hop);
    const ClassPredictions found = scene_.found();
    ASSERT_EQ(found.rows.size(), 1u);
    const ReadTimeLine& line = found.rows[0].time_line;
    std::vector<std::int64_t> begins;
    for (const ReadSpan& window : line.windows) {
      begins.push_back(window.frames.begin);
      EXPECT_DOUBLE_EQ(window.begin_s, static_cast<double>(index[window.frames.begin].pts_ticks - index[0].pts_ticks) *
                                           index.time_base.value());
    }
    EXPECT_EQ(begins, plain_begins(index.size(), hop));
    EXPECT_EQ(line.windows.back().frames.end, index.size());
    if (file.filename() == "corrupted.mp4") {
      EXPECT_TRUE(report.damaged);
    }
    codecs.insert(video->stream().codec), ++predicted;
  }
  EXPECT_GE(predicted, 18u) << "the others are shorter than a clip, or no frame of them decodes";
  EXPECT_GE(codecs.size(), 7u) << "H.264, HEVC, AV1, MPEG-1, MPEG-4, MS-MPEG4, MJPEG, Cinepak, raw";
}

}  // namespace
}  // namespace voxshard
