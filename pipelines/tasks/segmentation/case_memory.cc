// Peaks in bytes, with n voxels in the file and m on the prepared grid, 4 bytes each in memory:
//   reading a case      image + label: max(reading(image), 4 n + reading(label))
//   preparing it        8 n (source) + 4 n (reoriented) + 12 m (two results and one on its way), which also covers
//   writing predicting          max(reading, 9 n + 8 m) beside the plan: the image on its way there, the label map on
//   its way back
#include "pipelines/tasks/segmentation/case_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/prepare_image.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::optional<VolumeInfo> usable_info(const fs::path& path, const VolumeFormats& formats) {
  try {
    VolumeInfo info = read_volume_info(path, formats);
    if (info.readable) return info;
  } catch (const Error&) {  // the reader names it
  }
  return std::nullopt;
}

std::int64_t sum(double bytes) { return static_cast<std::int64_t>(std::min(bytes, 0x1p62)); }

/// A number rounded up to two digits.
double rounded_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

/// "0.43,0.43,0.43": a spacing, coarser than that of the prepared grid alike in all axes, that leaves at most `voxels`.
std::string fitting_spacing(const Geometry& original, PreparePlan plan, double voxels) {
  const Geometry grid = prepared_geometry(original, plan);
  double factor = std::cbrt(static_cast<double>(voxels_of(grid)) / voxels);
  for (int attempt = 0; attempt < 100; ++attempt, factor *= 1.02) {  // sizes are rounded, so the first may be too fine
    auto& mm = plan.spacing_mm.emplace();
    for (std::size_t a = 0; a < 3; ++a) mm[a] = rounded_up(grid.spacing[a] * factor);
    if (static_cast<double>(voxels_of(prepared_geometry(original, plan))) <= voxels) break;
  }
  char text[96];
  std::snprintf(text, sizeof text, "%.6g,%.6g,%.6g", (*plan.spacing_mm)[0], (*plan.spacing_mm)[1],
                (*plan.spacing_mm)[2]);
  return text;
}

/// What a case takes by the voxels of its prepared grid: fixed + per_voxel * m, and never less than `least`.
struct Need {
  double fixed = 0, per_voxel = 0, least = 0;

  double bytes(double m) const { return std::max(least, fixed + per_voxel * m); }
  /// The most voxels within `limit`; 0 or less when there are none.
  double voxels(double limit) const { return least > limit ? 0 : (limit - fixed) / per_voxel; }
};

/// A grid to resample to, against the limits; `fitting(most)` says what would have at most so many voxels.
template <class Fitting>
std::int64_t require_grid(const Geometry& grid, const fs::path& path, const VolumeLimits& limits, const Need& need,
                          Fitting fitting) {
  const auto m = static_cast<double>(voxels_of(grid));
  const double limit = limits.memory_bytes > 0 ? static_cast<double>(limits.memory_bytes) : 0x1p62;
  const double most = std::min(static_cast<double>(limits.most_voxels), need.voxels(limit));
  const std::string name = path.filename().string(), size = joined_text(grid.size.data(), 3);
  const std::string fits = most >= 1 ? fitting(most) : std::string("crop the image");
  if (voxels_of(grid) > limits.most_voxels)
    throw Error(ErrorKind::kInput, "E_SIZE",
                "[" + name + "] becomes " + size + " voxels, more than the " + std::to_string(limits.most_voxels) +
                    " that are allowed; " + fits + ", or raise most-voxels");
  const double bytes = need.bytes(m);
  if (bytes > limit) throw over_memory(name + " on " + size + " voxels", sum(bytes), limits.memory_bytes, fits);
  return sum(bytes);
}

}  // namespace

std::int64_t reading_case_bytes(const Case& item, const VolumeFormats& formats) {
  if (item.images.size() != 1 || !item.label) return 0;
  const auto image = usable_info(item.images[0], formats), label = usable_info(*item.label, formats);
  if (!image || !label) return 0;
  require_within(formats.limits, *image, item.images[0]);
  require_within(formats.limits, *label, *item.label);
  const double n = static_cast<double>(voxels_of(image->geometry));
  const double bytes =
      std::max(static_cast<double>(reading_bytes(*image)), 4 * n + static_cast<double>(reading_bytes(*label)));
  const std::int64_t most = formats.limits.memory_bytes;
  if (most > 0 && bytes > static_cast<double>(most))
    throw over_memory("image and label of " + item.id + " (" + joined_text(image->geometry.size.data(), 3) + " voxels)",
                      sum(bytes), most,
                      std::to_string(sum(n * static_cast<double>(most) / bytes)) + " voxels would fit: crop them");
  return sum(bytes);
}

std::int64_t preparing_case_bytes(const Case& item, const PreparePlan& plan, const VolumeFormats& formats) {
  const std::int64_t reading = reading_case_bytes(item, formats);
  if (reading == 0) return 0;
  const auto image = usable_info(item.images[0], formats);
  if (!image) return 0;
  const double n = static_cast<double>(voxels_of(image->geometry));
  const Geometry grid = prepared_geometry(image->geometry, plan);
  const std::int64_t bytes = require_grid(
      grid, item.images[0], formats.limits, {.fixed = 12 * n, .per_voxel = 12},
      [&](double most) { return "a spacing of " + fitting_spacing(image->geometry, plan, most) + " mm would fit"; });
  return std::max(reading, bytes);
}

std::int64_t predicting_bytes(const VolumeInfo& info, const fs::path& path, const PreparePlan& plan,
                              std::int64_t plan_bytes, const VolumeLimits& limits) {
  require_within(limits, info, path);
  const double n = static_cast<double>(voxels_of(info.geometry)), reading = static_cast<double>(reading_bytes(info));
  return require_grid(
      prepared_geometry(info.geometry, plan), path, limits,
      {.fixed = static_cast<double>(plan_bytes) + 9 * n,
       .per_voxel = 8,
       .least = static_cast<double>(plan_bytes) + reading},
      [](double most) { return std::to_string(sum(most)) + " voxels at the spacing of the model would fit: crop it"; });
}

}  // namespace voxshard
