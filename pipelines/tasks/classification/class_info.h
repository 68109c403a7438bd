// What `voxshard info` tells about data sets of classes.
//
//   ClassSetInfo info = read_class_info("cells", {});
//   info.parts[0].counts;                        // how many items of each class are in the first part
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
  std::int64_t videos = 0;  // of clips
  double seconds = 0;       // of them all
};

struct ClassSetInfo {
  std::filesystem::path path;
  ItemKind items = ItemKind::kImage;
  std::vector<ClassPartInfo> parts;
  std::vector<CaseFailure> failures;
};

/// Every part that there is; of videos the clips of the usual length and stride. Errors: as read_class_part; parts in
/// which nothing can be used are failures, unless none can.
ClassSetInfo read_class_info(const std::filesystem::path& path, const VolumeFormats& formats,
                             const ClassKinds& kinds = class_kinds());

nlohmann::ordered_json to_json(const ClassSetInfo& info);
std::string to_text(const ClassSetInfo& info);

}  // namespace voxshard
