#include "pipelines/records/convert_volume.h"

#include <algorithm>
#include <cmath>

#include "io/volume/volume.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

DiskType type_of(const Volume& volume) {
  const auto* values = volume.voxels.as<float>();
  const bool fits = std::all_of(values, values + volume.voxels.count(),
                                [](float v) { return std::floor(v) == v && v >= -32768 && v <= 32767; });
  return fits ? DiskType::kI16 : DiskType::kF32;
}

}  // namespace

TaskReport convert_volume(const fs::path& input, const fs::path& output, const VolumeFormats& formats) {
  std::error_code error;
  if (fs::equivalent(input, output, error)) throw output_error(output, "it is the input", "give another name");
  const VolumeInfo info = read_volume_info(input, formats);
  if (!info.readable) throw Error(ErrorKind::kInput, "[input] " + input.string() + ": " + info.problem);
  const Volume volume = read_image(input, formats);
  const DiskType type = type_of(volume);
  write_volume(output, volume, type);
  const Geometry& g = volume.geometry;
  TaskReport report;
  report.json = {{"output", output.string()},
                 {"size", g.size},
                 {"spacing_mm", g.spacing},
                 {"orientation", orientation_code(g)},
                 {"scalar_type", type == DiskType::kI16 ? "int16" : "float32"},
                 {"warning", info.warning}};
  report.text = plain_text(output.string()) + ": " + joined_text(g.size.data(), 3) + " voxels of " +
                joined_text(g.spacing.data(), 3, 4) + " mm, " + orientation_code(g) + ", " +
                (type == DiskType::kI16 ? "int16" : "float32") + (info.warning.empty() ? "" : "; " + info.warning) +
                "\n";
  report.next = {"info", output.string()};
  return report;
}

}  // namespace voxshard
