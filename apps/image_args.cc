#include "apps/image_args.h"

#include <CLI/CLI.hpp>

namespace voxshard {

void add_image_options(CLI::App& app, ImageArgs& a) {
  const std::string group = "Samples of pictures";
  app.add_option("--val", a.held_out.file,
                 "COCO JSON of the pictures that validate; default: the data folder's own, else a share of all")
      ->group(group);
  app.add_option("--val-fraction", a.held_out.fraction, "Share of the pictures that validates when nothing names them")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str()
      ->group(group);
  app.add_option("--mirror", a.augmentation.mirror, "Probability of mirroring left to right")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--scale", a.scale, "LOW,HIGH: random factor of both sides; what grows too large is cut at random")
      ->expected(2)
      ->delimiter(',')
      ->capture_default_str()
      ->group(group);
  app.add_option("--brightness", a.augmentation.brightness, "Largest shift; 1 is from black to white")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--contrast", a.augmentation.contrast, "Largest relative change")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--saturation", a.augmentation.saturation, "Largest relative change")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->group(group);
}

ImageAugmentation image_augmentation(const ImageArgs& a) {
  ImageAugmentation augmentation = a.augmentation;
  if (a.scale.size() != 2 || !(a.scale[0] > 0) || !(a.scale[0] <= a.scale[1]) || a.scale[1] > 16)
    throw Error(ErrorKind::kUsage,
                "[usage] --scale should be two factors LOW,HIGH with 0 < LOW <= HIGH <= 16, like 0.8,1.25");
  augmentation.scale = {a.scale[0], a.scale[1]};
  return augmentation;
}

}  // namespace voxshard
