#include "pipelines/tasks/segmentation/volume_reading.h"

namespace voxshard {

std::vector<Setting> limit_settings(VolumeLimits& limits) {
  const std::string group = "Limits";
  return {{"most-voxels",
           "Voxels of a volume, and of what it is resampled to; more is left out with E_SIZE",
           group,
           &limits.most_voxels,
           {{1, 0x1p40}}},
          {"most-inflation",
           "Bytes that one byte of a .gz may unpack to, asked of what unpacks to more than 1 GiB",
           group,
           &limits.most_inflation,
           {{1, 1e6}}}};
}

std::vector<Setting> prediction_settings(VolumeReading& o) {
  std::vector<Setting> settings = limit_settings(o.limits);
  settings.push_back({.name = "irregular-slices",
                      .help =
                          "Slices of a DICOM series that are missing, unevenly spaced or tilted: reject, which lists "
                          "the series with the numbers, or resample, on an upright regular grid",
                      .value = named(o.irregular, {"reject", "resample"}),
                      .choices = {"reject", "resample"}});
  return settings;
}

}  // namespace voxshard
