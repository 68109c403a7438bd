#include "pipelines/tasks/segmentation/volume_settings.h"

#include <string>
#include <utility>

#include "libcore/base/text.h"
#include "pipelines/settings/word_list.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/crop_name.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "pipelines/tasks/segmentation/labels/missing_classes.h"

namespace voxshard {

std::vector<Setting> prepare_settings(PrepareOptions& o) {
  std::vector<Setting> settings = {
      {.name = "convention",
       .help = "Whose numbers: voxshard, or nnunet: its foreground sample, crop to nonzero, target spacing (for "
               "{spacing} auto and median), cubic splines for images and linear masks for labels; {orientation} is "
               "then keep unless given, {clip}, {normalise} window and soft_tissue are not allowed",
       .value = named(o.convention, convention_names()),
       .choices = convention_names()},
      {"spacing",
       "X,Y,Z in mm of the oriented volume; median of the images; keep that of each; auto: the median, for images that "
       "differ from it by a factor of more than 1.4 on some axis, the others keep theirs",
       "", &o.spacing},
      {"orientation", "Three letters, where x, y, z grow, or keep", "", &o.orientation},
      {"clip",
       "LOW,HIGH in HU; default: the foreground's 0.5 and 99.5 percentiles (ct, soft_tissue), -160,240 (window)", "",
       [&o](const std::string& text) {
         const auto numbers = parse_numbers(text, 2, "{clip}");
         o.clip_hu = Range{numbers[0], numbers[1]};
       }},
      {.name = "normalise",
       .help = "ct: mean and std of the foreground; soft_tissue: the same once what is below -200 or above 300 HU "
               "keeps a tenth of its distance from there; zscore: mean and std of each image; window: {clip} onto "
               "-1..1; none; default: for a channel called CT soft_tissue, with {clip} or nnU-Net's {convention} ct, "
               "else zscore; of several channels, ct, soft_tissue, window and {clip} are for CT",
       .value = [&o](const std::string& text) { o.normalise = normalise_from_name(text); },
       .choices = {"ct", "soft_tissue", "zscore", "window", "none"}}};
  for (Setting& setting : source_settings(o.source)) settings.push_back(std::move(setting));
  for (Setting& setting : limit_settings(o.formats.limits)) settings.push_back(std::move(setting));
  settings.insert(settings.end(), {irregular_setting(o.irregular), channel_grids_setting(o.resamples_channels),
                                   fraction_setting(o.formats.limits), missing_classes_setting(o.missing)});
  return settings;
}

std::vector<Setting> check_settings(CheckReading& o) {
  std::vector<Setting> settings = source_settings(o.source);
  for (Setting& setting : limit_settings(o.limits)) settings.push_back(std::move(setting));
  settings.insert(settings.end(), {irregular_setting(o.irregular), channel_grids_setting(o.resamples_channels),
                                   fraction_setting(o.limits)});
  return settings;
}

std::vector<Setting> training_settings(VolumeTaskOptions& o) {
  const std::string samples = "Samples", volumes = "Samples of volumes";
  SamplingOptions& s = o.sampling;
  return {
      {"fold", "Which of 5 folds validates, or all: none, and everything trains", "Training", &o.fold},
      {"crop", "D x H x W of the crops, or whole, padded to a few sizes; default: 64x64x64", samples,
       [&s](const std::string& text) { s.crop = crop_from_text(text, 3); }},
      {"whole-steps",
       "Steps at the end that train on whole volumes in place of crops, so that norms see what they see in "
       "predictions; default: a tenth of all where that costs little, else 0",
       volumes,
       &s.whole_steps,
       {{0, 1e9}}},
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
       .value = Setting::Access{
           .get = [&s] { return SettingValue(augmentation_name(s.augmentation)); },
           .set = [&s](const SettingValue& name) { set_augmentation(std::get<std::string>(name), s.augmentation); }},
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

std::vector<std::string> without_effect(const SamplingOptions& options) {
  const SamplingOptions usual;
  std::vector<std::string> settings;
  const auto add = [&](bool given, const char* setting, const char* wanted) {
    if (given) settings.push_back(std::string(setting) + " has no effect without " + wanted);
  };
  const bool moves = options.augmentation.space, crops = !options.crop.empty();
  add(!moves && options.augmentation.rotation_degrees != usual.augmentation.rotation_degrees, "{rotation}",
      "{augment} space");
  add(!moves && options.augmentation.zoom != usual.augmentation.zoom, "{zoom}", "{augment} space");
  add(!crops && options.foreground != usual.foreground, "{foreground}", "crops: all samples are whole volumes");
  add(!crops && options.trims, "{trim-crops}", "crops: all samples are whole volumes");
  add(!crops && options.whole_steps > 0, "{whole-steps}", "crops: all samples are whole volumes");
  return settings;
}

std::vector<Setting> metric_settings(EvaluateLabelsOptions& o) {
  const std::string group = "Metrics of label maps";
  const auto key = [](const LabelMetric& metric) { return metric.shown.key; };
  return {{"metrics",
           "Metrics to compute, joined by commas, of " + joined(all_label_metrics(overlap_metrics()), ",", key) +
               "; default: " + joined(metrics_of(overlap_metrics()), ",", key),
           group,
           [&o](const std::string& text) {
             o.metric_keys = split_words(text, ',');  // an empty part is refused as a key, when they are chosen
           }},
          {"tolerance-mm",
           "Distance up to which surfaces count as equal, in mm (nsd)",
           group,
           &o.surface.tolerance_mm,
           {{0, 1e6}}},
          {.name = "surface-convention",
           .help = "Elements of a surface: voxels, border voxels by number (MetricsReloaded, SciPy); surfels, pieces "
                   "between voxels by area (surface-distance); default: voxels",
           .group = group,
           .value = [&o](const std::string& text) { o.surface.convention = find_convention(text); },
           .choices = row_names(surface_conventions())},
          {.name = "empty",
           .help = "Scores of classes that are in neither map, or in one: nan, left out of means (nnU-Net); one, right "
                   "when in neither (MetricsReloaded); inf, infinitely far (surface-distance); default: nan",
           .group = group,
           .value = [&o](const std::string& text) { o.empty = find_empty_rule(text); },
           .choices = row_names(empty_rules())},
          {"region",
           "NAME=LABEL,LABEL,...: a union of classes that is scored beside them; several joined by semicolons, "
           "tumour=1,2,3;core=2,3; a data set with regions is scored by these",
           group, [&o](const std::string& text) { o.regions = regions_from_text(text); }}};
}

}  // namespace voxshard
