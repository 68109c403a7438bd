// Detection in new images: COCO results in the pixels of the file, the same however the image is cut, a bad image is
// left out alone, and no input is ever overwritten.
#include "io/files/config_file.h"
#include "io/output/output_folder.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/detection/scores/predict_image.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

DetectionPrediction& prediction_settings(PredictOptions& o) { return o.task.of<DetectionPrediction>(); }

/// A run of a few steps on the images of the scene.
struct DetectorScene : ImagesScene {
  explicit DetectorScene(const std::string& name) : ImagesScene(name) {
    TrainOptions o = options("run");
    o.steps = 12, detection_options(o).held_out.validate = false, o.optimizer.learning_rate = 3e-3;
    run_train(o, progress);
  }
  PredictOptions predict(const std::string& name = "found.json") const {
    PredictOptions o{.run = path("run"), .input = annotations(), .output = path(name)};
    prediction_settings(o).postprocess = "legacy";
    return o;
  }
};

TEST(PredictDetections, AreCocoResultsInsideOfTheImagesOfTheFile) {
  DetectorScene scene("detect_valid");
  PredictOptions o = scene.predict();
  const auto drawn = prediction_settings(o).draw = scene.path("drawn");
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_EQ(report.cases.size(), 7u);
  const auto results = read_json(o.output);
  ASSERT_TRUE(results.is_array());
  EXPECT_EQ(static_cast<std::int64_t>(results.size()), report.found.at("detections"));
  ASSERT_GT(results.size(), 7u) << "without a least score there are always detections";
  for (const auto& r : results) {
    const auto id = r.at("image_id").get<std::int64_t>(), category = r.at("category_id").get<std::int64_t>();
    EXPECT_TRUE(category == 7 || category == 40) << "the ids of the data set, not of the network";
    const double height = id == 106 ? 40 : 64, width = id == 106 ? 96 : 48;
    const auto b = r.at("bbox").get<std::vector<double>>();
    ASSERT_EQ(b.size(), 4u);
    EXPECT_TRUE(b[0] >= 0 && b[1] >= 0 && b[2] > 0 && b[3] > 0 && b[0] + b[2] <= width && b[1] + b[3] <= height) << r;
    EXPECT_TRUE(r.at("score") > 0 && r.at("score") <= 1);
    EXPECT_FALSE(r.contains("file_name"));
  }
  EXPECT_EQ(read_rgb(drawn / "p6.png").shape(), (Shape{40, 96, 3}));
}

TEST(PredictDetections, PicturesInFoldersAreNumberedAndNoFolderIsNamed) {
  DetectorScene scene("detect_recursive");
  namespace fs = std::filesystem;
  for (const char* folder : {"in/MEIER", "in/HUBER/2024"}) {
    fs::create_directories(scene.path(folder));
    fs::copy_file(scene.image(0), scene.path(folder) / "p.png");
  }
  fs::copy_file(scene.image(6), scene.path("in/HUBER/SCHULZ.png"));
  std::ofstream(scene.path("in/HUBER/KRANK.png")) << "no picture";
  std::ofstream(scene.path("in/notes.txt")) << "foreign";
  PredictOptions o = scene.predict();
  o.input = scene.path("in"), o.recursive = true;
  prediction_settings(o).draw = scene.path("drawn");
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_EQ(report.cases.size(), 3u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.foreign.files.size(), 1u);
  std::string said = to_json(report).dump() + report.text + Scene::bytes_of(o.output) +
                     Scene::bytes_of(scene.path("found.quarantine.csv"));
  for (const std::string& line : scene.progress.lines) said += line;
  for (const char* name : {"MEIER", "HUBER", "KRANK", "SCHULZ"})
    EXPECT_THAT(said, testing::Not(testing::HasSubstr(name)));
  EXPECT_THAT(Scene::bytes_of(scene.path("found.case_paths.jsonl")), testing::HasSubstr("\"name\":\"MEIER/p.png\""));
  EXPECT_TRUE(fs::exists(scene.path("drawn/" + report.cases[0].id + ".png")));
  o.output = scene.path("named.json"), prediction_settings(o).keep_names = true;
  prediction_settings(o).draw.clear();
  run_predict(o, scene.progress);
  EXPECT_THAT(Scene::bytes_of(o.output), testing::HasSubstr("\"file_name\": \"HUBER/2024/p.png\""));
  EXPECT_FALSE(fs::exists(scene.path("named.case_paths.jsonl")));
}

