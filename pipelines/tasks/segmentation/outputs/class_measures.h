// Volume, mean and standard deviation of the image, and the largest diameter of each class of a label map.
//
//   const std::vector<ClassMeasures> all = measure_classes(labels, image, {"background", "liver"});
//   all[1].volume_ml        // 1453.2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"

namespace voxshard {

struct ClassMeasures {
  std::int64_t voxels = 0;
  double volume_ml = 0;
  // Of a class without a voxel there are none.
  std::optional<double> mean = {}, deviation = {};  // in the image's unit; the deviation is divided by the number of
                                                    // voxels, as of a whole population
  std::optional<double> diameter_mm = {};           // as diameter_mm() has it, in the slice where it is largest
};

/// Measures classes; [0], the background, is left at its defaults.
///   labels  (D, H, W) i32
///   image   f32 on the same grid
/// Sums run in f64 in the order of the voxels: the same volumes give the same bits. Cost: two passes over the voxels;
/// 16 bytes for each class and row of a slice.
std::vector<ClassMeasures> measure_classes(const Volume& labels, const Volume& image,
                                           const std::vector<std::string>& classes);

/// The pixels of a class in one row of a slice, from the first to the last.
struct RowSpan {
  std::int64_t row = 0, first = 0, last = 0;
};

/// Returns the largest distance (mm) between two points of the outline of a class within one slice, a plane of the
/// first two axes of the volume (x and y): the outline runs along the edges of pixels, so that a single pixel has its
/// diagonal. Of a CT in axial slices that is the largest axial diameter, as radiologists measure it.
///   spans  by row, rising
///   width, height  of a pixel, mm
/// Cost: linear in the spans, and the square of the corners of their convex hull, which are few: a hull of whole
/// numbers up to N has about N^(2/3).
double diameter_mm(const std::vector<RowSpan>& spans, double width, double height);

}  // namespace voxshard
