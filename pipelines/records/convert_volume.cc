#include "pipelines/records/convert_volume.h"

#include <algorithm>
#include <cmath>

#include "io/volume/volume.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

}  // namespace

DiskType lossless_type(const Volume& volume) {
  const auto* values = volume.voxels.as<float>();
  const bool fits = std::all_of(values, values + volume.voxels.count(),
                                [](float v) { return std::floor(v) == v && v >= -32768 && v <= 32767; });
  return fits ? DiskType::kI16 : DiskType::kF32;
}

DiskType lossless_label_type(const Volume& label) {
  const auto* values = label.voxels.as<std::int32_t>();
  const auto [least, most] = std::minmax_element(values, values + label.voxels.count());
  if (label.voxels.count() == 0 || (*least >= 0 && *most <= 255)) return DiskType::kU8;
  return *least >= -32768 && *most <= 32767 ? DiskType::kI16 : DiskType::kI32;
}

TaskReport convert_volume(const fs::path& input, const fs::path& output, const VolumeFormats& formats,
                          Provenance provenance) {
  std::error_code error;
  if (fs::equivalent(input, output, error)) throw output_error(output, "it is the input", "give another name");
  if (provenance != Provenance::kNone)
    require_output_file(provenance_file(output), provenance_kind(), {.inputs = {input}, .option = "{provenance}"});
  const VolumeInfo info = read_volume_info(input, formats);
  const Volume volume = read_image(input, formats);  // refuses what the header says is not readable
  const DiskType type = lossless_type(volume);
  write_volume(output, volume, type);
  write_provenance(output, input, info, type, provenance, formats);
  const Geometry& g = volume.geometry;
  TaskReport report;
  report.json = {{"output", output.string()},
                 {"size", g.size},
                 {"spacing_mm", g.spacing},
                 {"orientation", orientation_code(g)},
                 {"scalar_type", disk_type_name(type)},
                 {"warning", info.warning}};
  report.text = plain_text(output.string()) + ": " + joined_text(g.size.data(), 3) + " voxels of " +
                joined_text(g.spacing.data(), 3, 4) + " mm, " + orientation_code(g) + ", " + disk_type_name(type) +
                (info.warning.empty() ? "" : "; " + info.warning) + "\n";
  report.next = {"info", output.string()};
  return report;
}

}  // namespace voxshard
