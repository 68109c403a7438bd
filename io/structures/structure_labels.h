// Label maps from files of named structures, on the voxel grid of the image that they belong to.
//
//   const Geometry image = read_volume_info("study/ct").geometry;
//   const StructureLabels made = read_structures_on("RS.dcm", image, {{4, 1}, {7, 2}});   // structure 4 is class 1
//   made.volume                // i32, classes; 0: none of them
//   made.notes                 // "W_OVERLAP 12 voxels ...", to be said
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/volume/dicom.h"

namespace voxshard {

struct StructureOptions {
  ImageReference image = {};  // of the image; what is empty is not compared with the file
  VolumeLimits limits = {};   // of a segmentation's own grid; least_fraction is that of its voxels
};

struct StructureLabels {
  Volume volume;                   // i32 on the image's grid
  std::vector<std::string> notes;  // each begins with its code: W_OVERLAP, W_OUTSIDE, W_FRACTION ...
};

/// Returns the class of each voxel of an image. A voxel that several classes claim takes the highest class; such voxels
/// are counted in a note.
///   image               the image's geometry; the whole result lies on it
///   class_of_structure  by number of the structure, classes from 1; structures that are not in it are left out
///
/// The voxels of a segmentation are looked up at the centre of each image voxel, nearest neighbour; its axes must be
/// parallel to those of the image, in any order and direction. Closed planar contours are filled by the even-odd rule
/// on the slices of the image (contour_fill.h).
/// Errors: kInput as read_structure_file and read_label; E_GEOMETRY for a segmentation that is turned against the image
/// or shares no place with it; E_FRAME for structures in another frame of reference than the image, unless the file
/// names the image's series; E_OBLIQUE for contours that do not lie in planes of the image's voxels; E_LIMIT for more
/// contours or points than are read.
StructureLabels read_structures_on(const std::filesystem::path& path, const Geometry& image,
                                   const std::map<int, int>& class_of_structure, const StructureOptions& options = {});

/// Returns the grid of an image, on which structures are drawn, from its header. Errors: kInput as read_image gives
/// them for a header.
Geometry grid_of_image(const std::filesystem::path& image, const VolumeFormats& formats = volume_formats());

}  // namespace voxshard
