#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/resampling/resample.h"
#include "pipelines/tasks/segmentation/nnunet/nnunet_grid.h"
#include "pipelines/tasks/segmentation/nnunet/nonzero_crop.h"

namespace voxshard {
namespace {

/// Returns the grid of `size` samples over the whole extent of `from`, with their true distance (old extent / new size)
/// as spacing, as respaced() records it, so that the way back does not drift. Example: 75 voxels of 3 mm, requested
/// at 3.1 mm, become 73 voxels of 225 / 73 = 3.082 mm.
Geometry with_true_spacing(const Geometry& from, const std::array<std::int64_t, 3>& size) {
  Geometry to = from;
  std::array<double, 3> first{};  // the new first voxel in the old index
  for (int a = 0; a < 3; ++a) {
    const double ratio = static_cast<double>(from.size[a]) / static_cast<double>(size[a]);
    to.size[a] = size[a];
    to.spacing[a] = from.spacing[a] * ratio;
    first[a] = (ratio - 1) / 2;
  }
  to.origin = from.world(first);
  return to;
}

/// Returns the geometry of reorient(volume, code): axes are permuted, and a flipped axis starts at its other end.
Geometry reoriented_geometry(const Geometry& from, const std::string& code) {
  const auto axis_of = [](char letter) { return std::string("LRPASI").find(letter) / 2; };
  const std::string old = orientation_code(from);
  Geometry to = from;
  std::array<double, 3> first{};  // the new first voxel in the old index
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      if (axis_of(code.at(a)) != axis_of(old[b])) continue;
      const bool flip = code[a] != old[b];
      to.size[a] = from.size[b];
      to.spacing[a] = from.spacing[b];
      for (std::size_t row = 0; row < 3; ++row)
        to.direction[row * 3 + a] = flip ? -from.direction[row * 3 + b] : from.direction[row * 3 + b];
      first[b] = flip ? static_cast<double>(from.size[b] - 1) : 0.0;
    }
  to.origin = from.world(first);
  return to;
}

bool is_nnunet(const PreparePlan& plan) { return plan.convention == Convention::kNnunet; }

Geometry oriented_geometry(const Geometry& original, const PreparePlan& plan) {
  return plan.orientation == "keep" ? original : reoriented_geometry(original, plan.orientation);
}

struct Moments {
  double mean = 0, std = 1;
};

/// Normalises the voxels of a mask by their own mean and deviation; the others stay as they are.
///   label  oriented and cropped, whose labels count as nonzero; or null
Moments normalise_nonzero(const Tensor& image, std::vector<char> mask, const Volume* label) {
  if (label != nullptr)
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (label->voxels.as<std::int32_t>()[i] != 0) mask[i] = 1;
  auto* x = image.as<float>();
  double sum = 0, square = 0, n = 0;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) sum += x[i], n += 1;
  const double mean = n > 0 ? sum / n : 0;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) square += (x[i] - mean) * (x[i] - mean);
  const double std = n > 0 ? std::max(std::sqrt(square / n), 1e-8) : 1;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) x[i] = static_cast<float>((x[i] - mean) / std);
  return {mean, std};
}

Moments moments(const Tensor& voxels) {
  const auto* x = voxels.as<float>();
  const std::int64_t n = voxels.count();
  double sum = 0, square = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  const double mean = sum / static_cast<double>(n);
  for (std::int64_t i = 0; i < n; ++i) square += (x[i] - mean) * (x[i] - mean);
  return {mean, std::max(std::sqrt(square / static_cast<double>(n)), 1e-8)};
}

/// Returns a predicted label map on the whole oriented grid.
Volume uncropped(Volume label, const Geometry& whole, const PreparePlan& plan, const Box& crop) {
  if (plan.spacing_mm) label = nnunet_restored(std::move(label), cropped_geometry(whole, crop), *plan.spacing_mm);
  return placed_back(std::move(label), crop, whole);
}

}  // namespace

Volume oriented(Volume volume, const PreparePlan& plan) {
  return plan.orientation == "keep" ? std::move(volume) : reorient(std::move(volume), plan.orientation);
}

std::optional<NonzeroVoxels> nonzero_of_channels(const PreparePlan& plan,
                                                 const std::function<Volume(std::size_t)>& read) {
  if (!is_nnunet(plan) || plan.channels.size() < 2) return std::nullopt;
  NonzeroVoxels nonzero;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) nonzero.add(oriented(read(c), plan).voxels);
  return nonzero;
}

