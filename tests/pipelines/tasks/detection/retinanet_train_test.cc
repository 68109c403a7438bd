// Training a detector: the loss falls, images that cannot be used are left out alone, and anchors that are fitted to
// the boxes of the data set stay those of the run.
#include <cstring>

#include "io/files/config_file.h"
#include "libcore/base/text.h"
#include "libcore/detection/anchor_shapes.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/trained_run.h"
#include "pipelines/tasks/detection/scores/predict_image.h"
#include "pipelines/training/train_settings.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

std::vector<double> losses_of(const std::filesystem::path& run) {
  std::istringstream rows(Scene::bytes_of(run / "results.csv"));
  std::vector<double> losses;
  std::string row;
  std::getline(rows, row);
  while (std::getline(rows, row)) losses.push_back(std::stod(row.substr(row.find(',') + 1)));
  return losses;
}

TEST(TrainRetinaNet, LowersTheLossAndLeavesTheRunFolder) {
  ImagesScene scene("detector_loss");
  TrainOptions o = scene.options("run");
  o.steps = 25, o.optimizer.learning_rate = 3e-3, o.spec.cut.mesh.partition = {1, 2, 2, 1};
  const TrainReport report = run_train(o, scene.progress);
  const std::vector<double> losses = losses_of(o.run);
  ASSERT_EQ(losses.size(), 25u);
  EXPECT_LT(losses.back(), 0.7 * losses.front());
  EXPECT_EQ(report.metric, "ap50");
  EXPECT_EQ(report.train_cases + report.validation_cases, 7);
  EXPECT_EQ(report.validation->by_class.size(), 2u);
  EXPECT_TRUE(report.validation.has_value());
  for (const char* key : {"mean_ap50", "best_ap50", "validation_ap50"})
    EXPECT_TRUE(report.to_json().contains(key)) << key;
  for (const char* name :
       {"run.json", "plans.json", "splits_final.json", "quarantine.csv", "checkpoints/best.safetensors"})
    EXPECT_TRUE(std::filesystem::exists(o.run / name)) << name;
  const auto model = read_json(o.run / "run.json").at("model");
  EXPECT_EQ(model.at("model"), "retinanet");
  EXPECT_EQ(model.at("classes"), 3) << "two kinds of objects and the background";
}

TEST(TrainRetinaNet, AImageThatIsLeftOutIsCounted) {
  ImagesScene scene("detector_partial");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  EXPECT_EQ(run_train(o, scene.progress).left_out, 0);
  std::filesystem::remove(scene.image(0));
  o.run = scene.path("partial");
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.left_out, 1);
  EXPECT_EQ(report.train_cases + report.validation_cases, 6);
  EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), testing::HasSubstr("E_MISSING"));
}

TEST(TrainRetinaNet, SaysWhatSpoilsADetector) {
  ImagesScene scene("detector_warnings");
  nlohmann::json set = read_json(scene.annotations());
  for (auto& box : set.at("annotations")) box["iscrowd"] = 1;
  set.at("images").at(0).at("width") = 480;
  std::ofstream(scene.annotations()) << set.dump();
  TrainOptions o = scene.options("run");
  o.steps = 1, detection_options(o).held_out.validate = false;
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("W_SIZE p0.png has 48 x 64 pixels when upright")));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("no box trains")));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("coarsest level have 2 values of a channel in a step")));
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("give {batch} 4 or more")));
  ImagesScene right("detector_no_warnings");
  o = right.options("run");
  o.steps = 1, o.batch = 4;
  run_train(o, right.progress);
  for (const char* words : {"W_SIZE", "no box trains", "coarsest level"})
    EXPECT_THAT(right.progress.lines, Not(Contains(HasSubstr(words))));
}

TEST(TrainRetinaNet, WhatIsHeldOutIsNotTrainedOn) {
  ImagesScene scene("detector_split");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  run_train(o, scene.progress);
  const auto split = read_json(o.run / "splits_final.json").at(0);
  std::set<std::string> all = split.at("train").get<std::set<std::string>>();
  EXPECT_EQ(all.size(), split.at("train").size());
  for (const auto& name : split.at("val")) EXPECT_TRUE(all.insert(name.get<std::string>()).second) << name;
  EXPECT_EQ(all.size(), 7u);
  nlohmann::json some = read_json(scene.annotations());
  some.at("images").erase(3), some.at("images").erase(1);
  std::erase_if(some.at("annotations").get_ref<nlohmann::json::array_t&>(),
                [](const nlohmann::json& box) { return box.at("image_id") == 101 || box.at("image_id") == 103; });
  detection_options(o).held_out.file = scene.data() / "some.json";
  std::ofstream(detection_options(o).held_out.file) << some.dump();
  o.run = scene.path("named");
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.validation_cases, 5) << "a file names them";
  EXPECT_EQ(report.train_cases, 2) << "without those that validate";
  o.run = scene.path("all"), detection_options(o).held_out.validate = false;
  expect_error(ErrorKind::kUsage, "both say what validates", [&] { run_train(o, scene.progress); });
  detection_options(o).held_out.file.clear();
  EXPECT_EQ(run_train(o, scene.progress).validation_cases, 0);
}

