// Checks of volumes against the limits; each error names a size that would be within them.
//
//   require_within({.most_voxels = 1000}, info, "ct.nii")   // E_SIZE: has 3840 voxels
#include "io/volume/volume_limits.h"

#include <algorithm>
#include <cmath>

#include "io/files/file_error.h"
#include "io/volume/volume.h"
#include "libcore/base/budget_value.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kMost = 0x1p62;
constexpr std::int64_t kMostSetting = std::int64_t{1} << 40;  // of {most-voxels}

std::int64_t clamped(double value) { return static_cast<std::int64_t>(std::min(value, kMost)); }

}  // namespace

std::int64_t voxels_of(const Geometry& g) {
  return clamped(static_cast<double>(g.size[0]) * static_cast<double>(g.size[1]) * static_cast<double>(g.size[2]));
}

std::int64_t reading_bytes(const VolumeInfo& info) {
  return clamped(4 * static_cast<double>(voxels_of(info.geometry)) + static_cast<double>(info.extra_bytes));
}

void require_within(const VolumeLimits& limits, const VolumeInfo& info, const std::filesystem::path& path) {
  const bool cut_off = !info.compressed && info.file_bytes < info.voxel_bytes;
  if (!info.readable || cut_off) return;
  const std::int64_t voxels = voxels_of(info.geometry);
  const std::string size = joined_text(info.geometry.size.data(), 3) + " voxels";
  if (info.voxel_bytes < 0 || voxels > limits.most_voxels)
    throw input_error(
        path, "has " + size + ", more than the " + std::to_string(limits.most_voxels) + " that are read",
        "crop or resample it" + (voxels <= kMostSetting ? ", or raise {most-voxels} to " + std::to_string(voxels) : ""),
        "E_SIZE");
  const double inflation =
      static_cast<double>(info.voxel_bytes) / static_cast<double>(std::max<std::int64_t>(info.file_bytes, 1));
  if (info.compressed && info.voxel_bytes > kFreeInflationBytes && inflation > limits.most_inflation)
    throw input_error(path,
                      "unpacks to " + bytes_text(info.voxel_bytes) + ", " + fixed_text(inflation, 0) +
                          " times its size; at most " + fixed_text(limits.most_inflation, 0) + " times is read",
                      "is it what it should be? Then raise {most-inflation} to " + fixed_text(std::ceil(inflation), 0),
                      "E_SIZE");
  const std::int64_t bytes = reading_bytes(info);
  if (limits.memory_bytes > 0 && bytes > limits.memory_bytes) {
    const double share = static_cast<double>(limits.memory_bytes) / static_cast<double>(bytes);
    throw over_memory(
        "reading " + path.string() + " (" + size + " of " + info.scalar_type + ")", bytes, limits.memory_bytes,
        std::to_string(clamped(share * static_cast<double>(voxels))) + " voxels of this type would fit: crop it");
  }
}

Error over_memory(const std::string& what, std::int64_t bytes, std::int64_t most_bytes, const std::string& fits) {
  return Error(ErrorKind::kInput, "E_BUDGET",
               "[memory] " + what + " takes " + bytes_text(bytes) + ", of " + bytes_text(most_bytes) +
                   " that this process may take; " + fits + ", or raise {host-memory} by " +
                   budget_value(bytes - most_bytes));
}

}  // namespace voxshard