PreparedImage prepare_image(Volume ct, const PreparePlan& plan, const Volume* label, const NonzeroVoxels* nonzero) {
  const Geometry original = ct.geometry;
  Volume image = oriented(std::move(ct), plan);
  std::optional<Box> crop;
  if (is_nnunet(plan)) {
    crop = nonzero != nullptr ? nonzero->box() : nonzero_box(image.voxels);
    image = cropped(std::move(image), *crop);
  }
  auto* x = image.voxels.as<float>();
  const std::int64_t n = image.voxels.count();
  constexpr float kNoLimit = std::numeric_limits<float>::infinity();
  const auto low = plan.clip_hu ? static_cast<float>(plan.clip_hu->low) : -kNoLimit;
  const auto high = plan.clip_hu ? static_cast<float>(plan.clip_hu->high) : kNoLimit;
  if (plan.normalise == Normalise::kZscore || plan.zscore_in_nonzero)  // their numbers are those of clipped voxels
    for (std::int64_t i = 0; i < n; ++i) x[i] = std::clamp(x[i], low, high);
  Moments by;
  by.mean = 0;
  if (plan.normalise == Normalise::kZscore) by = moments(image.voxels);
  if (is_by_foreground(plan.normalise) || plan.normalise == Normalise::kWindow) by = {plan.mean_hu, plan.std_hu};
  if (plan.zscore_in_nonzero) {
    std::optional<Volume> masked;
    if (label != nullptr) masked = cropped(oriented(*label, plan), *crop);
    by = normalise_nonzero(image.voxels, nonzero != nullptr ? nonzero->mask() : nonzero_mask(image.voxels),
                           masked ? &*masked : nullptr);
  } else {
    const double scale = 1 / by.std;
    const auto normalise = [&](const auto& hu) {
      for (std::int64_t i = 0; i < n; ++i)
        x[i] = static_cast<float>((hu(std::clamp(x[i], low, high)) - by.mean) * scale);
    };
    if (plan.normalise == Normalise::kSoftTissue)
      normalise([](float value) { return soft_tissue_hu(value); });
    else
      normalise([](float value) { return value; });
  }
  if (const auto target = plan.target_mm(image.geometry.spacing)) {
    const Geometry before = image.geometry;
    image = is_nnunet(plan) ? nnunet_image(std::move(image), *target) : resample_image(std::move(image), *target);
    image.geometry = with_true_spacing(before, image.geometry.size);
  }
  return {std::move(image), original, by.mean, by.std, crop};
}

Volume prepare_label(Volume label, const PreparePlan& plan, const std::optional<Box>& crop) {
  Volume result = oriented(std::move(label), plan);
  if (crop) result = cropped(std::move(result), *crop);
  const auto target = plan.target_mm(result.geometry.spacing);
  if (!target) return result;
  const Geometry before = result.geometry;
  result = is_nnunet(plan) ? nnunet_label(std::move(result), *target) : resample_label(std::move(result), *target);
  result.geometry = with_true_spacing(before, result.geometry.size);
  return result;
}

Geometry prepared_geometry(const Geometry& original, const PreparePlan& plan, const std::optional<Box>& crop) {
  Geometry grid = oriented_geometry(original, plan);
  if (crop) grid = cropped_geometry(grid, *crop);
  const auto target = plan.target_mm(grid.spacing);
  return target ? with_true_spacing(grid, respaced(grid, *target).size) : grid;
}

Volume restore_label(Volume label, const Geometry& original, const PreparePlan& plan, const std::optional<Box>& crop) {
  ensure(same_geometry(label.geometry, prepared_geometry(original, plan, crop), 1e-3),
         "the label is on the prepared grid");
  if (is_nnunet(plan)) label = uncropped(std::move(label), oriented_geometry(original, plan), plan, *crop);
  const bool resampled = plan.target_mm(oriented_geometry(original, plan).spacing).has_value();
  Volume back = resampled && !is_nnunet(plan) ? resample_label_to(std::move(label), original)
                : plan.orientation == "keep"  ? std::move(label)
                                              : reorient(std::move(label), orientation_code(original));
  back.geometry = original;
  return back;
}

}  // namespace voxshard