TEST(TrainRetinaNet, ABrokenImageCostsItselfAndTheBudgetIsHard) {
  ImagesScene scene("detector_broken");
  Scene::truncate(scene.image(2));
  TrainOptions o = scene.options("run");
  o.steps = 1;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_EQ(report.train_cases + report.validation_cases, 6);
  EXPECT_THAT(Scene::bytes_of(o.run / "quarantine.csv"), testing::HasSubstr("p2.png"));
  o.run = scene.path("tight"), o.resources.core_budget_bytes = 1 << 19;
  expect_error(ErrorKind::kBudget, "nothing was allocated", [&] { run_train(o, scene.progress); });
  EXPECT_FALSE(std::filesystem::exists(o.run));
}

TEST(TrainRetinaNet, AUNetDoesNotTrainOnImages) {
  ImagesScene scene("detector_unet");
  TrainOptions o = scene.options("run");
  o.spec = ModelSpec{};
  expect_error(ErrorKind::kInput, "voxshard prepare", [&] { run_train(o, scene.progress); });
}

std::string anchors_of(const std::filesystem::path& run) {
  return read_json(run / "run.json").at("model").at("anchors").get<std::string>();
}

/// The settings of a small detector for one step on all images.
void say_small(TrainSettings& train, const ImagesScene& scene, std::map<std::string, std::string> words) {
  words.merge(std::map<std::string, std::string>{{"model", "retinanet"},
                                                 {"backbone", "resnet18"},
                                                 {"base-filters", "4"},
                                                 {"pyramid-filters", "8"},
                                                 {"fold", "all"},
                                                 {"batch", "2"},
                                                 {"steps", "1"}});
  train.options.work = scene.annotations();
  for (const auto& [name, word] : words) train.settings.say(Layer::kConfig, name, {word});
}

TEST(TrainRetinaNet, ClassesOfTheLeftAndTheRightAreNotMirroredUnlessThatIsAskedFor) {
  ImagesScene scene("detector_sides");
  nlohmann::json json = read_json(scene.annotations());
  json.at("categories")[0]["name"] = "left_hand", json.at("categories")[1]["name"] = "right_hand";
  std::ofstream(scene.annotations()) << json.dump();
  const auto mirror_of = [&](const std::string& run, const std::map<std::string, std::string>& words) {
    TrainSettings train;
    say_small(train, scene, words);
    train.options.run = scene.path(run);
    scene.progress = {};
    run_train(train, {.threads = 2}, scene.progress);
    return read_json(scene.path(run) / "run.json").at("training").at("mirror").get<double>();
  };
  EXPECT_EQ(mirror_of("chosen", {}), 0);
  EXPECT_THAT(
      scene.progress.lines,
      testing::Contains(testing::HasSubstr("chosen: {mirror} 0 (left_hand and right_hand differ in their side alone")));
  EXPECT_THAT(scene.progress.lines, testing::Not(testing::Contains(testing::HasSubstr("W_MIRROR"))));
  for (const auto& words : {std::map<std::string, std::string>{{"mirror", "0.5"}}, {{"preset", "reference"}}}) {
    EXPECT_EQ(mirror_of(words.begin()->first, words), 0.5);
    EXPECT_THAT(scene.progress.lines, testing::Contains(testing::HasSubstr("W_MIRROR {mirror} swaps left and right")));
  }
}

TEST(TrainRetinaNet, ThePresetOfTheReferenceChoosesNothing) {
  const ImagesScene scene("detector_reference");
  TrainSettings train;
  say_small(train, scene, {{"preset", "reference"}, {"steps", "200"}});  // as many as an average pays for
  train.options.run = scene.path("run");
  StoppingProgress stops(1, false);
  EXPECT_TRUE(run_train(train, {.threads = 2}, stops).interrupted);
  EXPECT_THAT(stops.lines, testing::Not(testing::Contains(testing::HasSubstr("chosen:"))));
  const auto record = read_json(scene.path("run") / "run.json");
  EXPECT_EQ(record.at("recipe"), nlohmann::json::array());
  EXPECT_EQ(anchors_of(scene.path("run")), "reference");
  const auto& training = record.at("training");
  EXPECT_EQ(nlohmann::json::array({training.at("mirror"), training.at("scale"), training.at("brightness"),
                                   training.at("contrast"), training.value("ema", 0.0)}),
            nlohmann::json::array({0.5, {1.0, 1.0}, 0.0, 0.0, 0.0}));
}

