#include "io/volume/upright.h"

#include <algorithm>
#include <cmath>

#include "io/volume/axes.h"
#include "io/volume/volume_limits.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Vector = std::array<double, 3>;

Vector column(const Matrix34& m, int c) { return {m[0][c], m[1][c], m[2][c]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Vector& a) { return std::sqrt(dot(a, a)); }
/// Returns a + scale * b.
Vector sum(const Vector& a, double scale, const Vector& b) {
  return {a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]};
}

/// Turns an index of the grid into one of the sheared volume: source = start + step * index.
struct IndexMap {
  Vector start{};
  std::array<Vector, 3> step{};  // by axis of the grid

  IndexMap(const Geometry& from, const Geometry& to) {
    const Matrix34 m = matrix_of(from), g = matrix_of(to);
    const Vector x = column(m, 0), y = column(m, 1), z = column(m, 2);
    const auto cross = [](const Vector& a, const Vector& b) -> Vector {
      return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    };
    const double volume = dot(x, cross(y, z));
    const std::array<Vector, 3> rows = {cross(y, z), cross(z, x), cross(x, y)};
    const auto index_of = [&](const Vector& mm) -> Vector {
      return {dot(rows[0], mm) / volume, dot(rows[1], mm) / volume, dot(rows[2], mm) / volume};
    };
    start = index_of(sum(column(g, 3), -1, column(m, 3)));
    for (int a = 0; a < 3; ++a) step[a] = index_of(column(g, a));
  }
};

/// Samples the voxels at a continuous index; `outside` beyond half a voxel from the centres of the border.
template <class T>
T sampled(const T* voxels, const std::array<std::int64_t, 3>& size, const Vector& at, T outside) {
  std::array<std::int64_t, 3> low{}, high{};
  Vector weight{};
  for (std::size_t a = 0; a < 3; ++a) {
    constexpr double kRounding = 1e-9;
    const double most = static_cast<double>(size[a] - 1);
    if (!(at[a] >= -0.5 - kRounding && at[a] <= most + 0.5 + kRounding)) return outside;
    const double within = std::clamp(at[a], 0.0, most);
    low[a] = static_cast<std::int64_t>(std::is_integral_v<T> ? std::floor(within + 0.5) : within);
    high[a] = std::min(low[a] + 1, size[a] - 1);
    weight[a] = within - static_cast<double>(low[a]);
  }
  const auto voxel = [&](bool x, bool y, bool z) {
    return voxels[((z ? high : low)[2] * size[1] + (y ? high : low)[1]) * size[0] + (x ? high : low)[0]];
  };
  if constexpr (std::is_integral_v<T>) {
    return voxel(false, false, false);
  } else {
    double value = 0;
    for (const bool z : {false, true})
      for (const bool y : {false, true})
        for (const bool x : {false, true})
          value += (x ? weight[0] : 1 - weight[0]) * (y ? weight[1] : 1 - weight[1]) * (z ? weight[2] : 1 - weight[2]) *
                   static_cast<double>(voxel(x, y, z));
    return static_cast<T>(value);
  }
}

template <class T>
void sample_all(const Volume& from, const IndexMap& map, T outside, Volume& to) {
  T* out = to.voxels.as<T>();
  for (std::int64_t k = 0; k < to.geometry.size[2]; ++k)
    for (std::int64_t j = 0; j < to.geometry.size[1]; ++j) {
      const Vector row = sum(sum(map.start, static_cast<double>(k), map.step[2]), static_cast<double>(j), map.step[1]);
      for (std::int64_t i = 0; i < to.geometry.size[0]; ++i)
        *out++ =
            sampled(from.voxels.as<T>(), from.geometry.size, sum(row, static_cast<double>(i), map.step[0]), outside);
    }
}

bool resamples(const VolumeInfo& info, IrregularSlices irregular) {
  return irregular == IrregularSlices::kResample && !info.readable && info.problem_code == kShearCode;
}

}  // namespace

Geometry upright_grid(const Geometry& sheared) {
  const Matrix34 m = matrix_of(sheared);
  std::array<Vector, 3> axis;
  Geometry grid = sheared;
  for (int a = 0; a < 3; ++a) {
    const auto at = static_cast<std::size_t>(a);
    Vector upright = column(m, a);
    for (std::size_t b = 0; b < at; ++b) upright = sum(upright, -dot(upright, axis[b]), axis[b]);
    grid.spacing[at] = std::max(length(upright), 1e-9);
    axis[at] = sum({}, 1 / grid.spacing[at], upright);
    for (std::size_t r = 0; r < 3; ++r) grid.direction[3 * r + at] = axis[at][r] + 0.0;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    double low = 0, high = 0;  // along the axis, from the first voxel, over the corners of the sheared volume
    for (int corner = 0; corner < 8; ++corner) {
      double along = 0;
      for (int c = 0; c < 3; ++c)
        if ((corner >> c) & 1) along += dot(axis[a], column(m, c)) * static_cast<double>(sheared.size[c] - 1);
      low = std::min(low, along), high = std::max(high, along);
    }
    constexpr double kMostVoxels = 1 << 30;
    const double first = std::floor(low / grid.spacing[a] + 1e-6), last = std::ceil(high / grid.spacing[a] - 1e-6);
    grid.size[a] = static_cast<std::int64_t>(std::min(last - first, kMostVoxels)) + 1;
    for (std::size_t r = 0; r < 3; ++r) grid.origin[r] += first * grid.spacing[a] * axis[a][r];
  }
  return grid;
}

Volume resample_on_grid(const Volume& volume, const Geometry& grid) {
  const IndexMap map(volume.geometry, grid);
  Volume out{grid, Tensor(volume.voxels.dtype(), grid.shape())};
  if (volume.voxels.dtype() == DType::kI32) {
    sample_all<std::int32_t>(volume, map, 0, out);
  } else {
    const float* voxels = volume.voxels.as<float>();
    sample_all<float>(volume, map, *std::min_element(voxels, voxels + volume.voxels.count()), out);
  }
  return out;
}

VolumeInfo upright_info(const VolumeHeader& header, IrregularSlices irregular) {
  VolumeInfo info = header.info;
  if (!resamples(info, irregular)) {
    info.stores_bytes = header.source.type == VoxelType::kU8 && !header.source.slope;
    return info;
  }
  info.extra_bytes += 4 * std::min(voxels_of(info.geometry), std::int64_t{1} << 58);
  info.geometry = upright_grid(info.geometry);
  info.orientation = orientation_code(info.geometry);
  info.readable = true, info.problem.clear();
  info.warning = "W_RESAMPLED its axes are sheared by " + fixed_text(info.shear_degrees, 2) +
                 " degrees (made orthogonal, they would move a corner by " + fixed_text(info.shear_shift_mm, 1) +
                 " mm); it is resampled on an upright regular grid";
  return info;
}

Volume read_upright(VolumeHeader header, DType dtype, IrregularSlices irregular) {
  if (!resamples(header.info, irregular)) return read_voxels(header, dtype);
  header.info.readable = true;
  const Volume sheared = read_voxels(header, dtype);
  return resample_on_grid(sheared, upright_grid(sheared.geometry));
}

void check_upright(VolumeHeader header, IrregularSlices irregular) {
  if (resamples(header.info, irregular)) header.info.readable = true;
  check_voxels(header);
}

}  // namespace voxshard
