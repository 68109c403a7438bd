// The axes of a volume as a header stores them, made the orthogonal axes that a Geometry holds. A slight shear, from
// rounding or a tilted gantry, is repaired: each axis is turned to the nearest rotation. Called by all volume formats.
//
//   AxesPlacement p = orthogonal_geometry(lps_mm, {512, 512, 90});
//   p.shear_degrees, p.shear_shift_mm   // 0.3 degrees, which moves the far corner by 1.3 mm
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "io/volume/geometry.h"

namespace voxshard {

using Matrix33 = std::array<std::array<double, 3>, 3>;
using Matrix34 = std::array<std::array<double, 4>, 3>;  // columns: the steps of index x, y, z, and the first voxel

/// A shear of less than this many degrees is repaired; a volume with more is refused.
inline constexpr double kShearLimitDegrees = 0.5;

double column_norm(const Matrix34& m, int c);
/// Returns true when all numbers are finite and no step is shorter than 1e-9.
bool has_usable_steps(const Matrix34& m);
Matrix33 unit_columns(const Matrix34& m);
/// Returns the largest deviation of an angle between two axes from 90 degrees, in degrees.
double shear_of(const Matrix33& unit_axes);
/// Returns true for axes that are far enough from one plane for a volume to be resampled: their parallelepiped holds at
/// least a quarter of a cube.
bool spans_space(const Matrix33& unit_axes);
/// Returns true when |M M^T - 1| < 1e-4 in every element, ITK's limit.
bool is_orthogonal(const Matrix33& unit_axes);
/// Returns the orthogonal factor of the polar decomposition (Newton's iteration, Higham 1986).
/// Requires a determinant that is not 0.
Matrix33 nearest_rotation(Matrix33 unit_axes);
/// Returns the largest distance between the corners of a volume placed by `a` and by `b`.
double corner_gap(const Matrix34& a, const Matrix34& b, const std::array<std::int64_t, 3>& size);
/// Returns origin, direction and spacing of a geometry as a matrix, in LPS millimetres.
Matrix34 matrix_of(const Geometry& geometry);

struct AxesPlacement {
  Geometry geometry;
  double shear_degrees = 0;   // of the given axes
  double shear_shift_mm = 0;  // how far the corner that moves most lies from its place in the header
  std::string problem;        // reason why the axes cannot be used; else empty
  bool sheared = false;       // the problem is a shear that resampling mends; the geometry holds the axes as they are
};

/// Returns the geometry of a matrix in LPS millimetres. Sheared axes beyond kShearLimitDegrees, and numbers that are
/// not finite or beyond 1e12, are a `problem`.
AxesPlacement orthogonal_geometry(const Matrix34& lps_mm, const std::array<std::int64_t, 3>& size);

/// Returns "sheared axes (1.146 degrees, at most 0.5 can be repaired; made orthogonal, they would move a corner by 3.2
/// mm); ...", for a volume that is refused.
///   shear_shift_mm  none: the axes lie so near to one plane that resampling would not help
std::string shear_problem(const std::string& axes, double shear_degrees, std::optional<double> shear_shift_mm);

/// Returns the warning about a repair that moves a corner by more than 0.1 mm; empty for less.
std::string shear_warning(double shear_degrees, double shear_shift_mm);

}  // namespace voxshard
