// Chooses which of a header's two transforms gives the geometry. NIfTI's world is RAS, ours LPS, so the first two rows
// change sign. A shear below kShearLimitDegrees (axes.h) is repaired.
//
//   place(read_nifti_header("ct.nii.gz")).form_used   // "sform"
#include <cmath>

#include "io/volume/nifti_header.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

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

/// Spacing, origin and direction in LPS millimetres. `rotation` is orthogonal.
void apply(Geometry& g, const NiftiHeader& h, const Matrix34& m, const Matrix33& rotation) {
  for (int a = 0; a < 3; ++a) {
    const double norm = column_norm(m, a), pixdim = std::abs(h.pixdim[a + 1]);
    // pixdim and the matrix agree but for rounding, which pixdim has less of; the matrix decides where they do not.
    g.spacing[a] = (std::abs(pixdim - norm) <= 1e-5 * norm ? pixdim : norm) * h.unit_mm;
    g.origin[a] = (a < 2 ? -1 : 1) * m[a][3] * h.unit_mm;
    for (int r = 0; r < 3; ++r) g.direction[3 * r + a] = (r < 2 ? -1 : 1) * rotation[r][a];
  }
  for (double& v : g.direction) v += 0.0;  // -0 becomes 0
  for (double& v : g.origin) v += 0.0;
}

/// Returns how far the corners of the sform lie from those of the geometry that it became, in millimetres.
double repair_shift(const NiftiHeader& h, const Geometry& g) {
  Matrix34 lps = h.sform;
  for (int r = 0; r < 3; ++r)
    for (double& v : lps[r]) v *= (r < 2 ? -1 : 1) * h.unit_mm;
  return corner_gap(lps, matrix_of(g), g.size);
}

}  // namespace

NiftiPlacement place(const NiftiHeader& h) {
  NiftiPlacement p;
  Geometry& g = p.geometry;
  for (std::size_t a = 0; a < 3; ++a) g.size[a] = a < h.dimensions.size() ? h.dimensions[a] : 1;
  const Matrix34 q = qform_of(h);
  const bool has_q = h.qform_code > 0 && has_usable_steps(q), has_s = h.sform_code > 0 && has_usable_steps(h.sform);
  if (has_q && has_s) p.forms_gap_mm = corner_gap(q, h.sform, g.size) * h.unit_mm;
  if (has_s) {
    const Matrix33 axes = unit_columns(h.sform);
    const double shear = shear_of(axes);
    if (is_orthogonal(axes) && (!has_q || h.sform_code == 1 || p.forms_gap_mm <= 0.1)) {
      p.form_used = "sform", p.shear_degrees = shear;
      apply(g, h, h.sform, nearest_rotation(axes));  // exact, so that writing keeps it
      p.shear_shift_mm = repair_shift(h, g);
      return p;
    }
    if (!has_q) {
      p.form_used = "sform (nearest rotation)", p.shear_degrees = shear;
      const bool usable = shear < kShearLimitDegrees || spans_space(axes);
      apply(g, h, h.sform, usable ? nearest_rotation(axes) : axes);
      if (usable) p.shear_shift_mm = repair_shift(h, g);
      if (shear >= kShearLimitDegrees) {
        apply(g, h, h.sform, axes);
        p.sheared = usable;
        p.problem = "has no qform and a " +
                    shear_problem("sform", shear, usable ? std::optional(p.shear_shift_mm) : std::nullopt);
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
