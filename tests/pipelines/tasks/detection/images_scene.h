// A tiny COCO set in a temporary folder and the options of a detector's training run of seconds, for the tests of train
// and predict on images.
//
//   ImagesScene scene("resume");      // 6 images of 64 x 48 and one of 40 x 96, boxes of two classes
//   run_train(scene.options("run"), scene.progress);
#pragma once

#include <nlohmann/json.hpp>

#include "io/image/image.h"
#include "pipelines/tasks/detection/detection_task.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {

inline DetectionTaskOptions& detection_options(TrainOptions& options) {
  return options.task.of<DetectionTaskOptions>();
}

struct ImagesScene : Scene {
  explicit ImagesScene(const std::string& name) : Scene(name) {
    std::filesystem::create_directories(data() / "images");
    nlohmann::json images = nlohmann::json::array(), boxes = nlohmann::json::array();
    for (std::int64_t i = 0; i < 7; ++i) add_sample(i, i == 6 ? Dims{40, 96} : Dims{64, 48}, images, boxes);
    const nlohmann::json json = {{"images", images},
                                 {"annotations", boxes},
                                 {"categories", {{{"id", 7}, {"name", "red"}}, {{"id", 40}, {"name", "blue"}}}}};
    std::ofstream(annotations()) << json.dump();
  }

  std::filesystem::path annotations() const { return data() / "instances.json"; }
  std::filesystem::path image(std::int64_t i) const { return data() / "images" / ("p" + std::to_string(i) + ".png"); }

  /// Returns the options of a run. The second class is blue, the first is red; both lie on noise-free grey.
  TrainOptions options(const std::string& run) const {
    TrainOptions o{.work = annotations(), .run = path(run), .steps = 4, .batch = 2, .resources = {.threads = 2}};
    o.spec =
        retinanet_spec({.backbone = Backbone::kResNet18, .filters = 4, .pyramid_filters = 8, .norm_momentum = 0.5});
    o.spec.precision = DType::kF32;
    detection_options(o).held_out.fraction = 0.3;
    return o;
  }

 private:
  void add_sample(std::int64_t i, const Dims& size, nlohmann::json& images, nlohmann::json& boxes) const {
    Tensor rgb(DType::kU8, {size[0], size[1], 3});
    std::fill_n(rgb.as<std::uint8_t>(), rgb.count(), std::uint8_t{90});
    images.push_back(
        {{"id", 100 + i}, {"file_name", image(i).filename().string()}, {"height", size[0]}, {"width", size[1]}});
    for (std::int64_t k = 0; k < 2; ++k) {
      const std::int64_t side = 12 + 4 * k, y = 3 + 5 * (i % 3) + 20 * k, x = 4 + 3 * i % 20;
      for (std::int64_t r = y; r < std::min(size[0], y + side); ++r)
        for (std::int64_t c = x; c < x + side; ++c) rgb.as<std::uint8_t>()[(r * size[1] + c) * 3 + 2 * k] = 250;
      boxes.push_back({{"id", 10 * i + k + 1},
                       {"image_id", 100 + i},
                       {"category_id", k == 0 ? 7 : 40},
                       {"bbox", {x, y, side, std::min(size[0], y + side) - y}},
                       {"area", side * side},
                       {"iscrowd", 0}});
    }
    write_rgb(image(i), rgb);
  }
};

}  // namespace voxshard
