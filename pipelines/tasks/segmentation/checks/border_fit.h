// How well the borders of a label map lie on edges of its image. The mean step of intensity across the faces between
// voxels of different labels is taken where the label map lies, and where it would lie shifted by one to four voxels
// along each axis. A right label map has the largest step in place; one that lies three voxels beside its image has it
// three voxels back; one of another patient has it nowhere.
//
//   const auto fit = border_fit(ct, organs);
//   fit->contrast;      // 1.9: in place the step is 1.9 times that of labels that lie three or four voxels off
//   fit->shift;         // {0, 0, 0}: no shift fits better
//   *fit->peak[2];      // 0.04 voxels along z
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "io/volume/volume.h"

namespace voxshard {

/// The intensities are clipped to this window of HU before steps are taken: soft tissue to bone, so that neither metal
/// nor air outweighs all other borders.
inline constexpr float kBorderLowHu = -200, kBorderHighHu = 500;
inline constexpr int kMostShiftVoxels = 4;

struct BorderFit {
  double contrast = 0;         // steps in place / mean steps over the shifts by 3 and 4 voxels
  double best_contrast = 0;    // the same at the shift where they are largest
  std::array<int, 3> shift{};  // that shift of the labels in voxels along x, y, z; zeros: in place
  // the shift along each axis alone, in parts of a voxel: the vertex of the parabola through the largest steps and
  // their two neighbours; none where the largest are at the end of the range, or too few faces stay inside of the image
  std::array<std::optional<double>, 3> peak{};
  std::int64_t faces = 0;  // between voxels of different labels, 4 voxels or more inside of the image
};

/// Returns the fit of a label map to an image of the same size. None when fewer than 100 border faces stay inside of
/// the image at all shifts along an axis, or the image is flat there.
///   image  f32 HU; label  i32
/// Cost: one pass over the voxels, 25 differences for each border face; no memory.
std::optional<BorderFit> border_fit(const Volume& image, const Volume& label);

}  // namespace voxshard
