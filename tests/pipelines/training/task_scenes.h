// The data and settings with which each task trains in the tests of laws that hold for all tasks: a small data set, a
// run of some steps, settings that belong to another run, and edits of the data with the refusal by a resumed run. A
// new task is a row.
//
//   for (const TaskScene& task : task_scenes()) { TaskRun run(task, "laws"); run_train(run.options("whole"),
//   run.progress()); }
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/pipelines/tasks/classification/clip_scene.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {

/// Replaces a file below the folder of the scene by what `make` returns for its bytes.
struct DataEdit {
  std::string file;
  std::function<std::string(const std::string& bytes)> make;
  std::string refusal;  // empty: the data count as unchanged
  ErrorKind kind = ErrorKind::kCheckpoint;
  bool keeps_time = false;  // the time of the last change, which identifies prepared files
};

/// A setting with which a run cannot be resumed.
struct OtherSetting {
  std::string refusal;
  std::function<void(TrainOptions&)> change;
};

struct TaskScene {
  const char* name;
  std::function<std::shared_ptr<Scene>(const std::string& folder)> data;
  std::function<TrainOptions(const Scene& scene)> options;
  Dims cut;                          // the cut of another run that computes the same
  std::vector<OtherSetting> others;  // settings of this task alone
  std::vector<DataEdit> edits;
  bool hashes_first = true;               // hashes its data before the first step, not only on resuming
  std::optional<int> stop_in_validation;  // stop at this query after a validation has begun; none: it cannot stop
};
inline void PrintTo(const TaskScene& task, std::ostream* out) { *out << task.name; }

/// The data of a task, and runs on them.
struct TaskRun {
  TaskRun(const TaskScene& task, const std::string& law) : scene(task.data(law + "_" + task.name)), task_(task) {}

  TrainOptions options(const std::string& run) const {
    TrainOptions o = task_.options(*scene);
    o.run = scene->path(run), o.resources.threads = 2;
    return o;
  }
  std::string bytes(const std::string& file) const { return Scene::bytes_of(scene->path(file)); }

  std::shared_ptr<Scene> scene;
  RecordingProgress progress;

 private:
  const TaskScene& task_;
};

/// Returns a maker of scenes of that kind, to which `fill` adds files.
template <class Kind>
auto scene_of(const std::function<void(const Kind&)>& fill = nullptr) {
  return [fill](const std::string& folder) -> std::shared_ptr<Scene> {
    const auto scene = std::make_shared<Kind>(folder);
    if (fill) fill(*scene);
    return scene;
  };
}
/// Returns a maker of options: those that `make` returns for such a scene, changed by `set`.
template <class Kind, class Make>
auto options_of(Make make, void (*set)(TrainOptions&)) {
  return [make, set](const Scene& scene) {
    TrainOptions o = make(static_cast<const Kind&>(scene));
    set(o);
    return o;
  };
}

/// Sets every change of pictures.
inline void change_pictures(ImageSampling& sampling) {
  sampling.mosaic = 0.5;
  sampling.augmentation = {.mirror = 0.5,
                           .mirror_vertical = 0.5,
                           .scale = {0.8, 1.25},
                           .rotation_degrees = 20,
                           .brightness = 0.1,
                           .hue_degrees = 15};
}

inline ClassTaskOptions changed_digits() {
  ClassTaskOptions options{.normalise = "none"};
  options.augmentation = {.scale = {0.8, 1.25}, .rotation_degrees = 10, .brightness = 0.1};
  return options;
}

inline std::vector<TaskScene> task_scenes() {
  const auto classes = [](TrainOptions& o) -> ClassTaskOptions& { return o.task.of<ClassTaskOptions>(); };
  const auto longer = [](const std::string& bytes) { return bytes + "more"; };
  const auto turned = [](std::string bytes) {
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] == 0 ? 1 : 0);
    return bytes;
  };
  const auto moved = [](const std::string& bytes) {
    nlohmann::json json = nlohmann::json::parse(bytes);
    json["annotations"][0]["bbox"][0] = json["annotations"][0]["bbox"][0].get<double>() + 0.5;
    return json.dump();
  };
  return {
      {.name = "volumes",
       .data = scene_of<TrainingScene>(),
       .options = options_of<TrainingScene>([](const auto& s) { return s.options(""); },
                                            [](TrainOptions& o) {
                                              volumes(o).fold = "0", o.optimizer.ema = 0.9;
                                              o.spec.as<UNetConfig>().members = 2;
                                              volumes(o).sampling.augmentation = {.space = true, .intensity = true};
                                            }),
       .cut = {1, 2, 3, 2, 1},
       .others = {{"/training/crop",
                   [](auto& o) {
                     volumes(o).sampling.crop = {16, 16, 8};
                   }},
                  {"/model/base_filters", [](auto& o) { o.spec.set("base_filters", std::int64_t{8}); }}},
       .edits = {{"work/labels/phantom_001.nii", turned, "phantom_001", ErrorKind::kInput},
                 {"work/labels/phantom_001.nii", turned, "/phantom_001 has changed", ErrorKind::kCheckpoint, true}},
       .hashes_first = false,
       .stop_in_validation = 5},
      {.name = "pictures",
       .data = scene_of<ImagesScene>(),
       .options = options_of<ImagesScene>(
           [](const auto& s) { return s.options(""); },
           [](auto& o) {
             detection_options(o).sampling.crop = {40, 40}, change_pictures(detection_options(o).sampling);
             o.spec.set("anchors", std::string("fitted")), o.spec.set("box_loss", std::string("giou"));
           }),
       .cut = {1, 4, 2, 1},
       .others = {{"/training/mirror", [](auto& o) { detection_options(o).sampling.augmentation.mirror = 0; }},
                  {"/training/mosaic", [](auto& o) { detection_options(o).sampling.mosaic = 0.25; }},
                  {"/training/hue", [](auto& o) { detection_options(o).sampling.augmentation.hue_degrees = 9; }},
                  {"/model/anchors", [](auto& o) { o.spec.set("anchors", std::string("reference")); }},
                  {"/model/box_loss", [](auto& o) { o.spec.set("box_loss", std::string("huber")); }}},
       .edits = {{"data/images/p2.png", longer, "p2.png has changed"},
                 {"data/instances.json", moved, "has changed"},
                 {"data/instances.json", [](const std::string& bytes) { return nlohmann::json::parse(bytes).dump(1); },
                  ""}},
       .stop_in_validation = 0},
      {.name = "digits",
       .data = scene_of<ClassScene>([](const auto& s) { s.idx("data", 23, 10); }),
       .options = options_of<ClassScene>([](const auto& s) { return s.digits(""); },
                                         [](auto& o) { o.task.template of<ClassTaskOptions>() = changed_digits(); }),
       .cut = {1, 4, 1, 1},
       .others = {{"/prepare/", [classes](auto& o) { classes(o).normalise = "dataset"; }},
                  {"/training/rotation", [classes](auto& o) { classes(o).augmentation.rotation_degrees = 5; }}},
       .edits = {{"data/train-images-idx3-ubyte", turned, "has changed"}}},
      {.name = "classes",
       .data = scene_of<ClassScene>([](const auto& s) { s.dark_and_bright("data", 5); }),
       .options = options_of<ClassScene>([](const auto& s) { return s.toy(""); }, [](auto&) {}),
       .cut = {1, 2, 2, 1},
       .others = {{"/prepare/", [classes](auto& o) { classes(o).normalise = "none"; }}},
       .edits = {{"data/dark/3.png", longer, "/dark has changed"},
                 {"data/dark/new.png", [](const std::string&) { return png_bytes({.width = 8, .height = 8}, {100}); },
                  ""}}},
      {.name = "clips",
       .data = scene_of<ClipScene>([](const auto& s) { s.dark_and_bright_videos("data", 3, 8); }),
       .options = options_of<ClipScene>(
           [](const auto& s) { return s.toy_clips(""); },
           [](auto& o) { o.task.template of<ClassTaskOptions>().clips = {.shift = 2, .mirror = 0.5}; }),
       .cut = {1, 2, 2, 1, 1},
       .others = {{"is of a run on other data", [classes](auto& o) { classes(o).clip_length = 2; }}},
       .edits = {{"data/bright/1.mp4", longer, "/bright has changed"}}}};
}

}  // namespace voxshard
