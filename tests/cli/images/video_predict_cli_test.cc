// Annotated video on the command line: train on some frames, predict and evaluate on others. The clip is ffmpeg's
// moving test image, the run a narrow network after two steps. Its accuracy is not tested, only that every way to
// request a prediction gives the same one.
#include "tests/base/sanitizer.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using nlohmann::json;

class VideoPredictCli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("video_predict");
    has_clip_ =
        std::system(("ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -c:v ffv1 -g 5 " +
                     clip() + " 2>/dev/null")
                        .c_str()) == 0;
    if (!has_clip_) return;
    json truth = {
        {"categories", {{{"id", 3}, {"name", "square"}}}}, {"images", json::array()}, {"annotations", json::array()}};
    for (int i = 0; i < 25; ++i) {
      truth["images"].push_back(
          {{"id", i}, {"file_name", "clip.mkv"}, {"frame_index", i}, {"width", 96}, {"height", 64}});
      truth["annotations"].push_back(
          {{"id", i + 1}, {"image_id", i}, {"category_id", 3}, {"bbox", {10 + i, 20, 24, 16}}});
    }
    folder_->write("truth.json", truth.dump());
    const CommandResult r =
        run_voxshard("train " + truth_json() + " -o " + run() +
                     " --model retinanet --backbone resnet18 --base-filters 4 --pyramid-filters 8 --precision f32"
                     " --steps 2 --range 0:20 --stride 4 --partition 1x2x1x1 --quiet");
    ASSERT_EQ(r.exit_code, 0) << r.err;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override {
    if (!has_clip_) GTEST_SKIP() << "ffmpeg is not installed, or cannot make a clip";
  }
  static std::string clip() { return *folder_ / "clip.mkv"; }
  static std::string truth_json() { return *folder_ / "truth.json"; }
  static std::string run() { return *folder_ / "run"; }
  static std::string file(const std::string& name) { return *folder_ / name; }
  /// Predicts boxes of any score, so that there are some.
  static CommandResult predict(const std::string& words) {
    return run_voxshard("predict " + run() + " " + words + " --postprocess legacy --json");
  }

  inline static Folder* folder_ = nullptr;
  inline static bool has_clip_ = false;
};

TEST_F(VideoPredictCli, OnlyChosenFramesTrainAndTheLastOfThemValidate) {
  const json split = json::parse(file_text(run() + "/splits_final.json")).at(0);
  EXPECT_EQ(split.at("train"), (json{"clip.mkv#frame=0", "clip.mkv#frame=4", "clip.mkv#frame=8", "clip.mkv#frame=12"}));
  EXPECT_EQ(split.at("val"), json{"clip.mkv#frame=16"});
}

TEST_F(VideoPredictCli, WritesEveryFormAndAnAnnotatedVideo) {
  const CommandResult r =
      predict(clip() + " -o " + file("found.json") + " --draw " + file("seen.mkv") + " --coco " + file("coco.json") +
              " --mot " + file("mot.txt") + " --range 20: --stride 2 --track-score 0");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("video").at("frames"), 3);
  const json found = json::parse(file_text(file("found.json")));
  EXPECT_EQ(found.at("time_base"), "1/1000");
  std::vector<std::int64_t> indices;
  std::vector<double> seconds;
  std::size_t boxes = 0;
  for (const json& frame : found.at("frames")) {
    indices.push_back(frame.at("index"));
    seconds.push_back(frame.at("seconds"));
    boxes += frame.at("detections").size();
  }
  EXPECT_EQ(indices, (std::vector<std::int64_t>{20, 22, 24}));
  EXPECT_EQ(seconds, (std::vector<double>{0.8, 0.88, 0.96}));
  ASSERT_GT(boxes, 0u);
  EXPECT_EQ(r.json().at("detections"), boxes);
  EXPECT_EQ(json::parse(file_text(file("coco.json"))).size(), boxes);
  const std::string mot = file_text(file("mot.txt"));
  EXPECT_EQ(static_cast<std::size_t>(std::count(mot.begin(), mot.end(), '\n')), boxes);
  EXPECT_TRUE(mot.starts_with("21,"));  // frames of MOT are counted from 1
  const auto drawn = run_voxshard("info " + file("seen.mkv") + " --json").json().at("videos").at(0);
  EXPECT_EQ(drawn.at("frames"), 3);
  EXPECT_EQ(drawn.at("width"), 5 * 96) << "small videos are enlarged";
}

TEST_F(VideoPredictCli, TheSummaryCountsTheVideo) {
  const json report = predict(clip() + " -o " + file("counted.json") + " --range 22:23").json();
  EXPECT_EQ(report.at("summary"),
            (json{{"inputs", 1}, {"predicted", 1}, {"kept", 0}, {"left_out", 0}, {"not_reached", 0}}));
  EXPECT_EQ(report.at("cases").at(0).at("id"), "clip.mkv");
}

