// predict --recursive: volumes in folders of any depth, of which no name is in any output or log; equal names do not
// collide; numbers stay those of a file; links out of the folder are not followed; foreign files are counted.
#include <sys/stat.h>

#include <fstream>

#include "io/datasets/case_ids.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A run of two steps, and an inbox of folders that are named after patients.
struct RecursiveScene : TrainingScene {
  explicit RecursiveScene(const std::string& name) : TrainingScene(name) {
    TrainOptions o = options("run");
    o.steps = 2;
    run_train(o, progress);
    progress = {};
    put(0, "inbox/MEIER_ANNA/2024/AUFNAHME.nii.gz"), put(1, "inbox/HUBER/AUFNAHME.nii.gz"), put(2, "inbox/OBEN.nii.gz");
    std::ofstream(path("inbox/HUBER/report.MEIER")) << "foreign";
    std::ofstream(path("inbox/HUBER/notes.txt")) << "foreign";
    std::ofstream(path("inbox/.hidden")) << "no matter";
    put(0, "elsewhere/GEHEIM.nii.gz");
    fs::create_symlink(path("elsewhere/GEHEIM.nii.gz"), path("inbox/HUBER/linked.nii.gz"));
    fs::create_directory_symlink(path("elsewhere"), path("inbox/HUBER/folder"));
  }
  fs::path source(int i) const {
    return data() / (i < 2 ? "imagesTr" : "imagesTs") / ("phantom_00" + std::to_string(i) + "_0000.nii.gz");
  }
  void put(int i, const std::string& place) const {
    fs::create_directories(path(place).parent_path());
    fs::copy_file(source(i), path(place), fs::copy_options::overwrite_existing);
  }
  PredictOptions predict(const std::string& output = "out") const {
    return {.run = path("run"), .input = path("inbox"), .output = path(output), .recursive = true};
  }
  std::string alone(int i) const {
    NoProgress none;
    return bytes_of(
        run_predict({.run = path("run"), .input = source(i), .output = path("alone" + std::to_string(i))}, none)
            .cases.at(0)
            .file);
  }
  /// Returns the id by which case_paths.jsonl calls a file.
  std::string id_of(const std::string& name, const std::string& output = "out") const {
    for (const auto& [id, one] : read_case_names(path(output)))
      if (one.name == name) return id;
    return "";
  }
  std::string map_of(const std::string& name) const { return bytes_of(path("out") / (id_of(name) + ".nii.gz")); }
};

std::string all_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(RunPredictRecursive, FilesOfOneNameAreTwoCasesAndNoFolderIsNamed) {
  RecursiveScene scene("recursive");
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  ASSERT_EQ(report.cases.size(), 3u);
  EXPECT_EQ(report.cases[0].id, "case_0001");
  EXPECT_TRUE(scene.map_of("MEIER_ANNA/2024/AUFNAHME") == scene.alone(0));
  EXPECT_TRUE(scene.map_of("HUBER/AUFNAHME") == scene.alone(1));
  EXPECT_TRUE(scene.map_of("OBEN") == scene.alone(2));
  EXPECT_EQ(report.foreign.files.size(), 2u);
  EXPECT_EQ(report.foreign.links, 1) << "a link out of the folder";
  const std::string json = to_json(report).dump(), log = all_of(scene.progress.lines);
  EXPECT_THAT(log,
              HasSubstr("left out: 2 files that are no inputs (1 .txt, 1 of another kind), 1 link that leads out"));
  EXPECT_THAT(log, HasSubstr("case case_0001: predicted in "));
  for (const char* name : {"MEIER", "HUBER", "GEHEIM", "OBEN", "AUFNAHME"}) {
    EXPECT_THAT(json, Not(HasSubstr(name)));
    EXPECT_THAT(log + report.text, Not(HasSubstr(name)));
    for (const auto& entry : fs::directory_iterator(scene.path("out"))) {
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(name)));
      if (entry.path().filename() != kCaseNamesFile && entry.path().extension() != ".gz") {
        EXPECT_THAT(Scene::bytes_of(entry.path()), Not(HasSubstr(name))) << entry.path();
      }
    }
  }
  struct stat about {};
  ASSERT_EQ(::stat((scene.path("out") / kCaseNamesFile).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_THAT(Scene::bytes_of(scene.path("out") / kCaseNamesFile), HasSubstr("notes.txt")) << "named for its owner";
}

TEST(RunPredictRecursive, ALaterCallKeepsNumbersAndPredictsWhatIsNewAlone) {
  RecursiveScene scene("recursive_later");
  run_predict(scene.predict(), scene.progress);
  const std::string anna = scene.id_of("MEIER_ANNA/2024/AUFNAHME"), huber = scene.id_of("HUBER/AUFNAHME");
  scene.put(2, "inbox/HUBER/AUFNAHME.nii.gz");  // another image at the place of one that was predicted
  scene.put(1, "inbox/AA/BB/CC/AUFNAHME.nii.gz");
  std::ofstream(scene.path("inbox/AA/broken.nii.gz")) << "no volume";
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.cases.size(), 4u);
  EXPECT_EQ(scene.id_of("MEIER_ANNA/2024/AUFNAHME"), anna);
  EXPECT_EQ(scene.id_of("HUBER/AUFNAHME"), huber);
  EXPECT_TRUE(scene.map_of("HUBER/AUFNAHME") == scene.alone(2));
  EXPECT_TRUE(scene.map_of("AA/BB/CC/AUFNAHME") == scene.alone(1));
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, scene.id_of("AA/broken"));
  EXPECT_THAT(report.failures[0].message, Not(HasSubstr("broken")));
  EXPECT_THAT(report.failures[0].message, Not(HasSubstr("AA")));
}

