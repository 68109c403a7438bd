// Outputs that are written behind their turn: files, log, order, errors and stops are those of writing in turn, within
// the memory of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "pipelines/engine/audit_trail.h"
#include "tests/base/sanitizer.h"
#include "tests/pipelines/beside_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Lines and updates in one list.
struct AllInOrder : RecordingProgress {
  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override {
    if (stage == "predict") log(std::to_string(done) + "/" + std::to_string(total) + " " + std::string(text));
  }
};

/// Returns the lines of a manifest without durations, times of files, and what names the call.
std::string timeless_manifest(const fs::path& folder) {
  return std::regex_replace(Scene::bytes_of(folder / "manifest.jsonl"),
                            std::regex(R"re("(seconds|time_ns)": ?[-+0-9.e]+)re"), "");
}

TEST(RunPredictBehind, GivesTheSameFilesLinesAndOrder) {
  BesideScene scene("behind_same");
  for (const int broken : {-1, 1}) {  // the second may be unreadable, which is told after the first is written
    if (broken > 0) Scene::truncate(scene.image(broken));
    const std::string name = broken > 0 ? "_broken" : "";
    AllInOrder with, both, without;
    const PredictReport behind = run_predict(scene.behind("behind" + name), with);
    run_predict(scene.predict(true, "both" + name, true), both);
    const PredictReport in_turn = run_predict(scene.predict(false, "turn" + name), without);
    EXPECT_EQ(timeless(with), timeless(without));
    EXPECT_EQ(timeless(both), timeless(without));
    ASSERT_EQ(behind.cases.size(), in_turn.cases.size());
    for (std::size_t i = 0; i < behind.cases.size(); ++i) EXPECT_EQ(behind.cases[i].id, in_turn.cases[i].id);
    EXPECT_EQ(timeless_manifest(scene.path("behind" + name)), timeless_manifest(scene.path("turn" + name)));
    scene.expect_same_outputs("turn" + name, "behind" + name);
    scene.expect_same_outputs("turn" + name, "both" + name);
    EXPECT_EQ(behind.found.at("stages").at("images_behind"), broken > 0 ? 1 : 2);
    EXPECT_EQ(in_turn.found.at("stages").at("images_behind"), 0);
  }
}

TEST(RunPredictBehind, AllButTheLastAreWrittenBehind) {
  BesideScene scene("behind_counts");
  const PredictReport report = run_predict(scene.behind("out"), scene.progress);
  const auto& stages = report.found.at("stages");
  EXPECT_EQ(stages.at("images_behind"), 2);
  EXPECT_EQ(stages.at("images_behind_over_budget"), 0);
  EXPECT_GT(stages.at("written_behind"), 0.0);
  EXPECT_LE(stages.at("waited_for_writing"), stages.at("writing"));
  EXPECT_THAT(report.text, testing::HasSubstr("2 images were written while the next was predicted"));
  EXPECT_EQ(run_predict(scene.behind("out"), scene.progress).kept, 3);
}

/// Lays a folder where the first label map is to be written, once the output folder is begun.
struct InTheWay : AllInOrder {
  explicit InTheWay(const fs::path& place) : place(place) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override {
    AllInOrder::update(stage, done, total, text);
    if (stage == "predict" && done == 0) fs::create_directories(place / "in_the_way");
  }
  fs::path place;
};

TEST(RunPredictBehind, AnErrorOfWritingIsThatOfItsCase) {
  BesideScene scene("error_of_writing");
  std::string messages[2];
  std::vector<std::string> lines[2];
  for (const bool behind : {false, true}) {
    const std::string name = behind ? "out_b" : "out_a";
    InTheWay progress(scene.path(name) / "phantom_000.nii.gz");
    try {
      run_predict(scene.predict(false, name, behind), progress);
      ADD_FAILURE() << "a label map was written over a folder";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kOutput);
      messages[behind ? 1 : 0] = std::regex_replace(std::string(e.what()), std::regex("out_[ab]"), "out");
    }
    lines[behind ? 1 : 0] = timeless(progress);
    EXPECT_FALSE(fs::exists(scene.path(name) / "phantom_001.nii.gz")) << "the batch has ended";
  }
  EXPECT_EQ(messages[0], messages[1]);
  EXPECT_EQ(lines[0], lines[1]);
}

TEST(RunPredictBehind, AnErrorThatEndsTheBatchLeavesTheListOfWhatWasLeftOut) {
  BesideScene scene("error_and_list");
  Scene::truncate(scene.image(0));
  InTheWay progress(scene.path("out") / "phantom_001.nii.gz");
  expect_error(ErrorKind::kOutput, "phantom_001.nii.gz", [&] { run_predict(scene.behind("out"), progress); });
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), testing::HasSubstr("phantom_000,E_"));
}

/// Calls `end` when the turn of the second image begins, while the first is written: it throws, or returns whether a
/// stop is asked for.
struct EndsInTheNextTurn : InTheWay {
  EndsInTheNextTurn(const fs::path& output, const std::string& blocked, std::function<bool()> end)
      : InTheWay(output / blocked), manifest(output / "manifest.jsonl"), end(std::move(end)) {}
  bool stop_requested() const override {
    return fs::exists(manifest) && Scene::bytes_of(manifest).find("phantom_000") != std::string::npos && end();
  }
  fs::path manifest;
  std::function<bool()> end;
};

