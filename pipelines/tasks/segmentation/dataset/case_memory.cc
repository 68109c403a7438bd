// The moments of a case follow one another, and only the largest counts. n: voxels of the file, m: voxels of the
// prepared grid. An image or a label map takes 4 bytes a voxel; a label map that waits beside an image l bytes: 1 where
// the labels fit in bytes, else 4. Axes that flip do so in place, those that are permuted take a second volume. A
// volume that is resampled by our convention is released while it is read: with the result r, 4 max(n, m) and two
// slices of each. Files are read and written in pieces.
//
//   reading      the label of a file: reading(label); then each channel beside it: l n + reading(image);
//                structures are drawn beside the image: 4 n + reading(label)
//   preparing    the image beside its label: permuted l n + 8 n, resampled l n + r; written and released;
//                the label, l bytes: permuted 2 l n, resampled l r / 4, written l m
//   nnU-Net's    the image beside its label: cropped, n to 9/4 n more; resampled, twice the larger grid less n more;
//   convention   the label as i32, permuted 8 n, written 4 m;
//                the fingerprint: 24 n beside both; restoring: 8 n beside the labels
//   predicting   each channel, beside those that are prepared, 4 m each: reading; permuted 8 n, resampled r;
//                the core set beside the image, 4 m, which is released when it is fed; then beside the labels, by core
//                and whole, 5 m; restoring 4 m + 4 n. Where the probabilities of c classes are summed, 4 c
//                m beside the core set and the labels that are made of them; with several models also while the image
//                is read and fed again; where they are written also while labels, and then numbers of voxels, are
//                restored; from other processes come the probabilities of a core, at most 4 c m
#include "pipelines/tasks/segmentation/dataset/case_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "io/datasets/hidden_paths.h"
#include "io/resampling/resample.h"
#include "io/volume/nifti_write.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/memory_moments.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/labels/byte_labels.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using enum MemoryPart;

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
    plan.kept.reset();
    auto& mm = plan.spacing_mm.emplace();
    for (std::size_t a = 0; a < 3; ++a) mm[a] = rounded_up(grid.spacing[a] * factor);
    if (static_cast<double>(voxels_of(prepared_geometry(original, plan))) <= voxels) break;
  }
  const auto& mm = *plan.spacing_mm;
  return significant_text(mm[0]) + "," + significant_text(mm[1]) + "," + significant_text(mm[2]);
}

/// Returns the largest share of the whole whose plan is within `most` bytes (0: no limit); 0 when none is.
double fitting_share(const std::function<ProcessPlan(double share)>& plan, std::int64_t most) {
  if (most <= 0 || plan(1).total() <= most) return 1;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) (plan((low + high) / 2).total() <= most ? low : high) = (low + high) / 2;
  return low;
}

/// Errors: kInput for a grid that the file which is written does not hold.
void require_written(const Geometry& grid, const std::string& name) {
  if (*std::ranges::max_element(grid.size) > kMostNiftiExtent)
    throw Error(ErrorKind::kInput, "E_SIZE",
                "[" + name + "] has a grid of " + joined_text(grid.size.data(), 3) +
                    " voxels; what is written of it has at most " + std::to_string(kMostNiftiExtent) +
                    " along an axis: crop it");
}

/// Checks a grid to resample to against the limits and returns its plan. `plan(share)` is the plan of a share of its
/// voxels; `fitting(most)` returns advice that gives at most so many voxels.
ProcessPlan require_grid(const Geometry& grid, const std::string& name, const VolumeLimits& limits,
                         const std::function<ProcessPlan(double share)>& plan,
                         const std::function<std::string(double most)>& fitting, const WouldDo& would_do = {}) {
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
                    " that are allowed; " + fits + ", or raise {most-voxels} to " + whole_number(voxels));
  require_fits(whole, limits.memory_bytes, ErrorKind::kInput, name + " on " + size + " voxels", fits, would_do);
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
    // A channel on another grid is refused, or resampled beside itself on the grid of the first.
    if (!info.channels.empty() && !same_geometry(image->geometry, info.channels.front().geometry, kGridTolerance))
      image->extra_bytes += 4 * voxels_of(info.channels.front().geometry);
    info.channels.push_back(std::move(*image));
  }
  info.image = info.channels.front();
  auto label = usable_label(item, info.image, formats);
  if (!label) return std::nullopt;
  info.label = std::move(*label);
  info.voxels = static_cast<double>(voxels_of(info.image.geometry));
  return info;
}

/// True when preparing a volume permutes its axes, which takes a second one.
bool permutes(const PreparePlan& plan, const Geometry& geometry) {
  return plan.orientation != "keep" && permutes_axes(geometry, plan.orientation);
}

/// Returns the plan of reading.
///   waiting  bytes of the label map while a channel is read
ProcessPlan reading_plan(const CaseInfo& c, bool structures, double waiting) {
  const double before = structures ? kVoxelBytes * c.voxels : 0;
  ProcessPlan plan = moment({{kReading, before + reading(c.label)}});
  for (const VolumeInfo& channel : c.channels) plan = widest(plan, moment({{kReading, waiting + reading(channel)}}));
  return plan;
}

