// Shapes of anchors that are fitted to the boxes of a data set, as text for settings and checkpoints.
//
//   std::vector<Aspect> shapes = fitted_shapes(sizes, {});       // 9 of height and width in cells, smallest first
//   mean_best_iou(sizes, {}), mean_best_iou(sizes, {.shapes = shapes});       // 0.81 and 0.95, for the log
//   shapes_from_text(shapes_text(shapes), 9) == shapes           // "4.18x5.4,4.7x6.92,..."
//
// The heads are shared by all levels, so the shapes are too: an anchor of level L is 2^L times its shape.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/detection/anchors.h"

namespace voxshard {

/// Returns the mean over the boxes of the largest IoU that an anchor around the same centre has with it; 0 for none.
///   sizes  heights and widths in pixels, positive
double mean_best_iou(std::span<const Aspect> sizes, const AnchorOptions& anchors);

/// Returns as many shapes as `like` has, in its levels, that are chosen for a large mean_best_iou() of the boxes and of
/// boxes with sides up to a quarter longer or shorter: objects that are not in the data set vary more than its own.
/// They are rounded to hundredths of a cell, and depend on the sizes alone, not on their order. The shapes of `like`
/// where nothing is better, or there are no boxes.
///   Cost: up to a second; more than 500 boxes are represented by 500 that are evenly spread over their areas.
/// Source: k-means under 1 - IoU, as Redmon and Farhadi 2017 (YOLO9000, section 2) choose theirs, begun greedily.
std::vector<Aspect> fitted_shapes(std::span<const Aspect> sizes, const AnchorOptions& like);

/// "4x4,5.66x2.83": height x width, in cells.
std::string shapes_text(std::span<const Aspect> shapes);
/// Reads shapes_text(). Errors: kConfig unless it is `count` shapes with sides of 1/100 to 1000 cells.
std::vector<Aspect> shapes_from_text(std::string_view text, std::int64_t count);

}  // namespace voxshard
