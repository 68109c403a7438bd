#include "pipelines/tasks/irregular_slices.h"

namespace voxshard {

Setting irregular_setting(IrregularSlices& irregular, const std::string& group) {
  return {
      .name = "irregular-slices",
      .help =
          "Slices of a DICOM series that are missing, there twice, unevenly spaced or tilted, and sheared axes of a "
          "file: "
          "reject, which lists it with the numbers, or resample, on an upright regular grid; of equal slices at one "
          "place one counts",
      .group = group,
      .value = named(irregular, {"reject", "resample"}),
      .choices = {"reject", "resample"}};
}

VolumeFormats with_irregular(VolumeFormats formats, IrregularSlices irregular) {
  if (irregular != IrregularSlices::kReject) formats.rows = volume_formats_with(irregular).rows;
  return formats;
}

}  // namespace voxshard
