// The report of `voxshard info` about data sets of images with boxes.
//
//   DetectionSetInfo info = read_detection_info("annotations/instances_train.json");
//   info.classes[0].boxes;                       // the number of boxes of the first class
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct DetectionClassInfo {
  std::string name;
  std::int64_t id = 0;
  std::int64_t boxes = 0;  // including crowds and objects to be ignored
};

struct DetectionSetInfo {
  std::filesystem::path path;  // of the annotations
  std::int64_t images = 0;     // usable images
  std::vector<DetectionClassInfo> classes;
  std::int64_t boxes = 0, crowds = 0, ignored = 0;
  std::array<std::int64_t, 2> smallest{}, largest{};  // least and greatest width and height of all images, pixels
  std::int64_t mended = 0;                            // entries that were kept with a change, such as clipped boxes
  std::vector<std::string> mendings = {};             // a sentence for each code of these
  std::vector<CaseFailure> failures;                  // entries that were left out
};

/// Reads a data set with the checks and errors of read_detection_dataset.
DetectionSetInfo read_detection_info(const std::filesystem::path& annotations,
                                     const BoxFormats& formats = box_formats());

nlohmann::ordered_json to_json(const DetectionSetInfo& info);
std::string to_text(const DetectionSetInfo& info);

}  // namespace voxshard
