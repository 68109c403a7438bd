// An inbox of studies as DCMTK's storescp lays them down, and a trained run that predicts them.
//
//   receive("st_1", ct());                          // a CT of twelve slices, which the rules choose
//   progress_.at = {{"done 1", stop()}};
//   const PredictReport report = run_predict(watch(), progress_);
#pragma once

#include <fstream>

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/io/study_files.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

/// Acts at lines of the log, each once and in this order; "done 2" stands for the end of the second input.
struct LogActor : RecordingProgress {
  std::vector<std::pair<std::string, std::function<void()>>> at;
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "predict") act("done " + std::to_string(done));
  }
  void log(std::string_view line) override {
    RecordingProgress::log(line);
    act(line);
  }
  void act(std::string_view line) {
    if (at.empty() || line.find(at.front().first) == std::string_view::npos) return;
    const auto next = at.front().second;
    at.erase(at.begin());
    next();
  }
};

/// The run is trained once for all tests of the suite.
class RunStudies : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    trained_ = new TrainingScene("studies_trained");
    TrainOptions o = trained_->options("run");
    o.steps = 2;
    run_train(o, trained_->progress);
  }
  static void TearDownTestSuite() {
    delete trained_;
    trained_ = nullptr;
  }
  RunStudies() { std::filesystem::create_directories(path("inbox")); }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  /// A CT of twelve slices, which the rules below choose.
  static StudySeries ct(const std::string& study = "1") {
    StudySeries s{.study = "1.2.840.77." + study, .series = "1.2.840.77." + study + ".1"};
    s.side = 48, s.slices = 12, s.step_mm = 8;
    return s;
  }
  /// Receives the slices from `first` to before `past` of a series into the folder of its study.
  void receive(const std::string& entry, const StudySeries& s, int first = 0, int past = 1000) const {
    const std::filesystem::path made = path("made") / s.series;
    write_series(made, s, "IM");
    std::filesystem::create_directories(path("inbox") / entry);
    for (int z = first; z < std::min(past, s.slices); ++z)
      std::filesystem::copy_file(made / ("IM" + std::to_string(z)),
                                 path("inbox") / entry / (s.modality + "." + s.series + "." + std::to_string(z)),
                                 std::filesystem::copy_options::overwrite_existing);
  }
  PredictOptions watch(const std::string& rules = "[studies]\nmodality = [\"CT\"]\nslices = [5, 100]\n") const {
    std::ofstream(path("rules.toml")) << rules;
    PredictOptions o{.run = trained_->path("run"), .input = path("inbox"), .output = path("out")};
    o.task.of<VolumeReading>() = {.watch = true, .done = path("done"), .quiet_s = 0, .rules = path("rules.toml")};
    return o;
  }
  std::function<void()> stop() {
    return [this] { progress_.stop = true; };
  }
  static std::size_t files_in(const std::filesystem::path& folder) {
    std::error_code error;
    return static_cast<std::size_t>(std::distance(std::filesystem::recursive_directory_iterator(folder, error), {}));
  }
  /// The number of slices of the label map of a case.
  static std::int64_t slices_of(const PredictedCase& one) { return read_volume_info(one.file).geometry.size[2]; }

  inline static TrainingScene* trained_ = nullptr;
  ScratchFolder folder_{"studies"};
  LogActor progress_;
};

}  // namespace voxshard