TrainOptions fitted_options(const ImagesScene& scene, const std::string& run) {
  TrainOptions o = scene.options(run);
  o.spec.set("anchors", std::string(kFittedAnchors));
  o.steps = 1;
  return o;
}

TEST(FittedAnchors, AreSaidStoredAndThoseOfTheTrainedDetector) {
  ImagesScene scene("anchors_stored");
  const TrainOptions o = fitted_options(scene, "run");
  run_train(o, scene.progress);
  const std::string text = anchors_of(o.run);
  const std::vector<Aspect> shapes = shapes_from_text(text, 9);
  EXPECT_LT(shapes.front().height, 3) << "boxes of 12 to 16 pixels, in cells of 8; anchors of the reference have 4";
  EXPECT_THAT(joined(scene.progress.lines, "\n"), testing::HasSubstr("anchors of these shapes: a mean best IoU of 0."));
  EXPECT_THAT(joined(scene.progress.lines, "\n"), testing::HasSubstr(text));
  const TrainedRun trained = load_trained_run({.run = o.run});
  EXPECT_EQ(shapes_text(detector_of(trained.spec).anchors.shapes), text);
}

TEST(FittedAnchors, TheReferencesHaveNoShapesAndAreSaidToo) {
  ImagesScene scene("anchors_reference");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  run_train(o, scene.progress);
  EXPECT_EQ(anchors_of(o.run), "reference");
  EXPECT_THAT(joined(scene.progress.lines, "\n"), testing::HasSubstr("anchors: a mean best IoU of 0."));
}

TEST(FittedAnchors, AResumedRunKeepsThemWhenItsDataChange) {
  ImagesScene scene("anchors_kept");
  TrainOptions o = fitted_options(scene, "run");
  detection_options(o).held_out.validate = false;
  run_train(o, scene.progress);
  const std::string before = anchors_of(o.run);
  nlohmann::json json = read_json(scene.annotations());
  for (auto& box : json.at("annotations")) box.at("bbox")[2] = 40;  // all are wider
  std::ofstream(scene.annotations()) << json.dump();
  TrainOptions anew = fitted_options(scene, "anew");
  detection_options(anew).held_out.validate = false;
  run_train(anew, scene.progress);
  EXPECT_NE(anchors_of(anew.run), before) << "a run of its own fits them to what is there";
  o.resume = o.accept_changes = true, o.steps = 2;
  run_train(o, scene.progress);
  EXPECT_EQ(anchors_of(o.run), before);
}

/// The anchors are fitted to boxes in the sizes that the changes leave, and the samples are changed.
TEST(FittedAnchors, ChangesOfImagesThatTheRecipeChoosesActAsGivenOnes) {
  const ImagesScene scene("anchors_of_changes");
  const auto train = [&](const std::string& run, std::map<std::string, std::string> words) {
    words.emplace("steps", "28");  // each of 7 images 8 times
    TrainSettings settings;
    say_small(settings, scene, words);
    settings.options.run = scene.path(run);
    NoProgress quiet;
    run_train(settings, {.threads = 2}, quiet);
    return load_checkpoint(scene.last(run));
  };
  const Checkpoint chosen = train("chosen", {});
  const Checkpoint given = train("given", {{"scale", "0.8,1.25"}, {"brightness", "0.1"}, {"contrast", "0.2"}});
  const Checkpoint unchanged = train("unchanged", {{"scale", "1,1"}, {"brightness", "0"}, {"contrast", "0"}});
  EXPECT_EQ(anchors_of(scene.path("chosen")), anchors_of(scene.path("given")));
  EXPECT_NE(anchors_of(scene.path("chosen")), anchors_of(scene.path("unchanged")));
  std::size_t moved = 0;
  for (const auto& [name, weight] : chosen.parameters) {
    const auto same = [&](const Checkpoint& other) {
      const Tensor& theirs = other.parameters.at(name);
      return weight.bytes() == theirs.bytes() &&
             std::memcmp(weight.data(), theirs.data(), static_cast<std::size_t>(weight.bytes())) == 0;
    };
    EXPECT_TRUE(same(given)) << name;
    moved += !same(unchanged);
  }
  EXPECT_GT(moved, 0u);
}

TEST(FittedAnchors, ShapesThatAreGivenAreTaken) {
  ImagesScene scene("anchors_given");
  TrainOptions o = scene.options("run");
  const std::string text = "1x1,1.5x1.5,2x2,2x1,1x2,3x3,3x2,2x3,4x4";
  o.spec.set("anchors", text);
  o.steps = 1;
  run_train(o, scene.progress);
  EXPECT_EQ(anchors_of(o.run), text);
}

}  // namespace
}  // namespace voxshard