TEST(RunPredictBehind, AnErrorOfWritingIsToldHoweverTheNextTurnEndsTheBatch) {
  BesideScene scene("error_and_end");
  const std::vector<std::function<bool()>> ends = {
      []() -> bool { throw Error(ErrorKind::kCheckpoint, "[test] the next turn ends too"); },
      []() -> bool { throw std::runtime_error("[test] the next turn ends too"); },
      []() -> bool { throw Error(ErrorKind::kInput, "[test] the next turn is left out"); },
      []() -> bool { throw std::bad_alloc(); }, [] { return true; }};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::string name = "out_" + std::to_string(i);
    EndsInTheNextTurn progress(scene.path(name), "phantom_000.nii.gz", ends[i]);
    expect_error(ErrorKind::kOutput, "phantom_000.nii.gz", [&] { run_predict(scene.behind(name), progress); });
    const bool warned = std::ranges::any_of(progress.lines, [](const std::string& line) {
      return line.find("the next turn ends too") != std::string::npos;
    });
    EXPECT_EQ(warned, i < 2) << "the other error is not lost";
    EXPECT_TRUE(fs::is_directory(scene.path(name) / "phantom_000.nii.gz")) << "nothing of the label map is there";
  }
}

TEST(RunPredictBehind, AnErrorOfTheNextTurnKeepsWhatIsBeingWritten) {
  BesideScene scene("end_alone");
  EndsInTheNextTurn progress(scene.path("out"), "elsewhere", []() -> bool {
    throw Error(ErrorKind::kCheckpoint, "[test] the next turn ends the batch");
  });
  expect_error(ErrorKind::kCheckpoint, "the next turn", [&] { run_predict(scene.behind("out"), progress); });
  fs::remove_all(scene.path("out/elsewhere"));
  EXPECT_EQ(run_predict(scene.behind("out"), scene.progress).kept, 1);
}

TEST(RunPredictBehind, WithAnAuditEachIsWrittenInItsTurn) {
  BesideScene scene("behind_audit");
  PredictOptions o = scene.behind("out");
  o.task.of<AuditRequest>().file = scene.path("audit.jsonl");
  EXPECT_EQ(run_predict(o, scene.progress).found.at("stages").at("images_behind"), 0)
      << "a kill would leave a complete case without its line";
}

/// Asks to stop as soon as a file is there: while the next image is predicted.
struct StopsOnceWritten : RecordingProgress {
  explicit StopsOnceWritten(fs::path file) : file(std::move(file)) {}
  bool stop_requested() const override { return fs::exists(file); }
  fs::path file;
};

TEST(RunPredictBehind, AStopKeepsWhatIsBeingWritten) {
  BesideScene scene("behind_stopped");
  StopsOnceWritten stopping(scene.path("out/phantom_000.nii.gz"));
  const PredictReport first = run_predict(scene.behind("out"), stopping);
  EXPECT_TRUE(first.interrupted);
  ASSERT_EQ(first.cases.size(), 1u);
  EXPECT_EQ(first.not_reached, (std::vector<std::string>{"phantom_001", "phantom_002"}));
  EXPECT_FALSE(fs::exists(scene.path("out/phantom_001.nii.gz")));
  EXPECT_EQ(run_predict(scene.behind("out"), scene.progress).kept, 1);
  run_predict(scene.predict(false, "turn"), scene.progress);
  scene.expect_same_outputs("turn", "out");
}

/// Keeps the manifest as it is when the network works on the second image.
struct LooksAtTheManifest : RecordingProgress {
  explicit LooksAtTheManifest(const BesideScene& scene) : scene(scene) {}
  void log(std::string_view line) override {
    RecordingProgress::log(line);
    if (line.starts_with("case phantom_000")) seen = Scene::bytes_of(scene.path("out/manifest.jsonl"));
  }
  const BesideScene& scene;
  std::string seen;
};

TEST(RunPredictBehind, ACaseIsInTheManifestBeforeItIsSaidAndTheNextBegins) {
  BesideScene scene("behind_manifest");
  LooksAtTheManifest looking(scene);
  run_predict(scene.behind("out"), looking);
  EXPECT_THAT(looking.seen, testing::ContainsRegex("\"part\": ?\"phantom_000\""));
  EXPECT_THAT(looking.seen, testing::Not(testing::HasSubstr("phantom_001")));
}

TEST(RunPredictBehind, ThePlanCountsBothAndOverTheBudgetItIsWrittenInTurn) {
  BesideScene scene("behind_memory");
  const std::int64_t label_bytes = scene.make_large_images();
  run_predict(scene.predict(false, "warm"), scene.progress);  // libraries are loaded, and counted, once
  const PredictReport in_turn = run_predict(scene.predict(false, "turn"), scene.progress);
  const PredictReport behind = run_predict(scene.behind("behind"), scene.progress);
  ASSERT_EQ(behind.found.at("stages").at("images_behind"), 2) << "this machine has less than 300 MB of free memory";
  EXPECT_GE(behind.memory.plan.total(), in_turn.memory.plan.total() + label_bytes / 2);
  scene.expect_same_outputs("turn", "behind");
  if (test::kShadowed) GTEST_SKIP() << "what the process has grows by freed blocks that the sanitizer keeps";

  const std::int64_t budget = scene.alone_bytes(scene.path("in/large_0.nii")) + label_bytes / 2;
  const PredictReport narrow = run_predict(scene.behind("narrow"), {scene.progress, {.host_budget_bytes = budget}});
  EXPECT_EQ(narrow.found.at("stages").at("images_behind"), 0);
  EXPECT_EQ(narrow.found.at("stages").at("images_behind_over_budget"), 2);
  EXPECT_LE(narrow.memory.plan.total(), budget);
  EXPECT_THAT(narrow.text, testing::HasSubstr("2 images were written in turn: the memory"));
  scene.expect_same_outputs("turn", "narrow");
}

}  // namespace
}  // namespace voxshard
