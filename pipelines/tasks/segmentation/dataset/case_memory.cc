// A volume in memory takes 4 bytes a voxel; n: voxels of the file, m: voxels of the prepared grid. The stages follow
// one another, and only the largest counts:
//
//   reading        image: reading(image); then the label beside it: 4 n + reading(label); then, beside the label and
//                  in place of the image, the next channel
//   preparing      the image beside its label: reoriented 12 n, resampled 8 n + 4 m; written and released; then the
//   label:
//                  reoriented 8 n, resampled 4 n + 4 m, written 4 m and in its type on disk, at most 2 m
//   nnU-Net's      beside the image, while it is cropped n to 9/4 n more, while it is resampled twice the larger grid
//   convention     less n; the fingerprint 24 n beside both; restoring 8 n beside the labels
//   predicting     each channel, beside those that are prepared, 4 m each: reading; reorienting 8 n, resampling 4 n + 4
//   m; the core set beside the image, 4 m, which is released when
//                  it is fed, then beside the labels, by core and whole, 5 m; restoring 4 m + 4 n; writing 5 n
//   evaluating     reading(reference); 4 n + reading(prediction); with a threshold 8 n + reading(image), 16 n;
//                  with distances of surfaces 8 n, and about 12 n for a class that fills the volume
#include "pipelines/tasks/segmentation/dataset/case_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>

#include "io/datasets/case_label.h"
#include "io/datasets/hidden_paths.h"
#include "io/image/image.h"
#include "io/system/process_memory.h"
#include "libcore/base/text.h"
#include "libcore/metrics/surface/surface_distances.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using enum MemoryPart;

constexpr double kVoxel = 4;      // bytes in memory
constexpr double kMostLabel = 2;  // bytes on disk

std::optional<VolumeInfo> usable_info(const fs::path& path, const VolumeFormats& formats) {
  try {
    VolumeInfo info = read_volume_info(path, formats);
    if (info.readable) return info;
  } catch (const Error&) {  // reading reports it
  }
  return std::nullopt;
}

std::optional<VolumeInfo> usable_label(const Case& item, const VolumeInfo& image, const VolumeFormats& formats) {
  try {
    VolumeInfo info = read_label_info(item, image, formats);
    if (info.readable) return info;
  } catch (const Error&) {  // reading reports it
  }
  return std::nullopt;
}

/// Returns the plan of one stage from any number of parts and their bytes.
ProcessPlan moment(std::initializer_list<std::pair<MemoryPart, double>> parts) {
  ProcessPlan plan;
  for (const auto& [part, bytes] : parts) plan[part] += planned_bytes(bytes);
  return plan;
}

ProcessPlan widest_of(std::initializer_list<ProcessPlan> moments) {
  ProcessPlan most;
  for (const ProcessPlan& one : moments) most = widest(most, one);
  return most;
}

/// Returns a number rounded up to two digits.
double rounded_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

/// Returns "0.43,0.43,0.43": a spacing that gives at most `voxels`, coarser than the prepared grid by one factor for
/// all axes.
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

/// Returns the largest share of the whole whose plan is within `most` bytes (0: no limit); 0 when none is.
double fitting_share(const std::function<ProcessPlan(double share)>& plan, std::int64_t most) {
  if (most <= 0 || plan(1).total() <= most) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) (plan((low + high) / 2).total() <= most ? low : high) = (low + high) / 2;
  return low;
}

std::string whole_number(double value) { return std::to_string(planned_bytes(value)); }

/// Checks a grid to resample to against the limits and returns its plan. `plan(share)` is the plan of a share of its
/// voxels; `fitting(most)` returns advice that gives at most so many voxels.
ProcessPlan require_grid(const Geometry& grid, const std::string& name, const VolumeLimits& limits,
                         const std::function<ProcessPlan(double share)>& plan,
                         const std::function<std::string(double most)>& fitting) {
  const auto voxels = static_cast<double>(voxels_of(grid));
  const ProcessPlan whole = plan(1);
  const bool too_many = voxels_of(grid) > limits.most_voxels;
  if (!too_many && (limits.memory_bytes <= 0 || whole.total() <= limits.memory_bytes)) return whole;
  const double most =
      std::min(static_cast<double>(limits.most_voxels), voxels * fitting_share(plan, limits.memory_bytes));
  const std::string size = joined_text(grid.size.data(), 3);
  const std::string fits = most >= 1 ? fitting(most) : std::string("crop the image");
  if (too_many)
    throw Error(ErrorKind::kInput, "E_SIZE",
                "[" + name + "] becomes " + size + " voxels, more than the " + std::to_string(limits.most_voxels) +
                    " that are allowed; " + fits + ", or raise most-voxels");
  require_fits(whole, limits.memory_bytes, ErrorKind::kInput, name + " on " + size + " voxels", fits);
  return whole;
}

struct CaseInfo {
  VolumeInfo image, label;           // the image of the first channel
  std::vector<VolumeInfo> channels;  // all of them
  double voxels = 0;
};