TEST_F(VideoPredictCli, AFrameHasTheSameObjectsAsInADataSet) {
  ASSERT_EQ(predict(clip() + " -o " + file("a.json") + " --coco " + file("as_video.json") + " --range 22:23").exit_code,
            0);
  ASSERT_EQ(predict(truth_json() + " -o " + file("as_data.json") + " --range 22:23").exit_code, 0);
  const json video = json::parse(file_text(file("as_video.json"))), data = json::parse(file_text(file("as_data.json")));
  ASSERT_GT(video.size(), 0u);
  ASSERT_EQ(video.size(), data.size());
  for (std::size_t i = 0; i < video.size(); ++i) {
    EXPECT_EQ(video[i].at("image_id"), 22);
    EXPECT_EQ(data[i].at("image_id"), 22);
    EXPECT_NEAR(video[i].at("score"), data[i].at("score"), 1e-5) << i;
    for (int side = 0; side < 4; ++side) EXPECT_NEAR(video[i].at("bbox")[side], data[i].at("bbox")[side], 0.02) << i;
  }
}

TEST_F(VideoPredictCli, OnlyBoxesOfTheLeastScoreAskedForAreWritten) {
  const auto found = [&](const std::string& name, const std::string& words) {
    const std::string out = file(name);
    const CommandResult r = predict(clip() + " -o " + out + ".json --coco " + out + ".coco.json --mot " + out +
                                    ".txt --range 20:22" + words);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return json::parse(file_text(out + ".coco.json"));
  };
  const json all = found("all", "");
  ASSERT_GT(all.size(), 2u);
  std::vector<double> scores;
  for (const json& box : all) scores.push_back(box.at("score"));
  std::ranges::sort(scores);
  // Files hold six decimals, each at most half of the last one off: between two that differ the middle parts them too.
  constexpr double kApart = 0.9e-6;
  std::size_t i = 1;
  for (std::size_t k = 2; k < scores.size(); ++k)
    if (scores[k] - scores[k - 1] > scores[i] - scores[i - 1]) i = k;
  ASSERT_GE(scores[i] - scores[i - 1], kApart);
  const double least = (scores[i - 1] + scores[i]) / 2;
  const std::string option = " --min-score " + json(least).dump();
  json expected = json::array();
  for (const json& box : all)
    if (box.at("score") >= least) expected.push_back(box);
  ASSERT_LT(expected.size(), all.size());
  EXPECT_EQ(found("some", option), expected);
  const std::string mot = file_text(file("some.txt"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(mot, '\n')), expected.size());
  std::size_t boxes = 0;
  const json frames = json::parse(file_text(file("some.json"))).at("frames");
  for (const json& frame : frames) boxes += frame.at("detections").size();
  EXPECT_EQ(boxes, expected.size());

  const std::string pictures = truth_json() + " --range 20:22 -o " + file("pictures.json");
  ASSERT_EQ(predict(pictures).exit_code, 0);
  const json before = json::parse(file_text(file("pictures.json")));
  const CommandResult r = predict(pictures + option);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json after = json::parse(file_text(file("pictures.json")));
  EXPECT_LT(after.size(), before.size());
  EXPECT_EQ(r.json().at("detections"), after.size());
  for (const json& box : after) EXPECT_GE(box.at("score"), least);
  ASSERT_EQ(predict(pictures + " --min-score 1").exit_code, 0);
  EXPECT_EQ(json::parse(file_text(file("pictures.json"))), json::array());
  expect_refusal("predict " + run() + " " + clip() + " -o " + file("x.json") + " --min-score 1.5", 2, "usage",
                 "--min-score: 1.5 is not in 0 to 1");
}

TEST_F(VideoPredictCli, EvaluateScoresOnlyTheFramesAskedFor) {
  json results = json::array();
  for (int i = 10; i < 25; ++i)
    results.push_back({{"image_id", i}, {"category_id", 3}, {"bbox", {10 + i, 20, 24, 16}}, {"score", 0.9}});
  folder_->write("right.json", results.dump());
  const auto score = [&](const std::string& words) {
    return run_voxshard("evaluate " + file("right.json") + " " + truth_json() + words + " --json");
  };
  EXPECT_DOUBLE_EQ(score(" --range 15:").json().at("AP50"), 1);
  EXPECT_EQ(score(" --range 15:").json().at("images"), 10);
  EXPECT_DOUBLE_EQ(score(" --range 0.6s:").json().at("AP50"), 1);  // from frame 15 on
  EXPECT_LT(score("").json().at("AP50"), 0.7);                     // frames 0 to 9 have no detection
}

