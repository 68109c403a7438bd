#include "pipelines/tasks/segmentation/checks/border_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace voxshard {
namespace {

using Offset = std::array<std::int64_t, 3>;  // along z, y, x

constexpr std::int64_t kFewestFaces = 100;
constexpr int kFarVoxels = 3;  // shifts from here on count as off

/// The steps at shifts along one axis. Only faces that stay inside of the image at all of these shifts are summed, so
/// that all sums are over the same faces.
struct AxisSums {
  double in_place = 0;
  std::array<double, 2 * kMostShiftVoxels + 1> shifted{};  // by -4 to 4 voxels
  std::int64_t faces = 0;
};

/// Adds the step of intensity across the face from voxel `at`, of index `i`, to the next one along `axis`.
void add_face(const Tensor& image, const Offset& at, std::int64_t i, std::size_t axis, std::array<AxisSums, 3>& sums) {
  const Shape shape = image.shape();
  const Dims strides = dense_strides(shape);
  const auto* hu = image.as<float>();
  const std::int64_t across = strides[static_cast<int>(axis)];
  const auto step = [&](std::int64_t from) {
    return std::abs(std::clamp(hu[from], kBorderLowHu, kBorderHighHu) -
                    std::clamp(hu[from + across], kBorderLowHu, kBorderHighHu));
  };
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t last = at[a] + (a == axis ? 1 : 0);
    if (at[a] < kMostShiftVoxels || last + kMostShiftVoxels >= shape[static_cast<int>(a)]) continue;
    for (int s = -kMostShiftVoxels; s <= kMostShiftVoxels; ++s)
      sums[a].shifted[s + kMostShiftVoxels] += step(i + s * strides[static_cast<int>(a)]);
    sums[a].in_place += step(i);
    ++sums[a].faces;
  }
}

/// Returns the place of the largest steps along one axis, in parts of a voxel.
std::optional<double> peak_of(const AxisSums& sums) {
  const auto top = std::max_element(sums.shifted.begin(), sums.shifted.end());
  if (top == sums.shifted.begin() || top + 1 == sums.shifted.end()) return std::nullopt;
  const double curvature = 2 * *top - *(top - 1) - *(top + 1);
  const auto place = static_cast<double>(top - sums.shifted.begin() - kMostShiftVoxels);
  return curvature > 0 ? place + 0.5 * (*(top + 1) - *(top - 1)) / curvature : place;
}

/// Returns the fit from the gain of each shift: its steps divided by those in place.
std::optional<BorderFit> fit_of(const std::array<AxisSums, 3>& sums) {
  BorderFit fit;
  double best = 1, far_gains = 0, far_count = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (sums[a].faces < kFewestFaces || sums[a].in_place <= 0) continue;
    fit.faces = std::max(fit.faces, sums[a].faces);
    fit.peak[2 - a] = peak_of(sums[a]);
    for (int s = -kMostShiftVoxels; s <= kMostShiftVoxels; ++s) {
      const double gain = sums[a].shifted[s + kMostShiftVoxels] / sums[a].in_place;
      if (std::abs(s) >= kFarVoxels) far_gains += gain, far_count += 1;
      if (gain <= best) continue;
      best = gain;
      fit.shift = {};
      fit.shift[2 - a] = s;
    }
  }
  if (far_count == 0 || far_gains <= 0) return std::nullopt;
  fit.contrast = far_count / far_gains;
  fit.best_contrast = best * fit.contrast;
  return fit;
}

}  // namespace

std::optional<BorderFit> border_fit(const Volume& image, const Volume& label) {
  const Shape shape = label.voxels.shape();
  ensure(image.voxels.shape() == shape, "labels are compared with an image of their size");
  const Dims strides = dense_strides(shape);
  const auto* labels = label.voxels.as<std::int32_t>();
  std::array<AxisSums, 3> sums{};
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i) {
        const Offset at = {z, y, x};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const auto a = static_cast<int>(axis);
          if (at[axis] + 1 < shape[a] && labels[i] != labels[i + strides[a]]) add_face(image.voxels, at, i, axis, sums);
        }
      }
  return fit_of(sums);
}

}  // namespace voxshard
