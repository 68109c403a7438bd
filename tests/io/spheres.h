// Gaussian spheres at known places in the world, and where a volume shows them.
//
//   const std::vector<Sphere> spheres = {{{20, 22, 18}, 6}};
//   pixel = light_of(spheres, place) - 1000;              // where a file is written
//   expect_spheres(read_image(path), spheres, -1000);     // within 0.1 mm
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

struct Sphere {
  std::array<double, 3> centre_mm{};  // LPS
  double width_mm = 6;                // full width at half maximum
};

/// Of a sphere at its centre.
inline constexpr double kSphereLight = 2000;

inline double square_distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/// Returns the brightness that the spheres add at a place.
inline double light_of(const std::vector<Sphere>& spheres, const std::array<double, 3>& at) {
  double sum = 0;
  for (const Sphere& s : spheres) {
    const double sigma = s.width_mm / 2.3548, square = square_distance(at, s.centre_mm);
    if (square < 64 * sigma * sigma) sum += kSphereLight * std::exp(-square / (2 * sigma * sigma));
  }
  return sum;
}

/// Expects each sphere where it was put, within 0.1 mm: the centroid of the brightness around its centre.
///   background    value of a voxel without light
///   reach_widths  how far from the centre voxels count
inline void expect_spheres(const Volume& volume, const std::vector<Sphere>& spheres, double background,
                           double reach_widths = 1.5) {
  const Geometry& g = volume.geometry;
  for (std::size_t s = 0; s < spheres.size(); ++s) {
    const double reach = std::pow(reach_widths * spheres[s].width_mm, 2);
    double mass = 0;
    std::array<double, 3> sum{};
    const float* value = volume.voxels.as<float>();
    for (std::int64_t z = 0; z < g.size[2]; ++z)
      for (std::int64_t y = 0; y < g.size[1]; ++y)
        for (std::int64_t x = 0; x < g.size[0]; ++x, ++value) {
          const auto at = g.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
          if (square_distance(at, spheres[s].centre_mm) > reach) continue;
          const double light = static_cast<double>(*value) - background;
          mass += light;
          for (std::size_t a = 0; a < 3; ++a) sum[a] += light * at[a];
        }
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(sum[a] / mass, spheres[s].centre_mm[a], 0.1) << "sphere " << s << ", axis " << a;
  }
}

}  // namespace voxshard