/// Returns the bytes of a label map that waits beside an image.
///   n  of an image
double waiting_bytes(const PreparePlan& plan, double n) {
  return fit_bytes(plan.classes(), plan.ignore_label) ? n / kVoxelBytes : n;
}

/// Returns the bytes of a volume and of the resampled one, of which the first is released as it is read.
///   n, m  bytes of both, of which `from` and `to` are the shapes
double resampling_bytes(const Geometry& from, double n, const Geometry& to, double m) {
  const auto slices = [](const Geometry& grid, double bytes) {  // along any axis of a grid of so many bytes
    const double share = bytes / (kVoxelBytes * static_cast<double>(voxels_of(grid)));
    return 2 * bytes / std::max(std::cbrt(share) * static_cast<double>(*std::ranges::min_element(grid.size)), 1.0);
  };
  return std::max(n, m) + slices(from, n) + slices(to, m);
}

/// Returns the bytes of what is not 0 in any channel, which nnU-Net's convention holds while the channels are read, and
/// of the part of it whose holes are filled.
///   n  bytes of a channel
double nonzero_bytes(const PreparePlan& plan, double n) {
  return plan.convention == Convention::kNnunet && plan.channels.size() > 1 ? 2 * n / kVoxelBytes : 0;
}

/// Returns the bytes that nnU-Net's convention takes beside the image: while it is cropped and masked, a copy of it, of
/// its label and a mask; while it is resampled axis by axis, two volumes of the larger size, one of them the image.
///   n, m  bytes of the image and of the resampled image (0: it is not resampled)
double nnunet_bytes(const PreparePlan& plan, double n, double m) {
  if (plan.convention != Convention::kNnunet) return 0;
  return std::max((plan.zscore_in_nonzero ? 2 + 1 / kVoxelBytes : 1) * n, m > 0 ? 2 * std::max(n, m) - n : 0);
}

/// Returns the plan of reading a case, checked against the limits.
///   waiting  bytes a voxel of the label map while a channel is read
ProcessPlan require_reading(const Case& item, const VolumeFormats& formats, double waiting) {
  const auto info = case_info(item, formats);
  if (!info) return {};
  for (std::size_t k = 0; k < info->channels.size(); ++k)
    require_within(formats.limits, info->channels[k], item.images[k]);
  if (item.label) require_within(formats.limits, info->label, *item.label);
  const ProcessPlan plan = reading_plan(*info, !item.label, waiting * info->voxels);
  const std::int64_t most = formats.limits.memory_bytes;
  if (most <= 0 || plan.total() <= most) return plan;
  const double fits = info->voxels * static_cast<double>(most) / static_cast<double>(plan.total());
  require_fits(plan, most, ErrorKind::kInput,
               "image and label of " + item.id + " (" + joined_text(info->image.geometry.size.data(), 3) + " voxels)",
               whole_number(fits) + " voxels would fit: crop them");
  return plan;
}

}  // namespace

ProcessPlan reading_case_plan(const Case& item, const VolumeFormats& formats) {
  return require_reading(item, formats, kVoxelBytes);
}

ProcessPlan fingerprint_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats) {
  const ProcessPlan read = require_reading(item, formats, waiting_bytes(plan, kVoxelBytes));
  const auto info = case_info(item, formats);
  if (!info || plan.convention != Convention::kNnunet) return read;
  const double n = kVoxelBytes * info->voxels;
  // the sample: value and number of drawings of each foreground voxel, and then the pairs of those that were drawn
  const ProcessPlan sampling = moment({{kReading, 2 * n}, {kResampling, 6 * n + nonzero_bytes(plan, n)}});
  require_fits(sampling, formats.limits.memory_bytes, ErrorKind::kInput, "the fingerprint of " + item.id,
               "crop the image, or leave {convention} nnunet out");
  return widest_of({read, sampling});
}

ProcessPlan preparing_case_plan(const Case& item, const PreparePlan& plan, const VolumeFormats& formats) {
  const ProcessPlan read = require_reading(item, formats, waiting_bytes(plan, kVoxelBytes));
  const auto info = case_info(item, formats);
  if (!info) return read;
  const Geometry& original = info->image.geometry;
  const Geometry grid = prepared_geometry(original, plan);
  require_written(grid, shown_file(item, item.images[0], "image"));
  const double n = kVoxelBytes * info->voxels, all = kVoxelBytes * static_cast<double>(voxels_of(grid));
  const double permuted = permutes(plan, original) ? n : 0;
  const double beside = plan.zscore_in_nonzero ? n : waiting_bytes(plan, n);  // the label map
  const ProcessPlan mask = moment({{kResampling, nonzero_bytes(plan, n)}});
  const bool nnunet = plan.convention == Convention::kNnunet;
  const auto moments = [&](double share) {
    const double m = share * all;
    const bool resamples = plan.spacing_mm && grid.size != original.size;
    const double resampled = resamples ? resampling_bytes(original, n, grid, m) - n : 0;
    const double part = nnunet ? 1 : waiting_bytes(plan, 1);  // of these bytes for the labels
    return mask + widest_of({read, moment({{kReading, beside + n}, {kResampling, permuted}}),
                             moment({{kReading, beside + n},
                                     {kResampling, nnunet ? nnunet_bytes(plan, n, resamples ? m : 0) : resampled}}),
                             moment({{kReading, part * n}, {kResampling, nnunet ? waiting_bytes(plan, n) : 0}}),
                             moment({{kReading, part * n},
                                     {kResampling, part * std::max(permuted, nnunet && resamples ? m : resampled)}}),
                             moment({{kResampling, part * m}})});
  };
  return require_grid(grid, shown_file(item, item.images[0], "image"), formats.limits, moments, [&](double most) {
    return "a spacing of " + fitting_spacing(original, plan, most) + " mm would fit";
  });
}

