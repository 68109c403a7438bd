// Small data sets of classes in a temporary folder, for the tests of classification.
//
//   ClassScene scene("sets");
//   scene.image("data/train/red/a.png", {.width = 4, .height = 3, .channels = 3}, {255, 0, 0});
//   scene.idx("data", 40, 10);              // 40 generated digits to train with, 10 to test
#pragma once

#include "io/datasets/idx.h"
#include "pipelines/phantoms/digit_phantom.h"
#include "pipelines/tasks/classification/class_task.h"
#include "tests/io/image/image_files.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

struct ClassScene : Scene {
  using Scene::Scene;

  /// Writes a PNG; `values`: samples of the pixels in rows, repeated as often as needed.
  void image(const std::string& name, const ImageSpec& spec = {.width = 4, .height = 3},
             const std::vector<int>& values = {100}) const {
    write(name, png_bytes(spec, values));
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  /// Writes a PNG with a valid header and damaged pixels.
  void damaged(const std::string& name, int side = 8) const {
    std::string bytes = png_bytes({.width = side, .height = side}, {1, 2, 3});
    for (std::size_t i = 0, at = bytes.find("IDAT") + 6; i < 8; ++i) bytes[at + i] = '\xff';
    write(name, bytes);
  }
  /// Writes `each` grey images per class, dark in one class and bright in the other.
  void dark_and_bright(const std::string& folder, int each, int side = 8) const {
    for (int i = 0; i < each; ++i)
      for (const bool bright : {false, true})
        image(folder + (bright ? "/bright/" : "/dark/") + std::to_string(i) + ".png", {.width = side, .height = side},
              {bright ? 200 + i : 20 + i, bright ? 230 - i : 40 - i});
  }
  void idx(const std::string& folder, int train, int test, int side = 28) const {
    std::filesystem::create_directories(path(folder));
    for (const bool held_out : {false, true}) {
      const int count = held_out ? test : train;
      Tensor pixels(DType::kU8, {count, side, side}), labels(DType::kU8, {count});
      for (int i = 0; i < count; ++i) {
        const DigitPhantom digit = make_digit_phantom({.index = (held_out ? train : 0) + i, .side = side});
        std::copy_n(digit.pixels.as<std::uint8_t>(), side * side, pixels.as<std::uint8_t>() + i * side * side);
        labels.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(digit.label);
      }
      const std::string part = held_out ? "t10k" : "train";
      write_idx(path(folder) / (part + "-images-idx3-ubyte"), pixels);
      write_idx(path(folder) / (part + "-labels-idx1-ubyte"), labels);
    }
  }

  /// Returns the options of a run of a toy classifier on these data.
  TrainOptions toy(const std::string& run, int axes = 2) const {
    TrainOptions o{.work = data(), .run = path(run), .steps = 60, .batch = 4, .resources = {.threads = 2}};
    o.spec = usual_spec(test::toy_classifier(axes));
    o.spec.precision = DType::kF32;
    o.optimizer.learning_rate = 0.05;
    return o;
  }
  TrainOptions digits(const std::string& run) const {
    TrainOptions o = toy(run);
    o.spec = usual_spec(model_named(model_table(), "digits"));
    o.spec.precision = DType::kF32, o.batch = 5, o.steps = 6, o.optimizer.learning_rate = 1e-3;
    return o;
  }

  static std::vector<std::string> codes(const std::vector<CaseFailure>& failures) {
    std::vector<std::string> list;
    for (const CaseFailure& failure : failures) list.push_back(failure.code);
    return list;
  }
  static std::vector<std::string> names(const ClassDataset& set) {
    std::vector<std::string> list;
    for (const ClassItem& item : set.items) list.push_back(item.name);
    return list;
  }
};

}  // namespace voxshard