std::optional<CaseInfo> case_info(const Case& item, const VolumeFormats& formats) {
  if (item.images.empty() || !item.has_label()) return std::nullopt;
  CaseInfo info;
  for (const fs::path& path : item.images) {
    auto image = usable_info(path, formats);
    if (!image) return std::nullopt;
    info.channels.push_back(std::move(*image));
  }
  info.image = info.channels.front();
  auto label = usable_label(item, info.image, formats);
  if (!label) return std::nullopt;
  info.label = std::move(*label);
  info.voxels = static_cast<double>(voxels_of(info.image.geometry));
  return info;
}

double reading(const VolumeInfo& info) { return static_cast<double>(reading_bytes(info)); }

ProcessPlan reading_plan(const CaseInfo& c) {
  ProcessPlan plan =
      widest_of({moment({{kReading, reading(c.image)}}), moment({{kReading, kVoxel * c.voxels + reading(c.label)}})});
  for (std::size_t k = 1; k < c.channels.size(); ++k)  // beside the label
    plan = widest(plan, moment({{kReading, kVoxel * c.voxels + reading(c.channels[k])}}));
  return plan;
}

/// Returns the bytes of what is not 0 in any channel, which nnU-Net's convention holds while the channels are read, and
/// of the part of it whose holes are filled.
///   n  bytes of a channel
double nonzero_bytes(const PreparePlan& plan, double n) {
  return plan.convention == Convention::kNnunet && plan.channels.size() > 1 ? 2 * n / kVoxel : 0;
}

/// Returns the bytes that nnU-Net's convention takes beside the image: while it is cropped and masked, a copy of it, of
/// its label and a mask; while it is resampled axis by axis, two volumes of the larger size, one of them the image.
///   n, m  bytes of the image and of the resampled image (0: it is not resampled)
double nnunet_bytes(const PreparePlan& plan, double n, double m) {
  if (plan.convention != Convention::kNnunet) return 0;
  return std::max((plan.zscore_in_nonzero ? 2 + 1 / kVoxel : 1) * n, m > 0 ? 2 * std::max(n, m) - n : 0);
}

std::optional<VolumeInfo> reference_info(const Evaluated& files, const VolumeFormats& formats) {
  if (files.drawn == nullptr) return usable_info(files.reference, formats);
  const auto image = usable_info(files.drawn->images.at(0), formats);
  return image ? usable_label(*files.drawn, *image, formats) : std::nullopt;
}

}  // namespace

ProcessPlan reading_case_plan(const Case& item, const VolumeFormats& formats) {
  const auto info = case_info(item, formats);
  if (!info) return {};
  for (std::size_t k = 0; k < info->channels.size(); ++k)
    require_within(formats.limits, info->channels[k], item.images[k]);
  if (item.label) require_within(formats.limits, info->label, *item.label);
  const ProcessPlan plan = reading_plan(*info);
  const std::int64_t most = formats.limits.memory_bytes;
  if (most <= 0 || plan.total() <= most) return plan;
  const double fits = info->voxels * static_cast<double>(most) / static_cast<double>(plan.total());
  require_fits(plan, most, ErrorKind::kInput,
               "image and label of " + item.id + " (" + joined_text(info->image.geometry.size.data(), 3) + " voxels)",
               whole_number(fits) + " voxels would fit: crop them");
  return plan;
}

ProcessPlan fingerprint_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats) {
  const ProcessPlan read = reading_case_plan(item, formats);
  const auto info = case_info(item, formats);
  if (!info || plan.convention != Convention::kNnunet) return read;
  const double n = kVoxel * info->voxels;
  // the sample: value and number of drawings of each foreground voxel, and then the pairs of those that were drawn
  const ProcessPlan sampling = moment({{kReading, 2 * n}, {kResampling, 6 * n + nonzero_bytes(plan, n)}});
  require_fits(sampling, formats.limits.memory_bytes, ErrorKind::kInput, "the fingerprint of " + item.id,
               "crop the image, or leave {convention} nnunet out");
  return widest_of({read, sampling});
}

ProcessPlan preparing_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats) {
  const ProcessPlan read = reading_case_plan(item, formats);
  const auto info = case_info(item, formats);
  if (!info) return read;
  const Geometry& original = info->image.geometry;
  const Geometry grid = prepared_geometry(original, plan);
  const double n = kVoxel * info->voxels, all = kVoxel * static_cast<double>(voxels_of(grid));
  const double turned = plan.orientation != "keep" && orientation_code(original) != plan.orientation ? n : 0;
  const ProcessPlan mask = moment({{kResampling, nonzero_bytes(plan, n)}});
  const auto moments = [&](double share) {
    const double m = share * all, resampled = plan.spacing_mm && grid.size != original.size ? m : 0;
    return mask + widest_of({read, moment({{kReading, 2 * n}, {kResampling, turned}}),
                             moment({{kReading, 2 * n}, {kResampling, resampled}}),
                             moment({{kReading, 2 * n}, {kResampling, nnunet_bytes(plan, n, resampled)}}),
                             moment({{kReading, n}, {kResampling, std::max(turned, resampled)}}),
                             moment({{kResampling, m}, {kResults, m * kMostLabel / kVoxel}})});
  };
  return require_grid(grid, shown_file(item, item.images[0], "image"), formats.limits, moments, [&](double most) {
    return "a spacing of " + fitting_spacing(original, plan, most) + " mm would fit";
  });
}

