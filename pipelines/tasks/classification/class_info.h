// The report of `voxshard info` about data sets with classes.
//
//   ClassSetInfo info = read_class_info("cells", {});
//   info.parts[0].counts;                        // the number of items of each class in the first part
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

struct ClassPartInfo {
  std::string name;  // "train", "val", "test" or "all"
  std::string kind;  // the name of its ClassKind
  std::filesystem::path path;
  std::vector<std::string> classes;
  std::vector<std::int64_t> counts;  // by class
  std::int64_t items = 0, colour = 0;
  Dims smallest, largest;   // of all items, axis by axis
  std::int64_t videos = 0;  // number of videos that give the clips
  double seconds = 0;       // of all these videos
};

struct ClassSetInfo {
  std::filesystem::path path;
  ItemKind items = ItemKind::kImage;
  std::vector<ClassPartInfo> parts;
  std::vector<CaseFailure> failures;
};

/// Reads all parts of a data set; videos are counted as clips of the default length and stride. Errors: as
/// read_class_part; a part in which nothing can be used is listed as a failure, and an error when no part can be used.
ClassSetInfo read_class_info(const std::filesystem::path& path, const VolumeFormats& formats,
                             const ClassKinds& kinds = class_kinds());

nlohmann::ordered_json to_json(const ClassSetInfo& info);
std::string to_text(const ClassSetInfo& info);

}  // namespace voxshard
