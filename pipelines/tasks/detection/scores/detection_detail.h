// What a validation of a detector found beside its score, as the run stores it for its page: precision over recall, the
// operating point with the highest F1, the confusion of classes at it, the worst and the best images, and some of them
// drawn.
//
//   validation.detail = detection_detail({.dataset = dataset, .classes = names, .truth = truth, .found = found, ...});
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "libcore/metrics/average_precision.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/scores/drawn_image.h"

namespace voxshard {

struct DetectionFindings {
  const DetectionDataset& dataset;
  std::vector<std::string> classes;
  std::span<const TrueBox> truth;
  std::span<const ScoredBox> found;
  const AveragePrecision& scores;         // of the two
  std::span<const double> ap50_by_image;  // of each image alone; NaN where it has no object
  std::vector<DrawnImage> drawn;
};

/// Returns AP50 of one image alone, over the classes that it has objects of; NaN where it has none.
///   truth, found  of this image, with image = 0
double ap50_of_image(std::span<const TrueBox> truth, std::span<const ScoredBox> found, std::int64_t classes);

/// Returns {"kind": "detection", "items", "curves", "operating_point", "classes", "confusion", "mistakes", "worst",
/// "best", "images"}.
///   curves           {"recall": [101], "all": [101], "by_class": [[101], ...]}: precision at an IoU of 0.5,
///   interpolated
///                    as COCO does; `all` is the mean of the classes, whose mean is AP50; null for a class without
///                    objects; of the first 100 classes
///   operating_point  {"score", "recall", "precision", "f1", "found", "wrong", "missed"}; null where nothing is found
///   worst, best      up to 5 images each: {"item", "ap50", "objects", "found", "wrong"}; at the operating point
///   images           of each drawn one {"item", "width", "height", "ap50", "jpeg", "reference": [{"class", "box"}],
///                    "prediction": [{"class", "box", "score"}]}: boxes as COCO has them, in pixels of the whole image;
///                    predictions at the operating point, without one the best five; at most 100 of each
/// What is not a number is null.
nlohmann::ordered_json detection_detail(const DetectionFindings& findings);

}  // namespace voxshard
