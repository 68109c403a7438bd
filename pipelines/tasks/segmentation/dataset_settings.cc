#include "pipelines/tasks/segmentation/dataset_settings.h"

#include <string>
#include <utility>

#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/segmentation/dataset/missing_classes.h"
#include "pipelines/tasks/segmentation/volume_reading.h"

namespace voxshard {

std::vector<Setting> prepare_settings(PrepareOptions& o) {
  std::vector<Setting> settings = {
      {.name = "convention",
       .help = "Whose numbers: voxshard, or nnunet: its foreground sample, crop to nonzero, target spacing (for "
               "{spacing} median), cubic splines for images and linear masks for labels; {orientation} is then keep "
               "unless given, {clip} and {normalise} window are not allowed",
       .value = named(o.convention, convention_names()),
       .choices = convention_names()},
      {"spacing", "X,Y,Z in mm of the oriented volume, median or keep", "", &o.spacing},
      {"orientation", "Three letters, where x, y, z grow, or keep", "", &o.orientation},
      {"clip", "LOW,HIGH in HU; default: the foreground's 0.5 and 99.5 percentiles (ct), -160,240 (window)", "",
       [&o](const std::string& text) {
         const auto numbers = parse_numbers(text, 2, "{clip}");
         o.clip_hu = Range{numbers[0], numbers[1]};
       }},
      {.name = "normalise",
       .help = "ct: mean and std of the foreground; zscore: of each image; window: {clip} onto -1..1; none; default: "
               "ct for a channel called CT, else zscore; of several channels, ct, window and {clip} are for CT",
       .value = [&o](const std::string& text) { o.normalise = normalise_from_name(text); },
       .choices = {"ct", "zscore", "window", "none"}}};
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

}  // namespace voxshard