ProcessPlan predicting_plan(const VolumeInfo& info, const fs::path& path, const PreparePlan& plan,
                            const Predicting& process, const VolumeLimits& limits) {
  require_fits(process.held, limits.memory_bytes, ErrorKind::kInput,
               "the process alone, before " + path.filename().string(), "No input would fit");
  VolumeLimits reading_limits = limits;
  reading_limits.memory_bytes = left_of(limits.memory_bytes, process.held.total());
  require_within(reading_limits, info, path);
  const Geometry grid = prepared_geometry(info.geometry, plan);
  const double all_n = kVoxel * static_cast<double>(voxels_of(info.geometry));
  const double all_m = kVoxel * static_cast<double>(voxels_of(grid));
  const auto channels = static_cast<double>(plan.channels.size());
  const bool turns = plan.orientation != "keep" && orientation_code(info.geometry) != plan.orientation;
  const bool resamples = plan.spacing_mm && grid.size != info.geometry.size;
  const auto moments = [&](double share) {
    const double n = share * all_n, m = share * all_m;
    ProcessPlan cores;
    for (const MemoryPart part : {kArenas, kGradients, kPacked, kWorkspaces})
      cores[part] = planned_bytes(share * static_cast<double>(process.cores[part]));
    const double back = plan.convention == Convention::kNnunet ? 2 * n
                        : turns || resamples                   ? n
                                                               : 0,
                 before = (channels - 1) * m + nonzero_bytes(plan, n);
    return process.held +
           widest_of({moment({{kReading, share * reading(info)}, {kResampling, before}}),
                      moment({{kReading, n}, {kResampling, before + (turns ? n : 0)}}),
                      moment({{kReading, n}, {kResampling, before + (resamples ? m : 0)}}),
                      moment({{kReading, n}, {kResampling, before + nnunet_bytes(plan, n, resamples ? m : 0)}}),
                      cores + moment({{kResampling, channels * m}}), cores + moment({{kResults, m + m / kVoxel}}),
                      moment({{kResults, m + back}}), moment({{kResults, n + n / kVoxel}})});
  };
  return require_grid(grid, path.filename().string(), limits, moments, [](double most) {
    return whole_number(most) + " voxels at the spacing of the model would fit: crop it";
  });
}

ProcessPlan evaluating_case_plan(const Evaluated& files, const VolumeFormats& formats) {
  const auto read = [&](const fs::path& path) {
    const auto info = path.empty() ? std::nullopt : usable_info(path, formats);
    if (info) require_within(formats.limits, *info, path);
    return info ? reading(*info) : 0.0;
  };
  const auto reference = reference_info(files, formats);
  if (!reference) return {};
  const fs::path name = files.drawn != nullptr ? fs::path(files.drawn->id) : files.reference;
  require_within(formats.limits, *reference, name);
  const double n = kVoxel * static_cast<double>(voxels_of(reference->geometry));
  ProcessPlan plan = widest_of(
      {moment({{kMetrics, reading(*reference)}}), moment({{kMetrics, n}, {kReading, read(files.prediction)}})});
  if (files.surfaces) {
    const auto& size = reference->geometry.size;
    plan = widest_of({plan, moment({{kMetrics, 2 * n + surface_bytes({size[2], size[1], size[0]})}})});
  }
  if (!files.image.empty())
    plan = widest_of(
        {plan, moment({{kMetrics, 2 * n}, {kReading, read(files.image)}}), moment({{kMetrics, 3 * n}, {kReading, n}})});
  const std::int64_t most = formats.limits.memory_bytes;
  const double fits = static_cast<double>(voxels_of(reference->geometry)) * static_cast<double>(most) /
                      static_cast<double>(plan.total());
  require_fits(plan, most, ErrorKind::kInput, "counting " + name.filename().string(),
               whole_number(fits) + " voxels would fit: crop both");
  return plan;
}

ProcessPlan image_plan(const std::vector<Evaluated>& cases, const VolumeFormats& formats) {
  double all = 0, largest = 0;
  for (const Evaluated& one : cases) {
    const auto info = reference_info(one, formats);
    const double bytes = info ? 3 * kVoxel * static_cast<double>(voxels_of(info->geometry)) : 0;
    all += bytes, largest = std::max(largest, bytes);
  }
  const std::int64_t before = resident_bytes();
  load_codecs();
  ProcessPlan plan = moment({{kReading, all}, {kResampling, 2 * largest}});  // reoriented, then cropped
  plan[kLibraries] = std::max<std::int64_t>(0, resident_bytes() - before);
  require_fits(plan, formats.limits.memory_bytes, ErrorKind::kBudget, "the picture of slices", "leave {png} out");
  return plan;
}

}  // namespace voxshard
