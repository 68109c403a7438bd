// Chooses which of a header's two transforms gives the geometry. NIfTI's world is RAS, ours LPS, so the first two rows
// change sign. A matrix counts as orthogonal when its normalised columns satisfy |M M^T - 1| < 1e-4, ITK's limit.
//
//   place(read_nifti_header("ct.nii.gz")).form_used   // "sform"
#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/volume/nifti_header.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kShearLimitDegrees = 0.5;

using Matrix33 = std::array<std::array<double, 3>, 3>;

double column_norm(const Matrix34& m, int c) { return std::hypot(m[0][c], m[1][c], m[2][c]); }

bool usable(const Matrix34& m) {
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

double column_dot(const Matrix33& m, int a, int b) { return m[0][a] * m[0][b] + m[1][a] * m[1][b] + m[2][a] * m[2][b]; }

/// Returns the largest deviation of an angle between two axes from 90 degrees, in degrees.
double shear_of(const Matrix33& m) {
  double worst = 0;
  for (auto [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) worst = std::max(worst, std::abs(column_dot(m, a, b)));
  return std::asin(std::min(1.0, worst)) * 180 / std::numbers::pi;
}

bool is_orthogonal(const Matrix33& m) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double dot = m[i][0] * m[j][0] + m[i][1] * m[j][1] + m[i][2] * m[j][2];
      if (std::abs(dot - (i == j)) > 1e-4) return false;
    }
  return true;
}

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

/// The orthogonal factor of the polar decomposition (Newton's iteration, Higham 1986): the nearest rotation.
Matrix33 nearest_rotation(Matrix33 q) {
  for (int step = 0; step < 30; ++step) {
    const Matrix33 other = inverse_transposed(q);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) q[r][c] = (q[r][c] + other[r][c]) / 2;
  }
  return q;
}

/// nifti_quatern_to_mat44 of nifti1_io.c.
Matrix34 qform_of(const NiftiHeader& h) {
  auto [b, c, d] = h.quaternion;
  double a = 1 - (b * b + c * c + d * d);
  if (a < 1e-7) {
    const double scale = 1 / std::sqrt(b * b + c * c + d * d);
    a = 0, b *= scale, c *= scale, d *= scale;
  } else {
    a = std::sqrt(a);
  }
  const Matrix33 r{{{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                    {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                    {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}}};
  Matrix34 m{};
  for (int row = 0; row < 3; ++row) {
    for (int axis = 0; axis < 3; ++axis) {
      const double step = h.pixdim[axis + 1] > 0 ? h.pixdim[axis + 1] : 1.0;
      m[row][axis] = r[row][axis] * step * (axis == 2 && h.pixdim[0] < 0 ? -1 : 1);
    }
    m[row][3] = h.qoffset[row];
  }
  return m;
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

/// Spacing, origin and direction in LPS millimetres. `rotation` is orthogonal.
void apply(Geometry& g, const NiftiHeader& h, const Matrix34& m, const Matrix33& rotation) {
  for (int a = 0; a < 3; ++a) {
    const double norm = column_norm(m, a), pixdim = std::abs(h.pixdim[a + 1]);
    // pixdim and the matrix normally agree; the matrix decides where they do not.
    g.spacing[a] = (std::abs(pixdim - norm) <= 1e-3 * norm ? pixdim : norm) * h.unit_mm;
    g.origin[a] = (a < 2 ? -1 : 1) * m[a][3] * h.unit_mm;
    for (int r = 0; r < 3; ++r) g.direction[3 * r + a] = (r < 2 ? -1 : 1) * rotation[r][a];
  }
  for (double& v : g.direction) v += 0.0;  // -0 becomes 0
  for (double& v : g.origin) v += 0.0;
}

}  // namespace

NiftiPlacement place(const NiftiHeader& h) {
  NiftiPlacement p;
  Geometry& g = p.geometry;
  for (std::size_t a = 0; a < 3; ++a) g.size[a] = a < h.dimensions.size() ? h.dimensions[a] : 1;
  const Matrix34 q = qform_of(h);
  const bool has_q = h.qform_code > 0 && usable(q), has_s = h.sform_code > 0 && usable(h.sform);
  if (has_q && has_s) p.forms_gap_mm = corner_gap(q, h.sform, g.size) * h.unit_mm;
  if (has_s) {
    const Matrix33 axes = unit_columns(h.sform);
    const double shear = shear_of(axes);
    if (is_orthogonal(axes) && (!has_q || h.sform_code == 1 || p.forms_gap_mm <= 0.1)) {
      p.form_used = "sform", p.shear_degrees = shear;
      apply(g, h, h.sform, nearest_rotation(axes));  // exact, so that writing keeps it
      return p;
    }
    if (!has_q) {
      p.form_used = "sform (nearest rotation)", p.shear_degrees = shear;
      if (shear < kShearLimitDegrees) {
        apply(g, h, h.sform, nearest_rotation(axes));
      } else {
        apply(g, h, h.sform, axes);
        p.problem = "has a sheared sform (" + std::to_string(shear) +
                    " degrees, at most 0.5 can be repaired) and no qform; "
                    "resample it to an orthogonal grid first";
      }
      return p;
    }
  }
  if (has_q) {
    p.form_used = "qform";
    apply(g, h, q, nearest_rotation(unit_columns(q)));
    return p;
  }
  p.form_used = "none (spacing only)";
  for (int a = 0; a < 3; ++a)
    g.spacing[a] =
        (std::isfinite(h.pixdim[a + 1]) && h.pixdim[a + 1] != 0 ? std::abs(h.pixdim[a + 1]) : 1.0) * h.unit_mm;
  if (h.qform_code > 0 || h.sform_code > 0)
    p.problem = "has a transform with zeros or numbers that are not finite; set its sform or qform again";
  return p;
}

std::string unreadable_number(const NiftiHeader& h) {
  constexpr double kMostScale = 1e30;     // times 2^16 it still fits into a float
  constexpr double kMostOffset = 0x1p60;  // bytes
  if (!std::isfinite(h.vox_offset) || h.vox_offset < 0 || h.vox_offset > kMostOffset)
    return "says that its voxels begin at byte " + number_text(h.vox_offset) + "; export it again";
  if (h.is_scaled() && (std::abs(h.slope) > kMostScale || std::abs(h.intercept) > kMostScale))
    return "has the slope " + number_text(h.slope) + " and intercept " + number_text(h.intercept) +
           ", beyond any intensity; set them again";
  const bool needs_pixdim = !place(h).form_used.starts_with("sform");
  for (std::size_t a = 1; a <= 3 && a <= h.dimensions.size(); ++a)
    if (needs_pixdim && h.dimensions[a - 1] > 1 && (!std::isfinite(h.pixdim[a]) || h.pixdim[a] == 0))
      return "has a spacing of " + number_text(h.pixdim[a]) + " along axis " + std::to_string(a) +
             "; set its pixdim again";
  return "";
}

}  // namespace voxshard