TEST(PredictDetections, APartitionFindsTheSame) {
  DetectorScene scene("detect_cut");
  PredictOptions whole = scene.predict(), cut = scene.predict("cut.json");
  whole.precision = cut.precision = DType::kF32;
  cut.partition = Dims{1, 2, 3, 1};
  run_predict(whole, {scene.progress, {.threads = 2}}), run_predict(cut, scene.progress);
  EXPECT_TRUE(Scene::bytes_of(whole.output) == Scene::bytes_of(cut.output));
}

TEST(PredictDetections, ImagesOfAFolderAreNumberedByName) {
  DetectorScene scene("detect_folder");
  PredictOptions o = scene.predict();
  o.input = scene.data() / "images";
  std::ofstream(o.input / "notes.txt") << "not a picture";
  std::ofstream(o.input / "a_broken.png") << "no picture";
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_EQ(report.cases.size(), 7u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "a_broken.png");
  EXPECT_THAT(Scene::bytes_of(scene.path("found.quarantine.csv")), testing::HasSubstr("a_broken.png"));
  for (const auto& r : read_json(o.output)) {
    const std::string name = r.at("file_name");
    EXPECT_EQ(r.at("image_id"), name[1] - '0' + 2) << name;
  }
}

TEST(PredictDetections, APictureThatTheFileNamesButIsGoneIsSaidOnceAndListed) {
  DetectorScene scene("detect_gone");
  std::filesystem::remove(scene.image(3));
  scene.progress.lines.clear();
  const PredictReport report = run_predict(scene.predict(), scene.progress);
  EXPECT_EQ(report.cases.size(), 6u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_MISSING");
  std::vector<std::string> said;
  for (const std::string& line : scene.progress.lines)
    if (line.ends_with("[quarantined]")) said.push_back(line);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], testing::HasSubstr("p3.png"));
}

TEST(PredictDetections, OutputsNeverReplaceInputs) {
  DetectorScene scene("detect_inplace");
  PredictOptions o = scene.predict();
  o.output = o.input;
  expect_error(ErrorKind::kUsage, "could overwrite", [&] { run_predict(o, scene.progress); });
  o = scene.predict(), o.input = prediction_settings(o).draw = scene.data() / "images";
  expect_error(ErrorKind::kUsage, "could overwrite", [&] { run_predict(o, scene.progress); });
  o = scene.predict(), o.output = scene.path("folder");
  expect_error(ErrorKind::kUsage, "JSON file", [&] { run_predict(o, scene.progress); });
  o = scene.predict(), prediction_settings(o).postprocess = "best";
  expect_error(ErrorKind::kUsage, "legacy_export", [&] { run_predict(o, scene.progress); });
}

TEST(PredictDetections, WhatDoesNotFitTheRunIsRefusedBeforeAnyOutput) {
  DetectorScene scene("detect_refused");
  PredictOptions o = scene.predict("new/found.json");
  o.partition = Dims{1, 2, 2, 1, 1};
  expect_error(ErrorKind::kConfig, "takes 4", [&] { run_predict(o, scene.progress); });
  o = scene.predict("new/found.json");
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] {
    run_predict(o, {scene.progress, {.core_budget_bytes = 1 << 18}});
  });
  o = scene.predict("new/found.json"), o.input = scene.path("empty");
  expect_error(ErrorKind::kInput, "does not exist", [&] { run_predict(o, scene.progress); });
  std::filesystem::create_directories(o.input);
  expect_error(ErrorKind::kNoCase, "of pictures; what is read: voxshard help formats",
               [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(std::filesystem::exists(scene.path("new")));
}

TEST(PredictDetections, ACompleteCallRemovesWhatAStopLeft) {
  DetectorScene scene("detect_stopped");
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
      stop = stop || (stage == "predict" && done >= 1);
    }
  } stopping;
  EXPECT_TRUE(run_predict(scene.predict(), stopping).interrupted);
  EXPECT_TRUE(std::filesystem::exists(scene.path("found.incomplete.json")));
  EXPECT_FALSE(run_predict(scene.predict(), scene.progress).interrupted);
  EXPECT_TRUE(std::filesystem::exists(scene.path("found.json")));
  EXPECT_FALSE(std::filesystem::exists(scene.path("found.incomplete.json")));
}

TEST(PredictDetections, ImagesAreNotDrawnIntoAFolderThatIsBeingWritten) {
  DetectorScene scene("detect_locked");
  PredictOptions o = scene.predict();
  prediction_settings(o).draw = scene.path("drawn");
  const OutputFolder other({.folder = scene.path("drawn"), .command = "predict (pictures)", .inputs = {}});
  expect_error(ErrorKind::kOutput, "in use by another voxshard", [&] { run_predict(o, scene.progress); });
  EXPECT_FALSE(std::filesystem::exists(o.output));
}

}  // namespace
}  // namespace voxshard
