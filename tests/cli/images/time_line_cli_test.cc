// Classes of videos over time on the command line: train on clips, predict a folder and a film, draw, evaluate. The
// clips are ffmpeg's test image, still or moving. The accuracy of a narrow network after a few steps is not tested,
// only that all requested outputs exist and agree.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TimeLineCli : public testing::Test {
 protected:
  static bool make(const std::string& name, const std::string& source, int frames) {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    return std::system(("ffmpeg -v error -nostdin -f lavfi -i " + source + " -frames:v " + std::to_string(frames) +
                        " -c:v ffv1 " + file(name) + " 2>/dev/null")
                           .c_str()) == 0;
  }
  static void SetUpTestSuite() {
    folder_ = new Folder("time_line");
    const std::string bars = "smptebars=size=48x32:rate=25", moving = "testsrc2=size=48x32:rate=25";
    has_clips_ = make("set/train/bars/0.mkv", bars, 24) && make("set/train/moving/0.mkv", moving, 24) &&
                 make("set/test/bars/0.mkv", bars, 20) && make("set/test/moving/0.mkv", moving, 41) &&
                 make("film.mkv", moving, 50) && make("new/a.mkv", bars, 12) && make("new/b.mkv", bars, 5);
    if (!has_clips_) return;
    const CommandResult r =
        run_voxshard("train " + file("set") + " -o " + run() +
                     " --model r2plus1d18 --base-filters 4 --precision f32 --clip-length 4 --stride 2 "
                     "--size 16x16 --fit resize --batch 2 --steps 4 --partition 1x2x1x1x1 --quiet");
    ASSERT_EQ(r.exit_code, 0) << r.err;
  }
  /// True when within a minute an unfinished file whose name has this ending grows beyond `bytes`.
  static bool grows_beyond(const std::string& ending, std::uintmax_t bytes) {
    for (int tick = 0; tick < 6000; ++tick) {
      for (const auto& entry : std::filesystem::directory_iterator(file(""))) {
        std::error_code gone;
        if (entry.path().filename().string().ends_with(ending) && entry.file_size(gone) > bytes && !gone) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (!has_clips_) GTEST_SKIP() << "ffmpeg is not installed, or cannot make clips";
  }
  static std::string file(const std::string& name) { return *folder_ / name; }
  static std::string run() { return file("run"); }

  inline static Folder* folder_ = nullptr;
  inline static bool has_clips_ = false;
};

TEST_F(TimeLineCli, FromAFilmToItsTimeLine) {
  const CommandResult r = run_voxshard("predict " + run() + " " + file("film.mkv") + " -o " + file("found.json") +
                                       " --hop 4 --draw " + file("seen.mp4") + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("videos").at(0).at("windows"), 12) << "0, 4, .., 40, and 43 to the last frame";
  const json found = json::parse(file_text(file("found.json")));
  EXPECT_EQ(found.at("classes"), (json{"bars", "moving"}));
  EXPECT_EQ(found.at("hop"), 4);
  const json& film = found.at("predictions").at(0);
  EXPECT_EQ(film.at("windows").back().at("frames"), (json{43, 50}));
  EXPECT_EQ(film.at("seconds"), 2.0);
  EXPECT_EQ(film.at("intervals").front().at("seconds").at(0), 0.0);
  EXPECT_EQ(film.at("intervals").back().at("seconds").at(1), 2.0);
  EXPECT_THAT(file_text(file("found.csv")), HasSubstr("film.mkv,0,"));
  EXPECT_THAT(file_text(file("found.windows.csv")), HasSubstr(",p(bars),p(moving)\n"));
  const auto drawn = run_voxshard("info " + file("seen.mp4") + " --json").json().at("videos").at(0);
  EXPECT_EQ(drawn.at("frames"), 50);
  EXPECT_EQ(drawn.at("width"), 8 * 48) << "small films are drawn enlarged, so that captions can be read";
  const CommandResult text = run_voxshard("predict " + run() + " " + file("film.mkv") + " -o " + file("found.json"));
  EXPECT_THAT(text.out, HasSubstr("film.mkv"));
  EXPECT_THAT(text.out, HasSubstr("next: voxshard predict "));
}

TEST_F(TimeLineCli, ADataSetIsPredictedAndScored) {
  const CommandResult r =
      run_voxshard("predict " + run() + " " + file("set") + " -o " + file("set.json") + " --draw " + file("drawn"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("next: voxshard evaluate "));
  EXPECT_TRUE(std::filesystem::exists(file("drawn/moving_0.mp4")));
  const auto scored = run_voxshard("evaluate " + file("set.json") + " " + file("set") + " -o " + file("scores.json") +
                                   " --png " + file("confusion.png") + " --json");
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(scored.json().at("items"), 2 + 5) << "clips of 8 frames in 20 and 41";
  EXPECT_EQ(scored.json().at("videos").at("items"), 2);
  EXPECT_NEAR(scored.json().at("time").at("labelled_s").get<double>(), 0.8 + 1.64, 1e-9);
  EXPECT_EQ(scored.json().at("time").at("labelled_s"), scored.json().at("time").at("covered_s"));
  folder_->write("truth.csv", "file,start,end,class\nfilm.mkv,0,1.2,moving\nfilm.mkv,1.2,2,unheard of\n");
  run_voxshard("predict " + run() + " " + file("film.mkv") + " -o " + file("film.json") + " --quiet");
  const auto film = run_voxshard("evaluate " + file("film.json") + " " + file("truth.csv") + " --json");
  EXPECT_EQ(film.exit_code, 8) << "a class that training never saw";
  EXPECT_NEAR(film.json().at("time").at("labelled_s").get<double>(), 1.2, 1e-9);
  EXPECT_THAT(film.out, HasSubstr("E_CLASS"));
}

TEST_F(TimeLineCli, WhatIsWrongHasItsExitCode) {
  const auto some = run_voxshard("predict " + run() + " " + file("new") + " -o " + file("new.json") + " --json");
  EXPECT_EQ(some.exit_code, 8);
  EXPECT_THAT(file_text(file("new.quarantine.csv")), HasSubstr("b.mkv,E_CLIP"));
  const std::string predict = "predict " + run() + " " + file("film.mkv") + " -o " + file("x.json");
  expect_refusal(predict + " --hop 0", 2, "usage", "hop");
  expect_refusal(predict + " --draw " + file("seen.gif"), 2, "usage", ".mp4");
  expect_refusal(predict + " --host-memory 20MiB", 7, "budget", "");
  expect_refusal("predict " + run() + " " + file("new/b.mkv") + " -o " + file("x.json"), 4, "no_case",
                 "fewer than the 7");
  folder_->write("list.json", R"({"task": "classification", "items": "clips", "classes": ["a", "b"]})");
  expect_refusal("evaluate " + file("list.json") + " " + file("set"), 3, "input", "predictions of classes");
  EXPECT_FALSE(std::filesystem::exists(file("x.json")));
}

TEST_F(TimeLineCli, AStopKeepsTheWindowsUntilThen) {
  ASSERT_TRUE(make("long.mkv", "testsrc2=size=48x32:rate=25", 4000));
  Process p("predict " + run() + " " + file("long.mkv") + " -o " + file("long.json") + " --hop 1 --threads 1");
  ASSERT_TRUE(p.read_until("predict 0/"));
  ASSERT_TRUE(grows_beyond("long.windows.csv", 8 << 10)) << "the table of windows, while it has no name yet";
  p.send(SIGTERM);
  const CommandResult stopped = p.wait();
  EXPECT_EQ(stopped.exit_code, 143) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("INCOMPLETE"));
  EXPECT_FALSE(std::filesystem::exists(file("long.json")));
  const json found = json::parse(file_text(file("long.incomplete.json")));
  const json& film = found.at("predictions").at(0);
  EXPECT_EQ(film.at("complete"), false);
  EXPECT_GE(film.at("windows").size(), 64u);
  EXPECT_LT(film.at("windows").size(), 3993u);
}

}  // namespace
}  // namespace voxshard
