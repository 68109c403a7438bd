// Two calls into one folder never leave a mixture of both: killed preparations, second trainings, demos over demos,
// predictions over predictions, and files of other programs.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "io/output/output_folder.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/pipelines/prepare_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Calls `act` at the first update of a stage that has reached this number.
struct ActingProgress : RecordingProgress {
  ActingProgress(std::string at, std::int64_t after, std::function<void()> what)
      : stage(std::move(at)), done(after), act(std::move(what)) {}
  void update(std::string_view now, std::int64_t count, std::int64_t, std::string_view) override {
    if (now == stage && count == done) act();
  }
  std::string stage;
  std::int64_t done;
  std::function<void()> act;
};

/// Runs `body` in a process that is killed by SIGKILL when `stage` has come to `done`.
void killed_at(const std::string& stage, std::int64_t done, const std::function<void(Progress&)>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ActingProgress progress(stage, done, [] { ::raise(SIGKILL); });
    try {
      body(progress);
    } catch (...) {
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before " << stage << " " << done;
}

std::string spacing_x(const Scene& scene, int i) {
  return std::to_string(read_volume_info(prepared_image(scene.work(), Scene::id(i))).geometry.spacing[0]);
}

TEST(Folders, AKilledPreparationWithOtherOptionsIsNeverTrainedOn) {
  Scene scene("folders_killed");
  scene.write_dataset(4);
  prepare_dataset(preparation(scene, "keep"), scene.progress);
  ASSERT_EQ(read_prepared(scene.work()).cases.size(), 4u);
  killed_at("prepare", 2, [&](Progress& progress) { prepare_dataset(preparation(scene, "4,4,4"), progress); });
  expect_error(ErrorKind::kInput, "did not come to its end", [&] { read_prepared(scene.work()); });
  // Resuming with the new options repeats nothing that is done; the old options make everything anew.
  const PrepareReport rest = prepare_dataset(preparation(scene, "4,4,4", true), scene.progress);
  EXPECT_EQ(rest.skipped, 2);
  EXPECT_EQ(rest.prepared, 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(spacing_x(scene, i), std::to_string(4.0)) << i;
  killed_at("prepare", 1, [&](Progress& progress) { prepare_dataset(preparation(scene, "keep", true), progress); });
  EXPECT_EQ(prepare_dataset(preparation(scene, "4,4,4", true), scene.progress).skipped, 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(spacing_x(scene, i), std::to_string(4.0)) << i;
  EXPECT_EQ(read_prepared(scene.work()).cases.size(), 4u);
}

TEST(Folders, CasesOfAnotherPreparationAreRefusedByName) {
  Scene scene("folders_swapped");
  scene.write_dataset(3);
  prepare_dataset(preparation(scene, "keep"), scene.progress);
  PrepareOptions other = preparation(scene, "keep");
  other.work = scene.path("other"), other.normalise = Normalise::kZscore;  // images of the same size
  prepare_dataset(other, scene.progress);
  std::filesystem::copy_file(prepared_image(other.work, "case_1"), prepared_image(scene.work(), "case_1"),
                             std::filesystem::copy_options::overwrite_existing);
  expect_error(ErrorKind::kInput, "1 of 3 cases are missing or not as the last `voxshard prepare` wrote them (case_1)",
               [&] { read_prepared(scene.work()); });
  EXPECT_EQ(prepare_dataset(preparation(scene, "keep", true), scene.progress).prepared, 1);
  EXPECT_EQ(read_prepared(scene.work()).cases.size(), 3u);
  std::ofstream(scene.work() / "plans.json", std::ios::app) << " ";
  expect_error(ErrorKind::kInput, "plans.json was changed", [&] { read_prepared(scene.work()); });
}

TEST(Folders, ACopyOfAPreparedFolderIsAsGood) {
  Scene scene("folders_copy");
  scene.write_dataset(2);
  prepare_dataset(preparation(scene, "keep"), scene.progress);
  std::filesystem::copy(scene.work(), scene.path("copy"), std::filesystem::copy_options::recursive);
  EXPECT_EQ(read_prepared(scene.path("copy")).cases.size(), 2u);
}

TEST(Folders, ResumingKnowsSourcesByTheirContent) {
  Scene scene("folders_sources");
  scene.write_dataset(2);
  prepare_dataset(preparation(scene, "keep"), scene.progress);
  const auto time = std::filesystem::last_write_time(scene.label(1));
  std::filesystem::last_write_time(scene.image(0), time + std::chrono::hours(1));
  EXPECT_EQ(prepare_dataset(preparation(scene, "keep", true), scene.progress).skipped, 2) << "touched, not changed";
  Volume label = Scene::make_label();
  label.voxels.as<std::int32_t>()[7] = 1;
  write_volume(scene.label(1), label, DiskType::kU8);
  std::filesystem::last_write_time(scene.label(1), time);
  EXPECT_LT(prepare_dataset(preparation(scene, "keep", true), scene.progress).skipped, 2) << "changed at the old time";
}

TEST(Folders, TheDataSetIsNeverTheWorkFolder) {
  Scene scene("folders_inplace");
  scene.write_dataset(2);
  const std::string before = Scene::bytes_of(scene.data() / "dataset.json");
  std::filesystem::create_directory_symlink(scene.data(), scene.path("link"));
  for (const auto& work : {scene.data(), scene.data() / "work", scene.path("link"), scene.data() / "imagesTr"}) {
    PrepareOptions o = preparation(scene, "keep");
    o.work = work;
    expect_error(ErrorKind::kUsage, "could overwrite", [&] { prepare_dataset(o, scene.progress); });
  }
  EXPECT_EQ(Scene::bytes_of(scene.data() / "dataset.json"), before);
  TrainOptions train{.work = scene.data(), .run = scene.path("run")};
  expect_error(ErrorKind::kInput, "prepare " + scene.data().string() + " {output} WORK",
               [&] { run_train(train, scene.progress); });
}

TEST(Folders, ASecondTrainingIntoTheFolderOfARunningOneIsRefused) {
  TrainingScene scene("folders_second");
  TrainOptions whole = scene.options("whole");
  run_train(whole, scene.progress);
  int refused = 0;
  ActingProgress progress("train", 2, [&] {
    for (const bool resume : {true, false}) {
      TrainOptions second = scene.options("run");
      second.resume = resume, second.restart = !resume, second.seed = 5;
      expect_error(ErrorKind::kOutput, "in use by another voxshard (process",
                   [&] { run_train(second, scene.progress); });
      ++refused;
    }
    expect_error(ErrorKind::kOutput, "in use by another voxshard", [&] {
      prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "9,9,9"}, scene.progress);
    });
  });
  TrainOptions first = scene.options("run");
  first.checkpoint_every = 1;
  run_train(first, progress);
  EXPECT_EQ(refused, 2);
  EXPECT_TRUE(scene.last_bytes("run") == scene.last_bytes("whole"));
  const std::string rows = Scene::bytes_of(first.run / "results.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 6);
}

TEST(Folders, AKilledTrainingDoesNotKeepItsFolder) {
  TrainingScene scene("folders_dead");
  TrainOptions o = scene.options("run");
  o.resources.threads = 1;
  killed_at("train", 2, [&](Progress& progress) { run_train(o, progress); });
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
}

TEST(Folders, TrainReplacesNoFilesOfOthers) {
  TrainingScene scene("folders_foreign");
  for (const char* name : {"results.csv", "run.json", "notes.txt"}) {
    for (const bool restart : {false, true}) {
      TrainOptions o = scene.options(std::string("of_") + name);
      o.restart = restart;
      std::filesystem::create_directories(o.run);
      std::ofstream(o.run / name) << "mine";
      expect_error(ErrorKind::kOutput, std::string("holds ") + name, [&] { run_train(o, scene.progress); });
      EXPECT_EQ(Scene::bytes_of(o.run / name), "mine");
    }
  }
}

TEST(Folders, ADemoOverAnotherDemoDoesNotMixThem) {
  Scene scene("folders_demo");
  const auto demo = [&](int cases, int test, std::uint64_t seed) {
    run_demo({.folder = scene.data(), .cases = cases, .test_cases = test, .seed = seed, .threads = 2}, scene.progress);
  };
  demo(1, 2, 0);
  const std::string before = Scene::bytes_of(scene.data() / "labelsTs" / "phantom_002.nii.gz");
  expect_error(ErrorKind::kOutput, "holds phantom_002", [&] { demo(1, 1, 0); });
  EXPECT_EQ(Scene::bytes_of(scene.data() / "labelsTs" / "phantom_002.nii.gz"), before);
  demo(2, 1, 0);
  Dataset d = read_dataset(scene.data());
  EXPECT_EQ(case_ids(d.training), (std::vector<std::string>{"phantom_000", "phantom_001"}));
  EXPECT_EQ(case_ids(d.test), (std::vector<std::string>{"phantom_002"})) << "none in both";
  killed_at("phantoms", 1, [&](Progress& progress) {
    run_demo({.folder = scene.data(), .cases = 2, .test_cases = 1, .seed = 7}, progress);
  });
  EXPECT_FALSE(std::filesystem::exists(scene.data() / "dataset.json"));
  demo(2, 0, 0);
  d = read_dataset(scene.data());
  EXPECT_EQ(d.training.size(), 2u);
  EXPECT_TRUE(d.test.empty());
}

TEST(Folders, ADemoOfImagesOverAnotherDoesNotMixThem) {
  Scene scene("folders_pictures");
  const auto demo = [&](int cases, int test) {
    run_demo({.folder = scene.data(), .task = "detection", .cases = cases, .test_cases = test}, scene.progress);
  };
  demo(1, 2);
  demo(3, 0);
  EXPECT_TRUE(std::filesystem::is_empty(scene.data() / "val"));
  EXPECT_FALSE(std::filesystem::exists(scene.data() / "annotations" / "instances_val.json"));
}

TEST(Folders, WhatIsBeingWrittenIsNotRead) {
  Scene scene("folders_reading");
  int asked = 0;
  const auto refused = [&](const std::function<void()>& read) {
    return [read, &asked] {
      expect_error(ErrorKind::kInput, "is being written by another voxshard (process", read);
      ++asked;
    };
  };
  ActingProgress demo("phantoms", 2, refused([&] { prepare_dataset(preparation(scene, "keep"), scene.progress); }));
  run_demo({.folder = scene.data(), .cases = 2, .test_cases = 1}, demo);
  TrainOptions train{.work = scene.work(), .run = scene.path("run")};
  ActingProgress prepare("prepare", 1, refused([&] { run_train(train, scene.progress); }));
  prepare_dataset(preparation(scene, "8,8,8"), prepare);
  EvaluateLabelsOptions evaluate;
  evaluate.predictions = scene.path("out"), evaluate.references = scene.data() / "labelsTr";
  OutputFolder out({.folder = scene.path("out"), .command = "predict", .inputs = {}});
  out.start({.options = "a", .parts = {}});
  refused([&] { evaluate_labels(evaluate, scene.progress); })();
  EXPECT_EQ(asked, 3);
}

TEST(Folders, PredictionsOfTwoRunsAreNotMixed) {
  TrainingScene scene("folders_predict");
  for (const char* name : {"a", "b"}) {
    TrainOptions o = scene.options(name);
    o.steps = 1, o.seed = name[0];
    run_train(o, scene.progress);
  }
  const auto predict = [&](const std::string& run, const std::filesystem::path& input) {
    return run_predict({.run = scene.path(run), .input = input, .output = scene.path("out")}, scene.progress);
  };
  const auto train = scene.data() / "imagesTr", test = scene.data() / "imagesTs";
  EXPECT_EQ(predict("a", train).cases.size(), 2u);
  EXPECT_EQ(predict("a", test).cases.size(), 1u) << "more of the same run";
  const auto file = scene.path("out") / "phantom_000.nii.gz";
  const std::string before = Scene::bytes_of(file);
  expect_error(ErrorKind::kOutput, "holds phantom_00", [&] { predict("b", test); });
  EXPECT_TRUE(Scene::bytes_of(file) == before);
  write_volume(file, Scene::make_label(), DiskType::kU8);  // corrected by hand
  expect_error(ErrorKind::kOutput, "phantom_000.nii.gz, which somebody changed", [&] { predict("a", train); });
  EXPECT_TRUE(Scene::bytes_of(file) != before);
}

}  // namespace
}  // namespace voxshard
