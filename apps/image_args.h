// The options of training on pictures: which are held out, and how samples are changed.
//
//   add_image_options(app, args);                      // --val coco/val.json --mirror 0.5 --scale 0.8,1.25
//   options.images.augmentation = image_augmentation(args);
#pragma once

#include <string>
#include <vector>

#include "pipelines/tasks/detection/detection_task.h"

namespace CLI {
class App;
}

namespace voxshard {

struct ImageArgs {
  HeldOutImages held_out;
  ImageAugmentation augmentation;
  std::vector<double> scale = {1, 1};
};

void add_image_options(CLI::App& app, ImageArgs& args);
/// Errors: kUsage for a scale that is not 0 < LOW <= HIGH.
ImageAugmentation image_augmentation(const ImageArgs& args);

}  // namespace voxshard
