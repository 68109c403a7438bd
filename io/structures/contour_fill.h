// Fills closed planar contours on the voxels of an image by the even-odd rule.
//
//   ContourFill fill(image, contours, path);
//   fill.paint(0, [&](std::int64_t voxel) { labels[voxel] = 1; });      // the voxels of structure 0
//
// A voxel belongs to a structure when its centre lies within an odd number of the structure's contours on its slice:
// holes are holes, drawn as a ring of two contours or as one keyhole contour. A centre on a contour belongs when the
// inside lies towards larger voxel indices (x before y), so that structures that share a border share no voxel.
// Called by structure_labels.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "io/dicom/structure_contours.h"
#include "io/volume/geometry.h"

namespace voxshard {

/// The contours of a structure that did not become voxels as they are, and slices without contours.
struct ContourCounts {
  std::int64_t outside = 0;  // contours that lie wholly or partly outside of the image
  std::int64_t doubled = 0;  // contours that repeat another one point by point; they count once
  std::int64_t between = 0;  // planes between slices for which another plane lies nearer
  std::int64_t gaps = 0;     // slices without a contour between the first and the last slice of the structure
};

class ContourFill {
 public:
  /// Brings contours into the image's voxel indices.
  ///   names  of the structures, for messages
  /// Errors: kInput E_OBLIQUE for a contour that lies in no plane of the image's voxels, which is named.
  ContourFill(const Geometry& image, std::vector<StructureContours> structures, const std::vector<std::string>& names,
              const std::filesystem::path& path);

  std::size_t structures() const { return structures_.size(); }
  int number(std::size_t structure) const { return structures_[structure].number; }

  /// Calls take(voxel) once with the index of each voxel of a structure in a tensor (D, H, W). Each slice takes the
  /// contours of the plane that lies nearest to it, up to half a slice step away; a plane halfway between two slices
  /// belongs to the one of larger index.
  /// Errors: kInput E_LIMIT where contours of all structures together cover more than kMostContourVoxels.
  ContourCounts paint(std::size_t structure, const std::function<void(std::int64_t voxel)>& take);

 private:
  struct Plane {
    double at = 0;  // index along the slices
    std::vector<const Contour*> contours;
  };
  struct Window {  // of a slice: the voxels within the bounds of its contours
    std::int64_t first_column = 0, columns = 0, first_row = 0, rows = 0;
  };
  void to_indices();
  void choose_axes();
  void require_flat(const std::vector<std::string>& names) const;
  double spread_mm(const Contour& contour, std::size_t axis) const;
  bool is_within(const Contour& contour) const;
  std::int64_t slice_of(const Plane& plane) const;
  std::vector<Plane> planes_of(const std::vector<Contour>& contours, ContourCounts& counts) const;
  std::vector<Plane> nearest_planes(std::vector<Plane> planes, ContourCounts& counts) const;
  void spend(std::int64_t work);
  void toggle(const Contour& contour, const Window& window);
  void paint_slice(const Plane& plane, const std::function<void(std::int64_t voxel)>& take);

  Geometry image_;
  std::vector<StructureContours> structures_;  // in voxel indices: columns, rows and slices as axes_ says
  std::filesystem::path path_;
  std::array<std::size_t, 3> axes_{0, 1, 2};  // the image's index axes that are columns, rows and slices of the planes
  std::vector<std::uint8_t> parity_;          // of a slice
  std::int64_t work_ = 0;                     // voxels and edges looked at
};

/// The most voxels within the bounds of contours, over all structures and slices.
inline constexpr std::int64_t kMostContourVoxels = std::int64_t{1} << 33;

}  // namespace voxshard
