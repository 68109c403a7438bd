// COCO's JSON: annotations of instances (images, annotations, categories) and results of detectors.
//
//   DetectionDataset truth = read_coco("annotations/instances_val2017.json");
//   CocoResults found = read_coco_results("detections.json", truth);
//   average_precision(true_boxes(truth), found.boxes, ...);
//
// Format: cocodataset.org/#format-data and #format-results. As in pycocotools, a field "ignore" has no effect.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"
#include "io/output/output_file.h"

namespace voxshard {

/// Reads the boxes as they are written; `file` is the image's "file_name". A missing image size is 0, a missing
/// area that of the box. Errors: kInput for a file that is missing, not JSON, or without the lists "images" and
/// "categories". An entry that cannot be used becomes a note.   Cost: the file as text and as values in memory, without
/// its segmentations.
DetectionDataset read_coco(const std::filesystem::path& path);

struct CocoResults {
  std::vector<ScoredBox> boxes;  // in the order of the file; indices into the images and classes of the annotations
  std::vector<EntryNote> notes;  // entries left out
};

/// [{"image_id", "category_id", "bbox": [x, y, width, height], "score"}, ...]. Where entries also have "category_name"
/// or "file_name", these say which class and image it is of, and the ids only where a name is there more than once, or
/// where none of the names is one of the annotations'. Errors: kInput as read_coco, and for a file that is no list.
CocoResults read_coco_results(const std::filesystem::path& path, const DetectionDataset& truth);

/// One entry of such a list: the box to a hundredth of a pixel, the score to six digits, the class by id and name.
nlohmann::ordered_json coco_result(const ScoredBox& box, std::int64_t image_id, const DetectionClass& of);

/// Describes files of such a list, for require_output_file.
OutputKind coco_results_file();

/// Writes annotations, whole or not at all; boxes and areas to a hundredth of a pixel. Errors: kOutput.
void write_coco(const std::filesystem::path& path, const DetectionDataset& dataset);

/// The COCO format. Its files in a folder, or in the subfolder "annotations", are annotations.json,
/// _annotations.coco.json, instances*.json and coco*.json.
BoxFormat coco_format();

}  // namespace voxshard
