// Boxes around objects in an image, in pixels. Edges are continuous coordinates: the box of the pixel in the corner is
// {0, 0, 1, 1}. A box has two forms, each exact where it is used: files and metrics keep a corner and the size, models
// keep the four edges. A conversion may round the last digit, which can matter at a threshold.
//
//   TrueBox cell{.category = 2, .box = {.x = 40, .y = 30, .width = 20, .height = 10}, .area = 200};
//   pixel_box(cell.box).x1      // 60
//
// Used by io/boxes, libcore/metrics, libcore/models and the detectors' pipelines.
#pragma once

#include <cstdint>

namespace voxshard {

/// A box by its edges.
struct PixelBox {
  double y0 = 0, x0 = 0, y1 = 0, x1 = 0;

  double height() const { return y1 - y0; }
  double width() const { return x1 - x0; }
  /// 0 for a box with negative height or width.
  double area() const { return height() > 0 && width() > 0 ? height() * width() : 0; }
  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// A box as COCO writes it: its left and top edge, width and height.
struct CocoBox {
  double x = 0, y = 0, width = 0, height = 0;
  double area() const { return width * height; }
  friend bool operator==(const CocoBox&, const CocoBox&) = default;
};

inline PixelBox pixel_box(const CocoBox& box) { return {box.y, box.x, box.y + box.height, box.x + box.width}; }
inline CocoBox coco_box(const PixelBox& box) { return {box.x0, box.y0, box.width(), box.height()}; }

/// A ground truth object.
struct TrueBox {
  std::int64_t image = 0;     // index of the image, ascending with its id
  std::int64_t category = 0;  // index of the class
  CocoBox box;
  double area = 0;  // px^2 of the object (of its mask when the file has one); decides between small, medium and large
  // many objects in one box: any number of detections may match it, none counts; not used for training
  bool crowd = false;
  bool ignore = false;  // an object to be ignored (VOC's "difficult"): used neither for training nor in scores
};

/// A detected object.
struct ScoredBox {
  std::int64_t image = 0, category = 0;
  CocoBox box;
  double score = 0;  // finite
};

}  // namespace voxshard