namespace {

/// The grids and bytes of one channel of an image that is predicted.
struct PredictedGrid {
  Geometry grid;        // as the model sees it
  double n = 0, m = 0;  // bytes of the file's voxels and of the prepared ones
  bool turns = false, permuted = false, resamples = false;
};
PredictedGrid predicted_grid(const VolumeInfo& info, const PreparePlan& plan) {
  const Geometry grid = prepared_geometry(info.geometry, plan);
  return {.grid = grid,
          .n = kVoxelBytes * static_cast<double>(voxels_of(info.geometry)),
          .m = kVoxelBytes * static_cast<double>(voxels_of(grid)),
          .turns = plan.orientation != "keep" && orientation_code(info.geometry) != plan.orientation,
          .permuted = permutes(plan, info.geometry),
          .resamples = plan.spacing_mm && grid.size != info.geometry.size};
}

/// Returns the widest moment of reading and preparing a channel, beside those that are prepared.
///   share  of the voxels
ProcessPlan preparing_moments(const VolumeInfo& info, const PreparePlan& plan, const PredictedGrid& g, double share) {
  const double n = share * g.n, m = share * g.m;
  const bool nnunet = plan.convention == Convention::kNnunet;
  const double before = (static_cast<double>(plan.channels.size()) - 1) * m + nonzero_bytes(plan, n);
  return widest_of({moment({{kReading, share * reading(info)}, {kResampling, before}}),
                    moment({{kReading, n}, {kResampling, before + (g.permuted ? n : 0)}}),
                    moment({{kReading, g.resamples && !nnunet ? resampling_bytes(info.geometry, n, g.grid, m) : n},
                            {kResampling, before}}),
                    moment({{kReading, n}, {kResampling, before + nnunet_bytes(plan, n, g.resamples ? m : 0)}})});
}

}  // namespace

ProcessPlan preparing_ahead_plan(const VolumeInfo& info, const PreparePlan& plan) {
  const PredictedGrid g = predicted_grid(info, plan);
  return widest_of(
      {preparing_moments(info, plan, g, 1), moment({{kResampling, static_cast<double>(plan.channels.size()) * g.m}})});
}

ProcessPlan predicting_plan(const VolumeInfo& info, const fs::path& path, const PreparePlan& plan,
                            const Predicting& process, const VolumeLimits& limits) {
  VolumeLimits reading_limits = limits;
  reading_limits.memory_bytes = 0;  // reading is one of the moments below, whose refusal names a budget for all of them
  require_within(reading_limits, info, path);
  require_written(info.geometry, path.filename().string());
  const PredictedGrid g = predicted_grid(info, plan);
  const auto channels = static_cast<double>(plan.channels.size());
  const auto moments = [&](double share) {
    const double n = share * g.n, m = share * g.m;
    ProcessPlan cores;
    for (const MemoryPart part : {kArenas, kGradients, kPacked, kWorkspaces})
      cores[part] = planned_bytes(share * static_cast<double>(process.cores[part]));
    const double back = plan.convention == Convention::kNnunet ? 2 * n : g.turns || g.resamples ? n : 0;
    const double sums = static_cast<double>(process.sums) * m;
    const auto window = static_cast<double>(process.sums_window);
    const ProcessPlan summed = moment({{kResults, window > 0 ? std::min(window, sums) : sums}});
    const ProcessPlan beside = process.reads_again ? summed : ProcessPlan(),
                      kept = process.keeps_sums ? summed : ProcessPlan();
    const ProcessPlan labels = process.sums == 0
                                   ? cores + moment({{kResults, m + m / kVoxelBytes}})
                                   : summed + widest(cores + moment({{kResults, process.other_processes ? sums : 0}}),
                                                     moment({{kResults, m}}));
    return process.held + widest_of({process.before + beside + preparing_moments(info, plan, g, share),
                                     beside + cores + moment({{kResampling, channels * m}}), labels,
                                     process.after + kept + moment({{kResults, m + back}})});
  };
  WouldDo would_do;
  if (process.would_do) would_do = [&] { return process.would_do(moments(1)); };
  require_fits(process.held, limits.memory_bytes, ErrorKind::kInput,
               "the process alone, before " + path.filename().string(), "", would_do);
  return require_grid(
      g.grid, path.filename().string(), limits, moments,
      [](double most) { return whole_number(most) + " voxels on the grid that the model sees would fit: crop it"; },
      would_do);
}

}  // namespace voxshard
