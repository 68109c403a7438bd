// Shear, repair and comparison of the axes in volume headers.
//
//   shear_of({{{1, 0.00524, 0}, {0, 1, 0}, {0, 0, 1}}})   // 0.3 degrees
#include "io/volume/axes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

double column_dot(const Matrix33& m, int a, int b) { return m[0][a] * m[0][b] + m[1][a] * m[1][b] + m[2][a] * m[2][b]; }

/// The transpose of the inverse; requires a determinant that is not 0.
Matrix33 inverse_transposed(const Matrix33& m) {
  Matrix33 cofactor{};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      cofactor[r][c] = m[(r + 1) % 3][(c + 1) % 3] * m[(r + 2) % 3][(c + 2) % 3] -
                       m[(r + 1) % 3][(c + 2) % 3] * m[(r + 2) % 3][(c + 1) % 3];
  const double det = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
  for (auto& row : cofactor)
    for (double& v : row) v /= det;
  return cofactor;
}

}  // namespace

double column_norm(const Matrix34& m, int c) { return std::hypot(m[0][c], m[1][c], m[2][c]); }

bool has_usable_steps(const Matrix34& m) {
  for (const auto& row : m)
    for (double v : row)
      if (!std::isfinite(v)) return false;
  for (int c = 0; c < 3; ++c)
    if (!(column_norm(m, c) > 1e-9)) return false;
  return true;
}

Matrix33 unit_columns(const Matrix34& m) {
  Matrix33 u{};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) u[r][c] = m[r][c] / column_norm(m, c);
  return u;
}

double shear_of(const Matrix33& m) {
  double worst = 0;
  for (auto [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) worst = std::max(worst, std::abs(column_dot(m, a, b)));
  return std::asin(std::min(1.0, worst)) * 180 / std::numbers::pi;
}

bool spans_space(const Matrix33& m) {
  const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                        m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                        m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  return std::abs(volume) >= 0.25;
}

bool is_orthogonal(const Matrix33& m) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double dot = m[i][0] * m[j][0] + m[i][1] * m[j][1] + m[i][2] * m[j][2];
      if (std::abs(dot - (i == j)) > 1e-4) return false;
    }
  return true;
}

Matrix33 nearest_rotation(Matrix33 q) {
  for (int step = 0; step < 30; ++step) {
    const Matrix33 other = inverse_transposed(q);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) q[r][c] = (q[r][c] + other[r][c]) / 2;
  }
  return q;
}

double corner_gap(const Matrix34& a, const Matrix34& b, const std::array<std::int64_t, 3>& size) {
  double worst = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double square = 0;
    for (int r = 0; r < 3; ++r) {
      double gap = a[r][3] - b[r][3];
      for (int c = 0; c < 3; ++c)
        if ((corner >> c) & 1) gap += (a[r][c] - b[r][c]) * static_cast<double>(size[c] - 1);
      square += gap * gap;
    }
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

Matrix34 matrix_of(const Geometry& g) {
  Matrix34 m{};
  for (int r = 0; r < 3; ++r) {
    for (int a = 0; a < 3; ++a) m[r][a] = g.direction[3 * r + a] * g.spacing[a];
    m[r][3] = g.origin[r];
  }
  return m;
}

AxesPlacement orthogonal_geometry(const Matrix34& m, const std::array<std::int64_t, 3>& size) {
  constexpr double kMostMm = 1e12;
  AxesPlacement p;
  Geometry& g = p.geometry;
  g.size = size;
  bool within = has_usable_steps(m);
  for (const auto& row : m)
    for (double v : row) within = within && std::abs(v) <= kMostMm;
  if (!within) {
    p.problem = "has axes with zeros or numbers that are not finite or beyond 1e12; export it again";
    return p;
  }
  Matrix33 axes = unit_columns(m);
  p.shear_degrees = shear_of(axes);
  const auto place_axes = [&] {
    for (int a = 0; a < 3; ++a) {
      g.spacing[a] = column_norm(m, a);
      g.origin[a] = m[a][3] + 0.0;  // -0 becomes 0
      for (int r = 0; r < 3; ++r) g.direction[3 * r + a] = axes[r][a] + 0.0;
    }
  };
  const Matrix33 given = axes;
  const bool usable = p.shear_degrees < kShearLimitDegrees || spans_space(axes);
  if (usable) axes = nearest_rotation(axes);
  place_axes();
  p.shear_shift_mm = corner_gap(m, matrix_of(g), size);
  if (p.shear_degrees < kShearLimitDegrees) return p;
  p.sheared = usable;
  p.problem = "has " + shear_problem("axes", p.shear_degrees, usable ? std::optional(p.shear_shift_mm) : std::nullopt);
  axes = given;
  place_axes();
  return p;
}

std::string shear_problem(const std::string& axes, double shear_degrees, std::optional<double> shear_shift_mm) {
  const std::string text = "sheared " + axes + " (" + fixed_text(shear_degrees, 3) + " degrees, at most " +
                           fixed_text(kShearLimitDegrees, 1) + " can be repaired";
  if (!shear_shift_mm) return text + "); set them again";
  return text + "; made orthogonal, they would move a corner by " + fixed_text(*shear_shift_mm, 1) +
         " mm); resample it on an upright grid, or ask for {irregular-slices} resample";
}

std::string shear_warning(double shear_degrees, double shear_shift_mm) {
  if (!(shear_shift_mm > 0.1)) return "";
  return "W_FORMS its axes are sheared by " + fixed_text(shear_degrees, 2) +
         " degrees; made orthogonal, they move a corner by " + fixed_text(shear_shift_mm, 1) + " mm";
}

}  // namespace voxshard
