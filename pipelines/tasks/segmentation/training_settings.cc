#include "pipelines/tasks/segmentation/training_settings.h"

#include "pipelines/tasks/crop_name.h"

namespace voxshard {

std::vector<Setting> training_settings(VolumeTaskOptions& o) {
  const std::string samples = "Samples", volumes = "Samples of volumes";
  SamplingOptions& s = o.sampling;
  return {
      {"fold", "Which of 5 folds validates, or all: none, and everything trains", "Training", &o.fold},
      {"crop", "D x H x W of the crops, or whole, padded to a few sizes; default: 64x64x64", samples,
       [&s](const std::string& text) { s.crop = crop_from_text(text, 3); }},
      {"foreground", "Share of crops that hold a voxel of a random class", samples, &s.foreground, {{0, 1}}},
      {.name = "crops",
       .help = "Which class such a crop is drawn on. case: one that the case of the sample has; set: one that any "
               "case has, then a case that has it, so that rare classes are seen as often as common ones",
       .group = volumes,
       .value = named(s.crops, {std::begin(kCropsOnNames), std::end(kCropsOnNames)}),
       .choices = {std::begin(kCropsOnNames), std::end(kCropsOnNames)}},
      {"intensity-scale", "Standard deviation of a random factor", volumes, &s.intensity_scale, {{0, 100}}},
      {"noise", "Standard deviation of added noise, in normalised units", volumes, &s.noise, {{0, 1000}}},
      {.name = "sides",
       .help = "Classes that differ in left and right alone. keep: as they are; join: trained as one class, and told "
               "apart in predictions by a plane whose place the training cases show; auto: join those that this plane "
               "tells apart in the training cases",
       .group = volumes,
       .value = named(o.sides, {std::begin(kSidesNames), std::end(kSidesNames)}),
       .choices = {std::begin(kSidesNames), std::end(kSidesNames)}},
      {"flip", "Axes to mirror at random, like DHW; not where left and right are different classes", volumes,
       [&s](const std::string& text) { s.flip = flips_from_text(text); }},
      {.name = "augment",
       .help = "More random changes of samples, kinds and ranges as in nnU-Net's trainer: space ({rotation}, {zoom}), "
               "intensity (blur, resolution, gamma, contrast, brightness, noise), all: both",
       .group = volumes,
       .value = [&s](const std::string& text) { set_augmentation(text, s.augmentation); },
       .choices = augmentation_names()},
      {.name = "rotation",
       .help = "Largest angle about each axis, degrees",
       .group = volumes,
       .value = &s.augmentation.rotation_degrees,
       .range = {{0, 180}},
       .usual = "30, of pictures 0"},
      {"zoom", "LOW,HIGH: factors of sizes; default: 0.7,1.4", volumes,
       [&s](const std::string& text) { s.augmentation.zoom = zoom_from_text(text); }},
      {.name = "trim-crops",
       .help = "on: along an axis on which its volume is shorter than a crop, a crop is as long as the volume (up to "
               "{pad-multiple}); off: air around it fills the crop up, which norms then see in training, but not in "
               "predictions",
       .group = volumes,
       .value = named(s.trims, {"off", "on"}),
       .choices = {"off", "on"}},
      {.name = "pad-multiple",
       .help = "What is whole is padded to a multiple of this; default: 8",
       .group = samples,
       .value = &s.pad_multiple,
       .range = kPadMultiples,
       .tells_default = false}};
}

}  // namespace voxshard