// Each thread of the encoder holds frames of its own: with four it takes more than the decoder.
TEST_F(VideoPredictCli, ADrawnCopyOfALargeVideoIsPartOfThePlan) {
  if (test::kShadowed) GTEST_SKIP() << "the sanitizer's shadow is part of the peak, and of no plan";
  ASSERT_EQ(std::system(("ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=1280x720:rate=25:duration=1 -c:v mjpeg " +
                         file("large.avi"))
                            .c_str()),
            0);
  std::map<bool, std::int64_t> planned;
  for (const bool draws : {false, true}) {
    const CommandResult r = predict(file("large.avi") + " -o " + file("large.json") + " --threads 4" +
                                    (draws ? " --draw " + file("large.mp4") : ""));
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const json memory = r.json().at("memory");
    planned[draws] = memory.at("planned_bytes");
    EXPECT_LE(memory.at("peak_resident_bytes"), planned[draws] + (16 << 20)) << memory;
  }
  EXPECT_GT(planned[true], planned[false]);
}

TEST_F(VideoPredictCli, AFrameWhoseCoresDoNotFitIsPredictedInTurnsAsAPictureIs) {
  if (test::kShadowed) GTEST_SKIP() << "the sanitizer's shadow is part of what the process has, and of no plan";
  const std::string wide = file("wide");  // a run whose cores take more than what is planned beside them
  ASSERT_EQ(run_voxshard("train " + truth_json() + " -o " + wide +
                         " --model retinanet --backbone resnet18 --base-filters 16 --pyramid-filters 32 --precision f32"
                         " --steps 1 --batch 1 --range 0:2 --fold all --quiet")
                .exit_code,
            0);
  const std::string make = "ffmpeg -v error -nostdin -f lavfi -i testsrc2=size=1600x1200:rate=25:duration=0.08 ";
  ASSERT_EQ(std::system((make + "-c:v ffv1 " + file("wide.mkv")).c_str()), 0);
  ASSERT_EQ(std::system((make + "-frames:v 1 " + file("wide.png")).c_str()), 0);
  for (const std::string input : {"wide.png", "wide.mkv"}) {
    const auto found = [&](const std::string& name, const std::string& words) {
      return run_voxshard("predict " + wide + " " + file(input) + " -o " + file(input + name) +
                          " --postprocess legacy --threads 2 --json" + words);
    };
    const CommandResult whole = found(".whole.json", "");
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    EXPECT_EQ(whole.json().at("scratch_bytes"), 0);
    const json memory = whole.json().at("memory");
    const std::int64_t planned = memory.at("planned_bytes"), arenas = memory.at("planned").at("arenas");
    for (const std::int64_t less : {std::int64_t{12} << 20, arenas * 6 / 10}) {  // at first the cores alone would fit
      const std::string budget = " --host-memory " + std::to_string(planned - less), to = "." + std::to_string(less);
      const CommandResult turns = found(to + ".json", budget);
      ASSERT_EQ(turns.exit_code, 0) << turns.err;
      EXPECT_GE(turns.json().at("scratch_bytes").get<std::int64_t>(), arenas / 2) << input;
      EXPECT_GT(turns.json().at("detections"), 0);
      EXPECT_EQ(file_text(file(input + to + ".json")), file_text(file(input + ".whole.json"))) << input;
      const CommandResult none = found(to + ".none.json", budget + " --scratch none");
      EXPECT_EQ(none.json().at("error").at("code"), "E_BUDGET") << input;
      EXPECT_EQ(none.exit_code, 7) << input;
    }
  }
}

TEST_F(VideoPredictCli, WhatIsWrongIsNamed) {
  const std::string video = "predict " + run() + " " + clip() + " -o " + file("x.json");
  expect_refusal(video + " --range 9", 2, "usage", "BEGIN:END");
  expect_refusal(video + " --range 25:", 4, "no_case", "no frame is chosen of its 25");
  expect_refusal(video + " --stride 2 --fps 5", 2, "usage", "exclude each other");
  expect_refusal(video + " --draw " + file("seen.gif"), 2, "usage", ".mp4");
  expect_refusal(video + " --track-iou 0", 2, "usage", "IoU above 0");
  expect_refusal("predict " + run() + " " + truth_json() + " -o " + file("x.json") + " --mot " + file("m.txt"), 2,
                 "usage", "are for a video");
  folder_->write("empty.mp4", "");
  expect_refusal("predict " + run() + " " + file("empty.mp4") + " -o " + file("x.json"), 3, "input", "empty.mp4");
  EXPECT_FALSE(std::filesystem::exists(file("x.json")));
}

}  // namespace
}  // namespace voxshard
