// The building blocks of the phantoms: seeded draws, smooth solids with a signed distance, and smooth random fields.
// Coordinates are millimetres in LPS: x to the patient's left, y to the back, z to the head.
//
//   Draw draw({.seed = 7, .stream = rng_stream("phantom/0")});
//   Solid liver{.centre = {-38, 4, -32}, .semi_mm = {42, 44, 46}, .power = 2.4};
//   bool inside = distance_mm(liver, {-38, 4, -30}) < 0;
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "libcore/base/rng.h"

namespace voxshard {

using Vec3 = std::array<double, 3>;

/// A sequence of random numbers from one key; the n-th number does not depend on other sequences.
class Draw {
 public:
  explicit Draw(RngKey key) : key_(key) {}
  double between(double low, double high) { return low + (high - low) * rng_uniform(key_, next_++); }
  /// Returns `value` times a random factor in [1 - part, 1 + part].
  double near(double value, double part) { return value * between(1 - part, 1 + part); }
  Vec3 within(double radius_mm) {
    const double x = between(-radius_mm, radius_mm), y = between(-radius_mm, radius_mm);
    return {x, y, between(-radius_mm, radius_mm)};
  }

 private:
  RngKey key_;
  std::uint64_t next_ = 0;
};

/// A semi-axis of this length makes the solid a cylinder along this axis.
inline constexpr double kEndless = 1e9;

/// A superellipsoid: |x/a|^p + |y/b|^p + |z/c|^p <= 1; p = 2 is an ellipsoid, larger is boxier.
struct Solid {
  Vec3 centre{};
  Vec3 semi_mm{1, 1, 1};
  double power = 2;
};

/// Returns the approximate distance to the surface along the ray from the centre, negative inside.
inline double distance_mm(const Solid& solid, const Vec3& p) {
  double sum = 0, square = 0;
  for (int a = 0; a < 3; ++a) {
    if (solid.semi_mm[a] >= kEndless / 2) continue;
    const double d = p[a] - solid.centre[a];
    square += d * d;
    const double ratio = std::abs(d) / solid.semi_mm[a];
    sum += solid.power == 2 ? ratio * ratio : std::pow(ratio, solid.power);
  }
  const double level = solid.power == 2 ? std::sqrt(sum) : std::pow(sum, 1 / solid.power);
  if (level < 1e-9) return -std::min({solid.semi_mm[0], solid.semi_mm[1], solid.semi_mm[2]});
  return std::sqrt(square) * (1 - 1 / level);
}

/// True beyond twice a semi-axis, where the distance to the surface is at least the shortest one. Costs no power.
inline bool is_far(const Solid& solid, const Vec3& p) {
  for (int a = 0; a < 3; ++a)
    if (std::abs(p[a] - solid.centre[a]) >= 2 * solid.semi_mm[a]) return true;
  return false;
}

/// A smooth random field: a sum of plane waves with about unit variance.
class Waves {
 public:
  Waves(Draw& draw, int count, double shortest_mm, double longest_mm) : gain_(std::sqrt(2.0 / count)) {
    for (int i = 0; i < count; ++i) {
      const double k = 2 * std::numbers::pi / draw.between(shortest_mm, longest_mm);
      const double z = draw.between(-1, 1), angle = draw.between(0, 2 * std::numbers::pi);
      const double r = std::sqrt(1 - z * z);
      waves_.push_back(
          {k * r * std::cos(angle), k * r * std::sin(angle), k * z, draw.between(0, 2 * std::numbers::pi)});
    }
  }
  double at(const Vec3& p) const {
    double sum = 0;
    for (const auto& w : waves_) sum += std::sin(w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + w[3]);
    return gain_ * sum;
  }

 private:
  double gain_;
  std::vector<std::array<double, 4>> waves_;  // wave vector (rad per mm) and phase
};

}  // namespace voxshard