TEST(RunPredictRecursive, NamesAreThoseOfTheFoldersWhereThatIsAskedFor) {
  RecursiveScene scene("recursive_names");
  PredictOptions o = scene.predict();
  o.task.of<VolumeReading>().keep_names = true;
  const PredictReport report = run_predict(o, scene.progress);
  std::vector<std::string> ids;
  for (const PredictedCase& c : report.cases) ids.push_back(c.id);
  EXPECT_THAT(ids, testing::ElementsAre("HUBER_AUFNAHME", "MEIER_ANNA_2024_AUFNAHME", "OBEN"));
  EXPECT_TRUE(fs::exists(scene.path("out/MEIER_ANNA_2024_AUFNAHME.nii.gz")));
  EXPECT_THAT(all_of(scene.progress.lines), HasSubstr("(HUBER/notes.txt, HUBER/report.MEIER)"));
  EXPECT_EQ(to_json(report).at("foreign").at("names").size(), 2u);
}

TEST(RunPredictRecursive, AWatchedInboxObeysIt) {
  RecursiveScene scene("recursive_watch");
  fs::remove_all(scene.path("inbox"));
  scene.put(0, "inbox/MEIER/a/AUFNAHME.nii.gz"), scene.put(1, "inbox/MEIER/b/AUFNAHME.nii.gz");
  struct StopAfterTwo : RecordingProgress {
    void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
      stop = stop || (stage == "predict" && done >= 2);
    }
  } progress;
  PredictOptions o = scene.predict();
  o.task.of<VolumeReading>() = {.watch = true, .done = scene.path("done"), .quiet_s = 0};
  const PredictReport report = run_predict(o, progress);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_TRUE(scene.map_of("MEIER/a/AUFNAHME") == scene.alone(0));
  EXPECT_TRUE(scene.map_of("MEIER/b/AUFNAHME") == scene.alone(1));
  EXPECT_TRUE(fs::exists(scene.path("done/MEIER/a/AUFNAHME.nii.gz")));
  EXPECT_TRUE(fs::is_empty(scene.path("inbox")));
}

TEST(RunPredictRecursive, AFileIsRefusedAndAFolderWithoutVolumesSaysWhatItHolds) {
  RecursiveScene scene("recursive_none");
  PredictOptions o = scene.predict();
  o.input = scene.source(0);
  expect_error(ErrorKind::kUsage, "is about folders", [&] { run_predict(o, scene.progress); });
  o.input = scene.path("empty");
  fs::create_directories(scene.path("empty/deep"));
  std::ofstream(scene.path("empty/deep/a.pdf")) << "foreign";
  expect_error(ErrorKind::kNoCase, "but 1 file that is no input (1 .pdf)", [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(fs::exists(o.output));
}

TEST(RunPredictRecursive, WithoutItFoldersAreNotEnteredWhichIsSaid) {
  RecursiveScene scene("recursive_without");
  PredictOptions o = scene.predict();
  o.recursive = false;
  const PredictReport report = run_predict(o, scene.progress);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.cases[0].id, "OBEN");
  EXPECT_THAT(all_of(scene.progress.lines),
              HasSubstr("left out: 2 folders that were not entered; {recursive} looks into them"));
}

}  // namespace
}  // namespace voxshard
