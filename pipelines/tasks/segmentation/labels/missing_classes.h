// Classes without a voxel in a case, where the data set does not say what was annotated: was the class left out by
// those who contoured, or is it truly not there? The records of all prepared cases decide:
//
//   const auto decided = decide_missing(records, {"background", "larynx"}, MissingClasses::kAuto);
//   decided[0].unknown;                     // 5: so many records have an "annotated" now that lacks the larynx
//
// `auto` is careful. Where a class lies is known from the other cases: each end of its box, relative to the end of a
// class that this case has, whichever lies steadiest (by the median absolute deviation). The class is unknown when it
// would be in view, by a quarter of its usual extent along every axis, also if it lay 1.5 deviations to either side;
// otherwise it counts as empty. Classes of no steady place or size, such as tumours, always count as empty. Ends at the
// border of a volume say nothing, since the class may go on beyond it.
//
// On the 40 head and neck CTs of OpenKBP with a fifth of the labels of five organs deleted, 211 of those 216 were
// found; of 396 organs that were cut off with a part of the volume none was called unknown (MissingClassesReal.*).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

enum class MissingClasses { kUnknown, kBackground, kAuto };
inline constexpr const char* kMissingClassesNames[] = {"unknown", "background", "auto"};

struct MissingClass {
  std::string name;
  int cases_with = 0;              // cases with voxels of it
  int unknown = 0, empty = 0;      // cases without any, by what was decided; neither: the data set says what it is
  std::map<std::string, int> why;  // reasons why it counts as empty: cases
};

/// Sets "class_voxels" of a record, the voxels of each class, and "class_boxes", its box as [low D, H, W, high D, H,
/// W], null for the background and for a class without a voxel.
///   labels  (D, H, W) i32 or u8, 0 or more; from `classes` on: ignored
void note_classes(const Tensor& labels, int classes, nlohmann::ordered_json& record);

/// Sets "annotated" in the records of cases in which a class is unknown. Records that have it already are not changed.
///   records  of prepare_case(): "shape", "spacing_mm", "class_voxels", "class_boxes"
///   names    by class; [0] is the background
///   returns  the classes that some case lacks
std::vector<MissingClass> decide_missing(nlohmann::ordered_json& records, const std::vector<std::string>& names,
                                         MissingClasses rule);

/// Returns the row of the option; the rule stays empty unless it is given.
Setting missing_classes_setting(std::optional<MissingClasses>& rule);

nlohmann::ordered_json to_json(const std::vector<MissingClass>& classes);
/// Returns a line for each class: "larynx: 16 cases have it; of those without, 5 count as not annotated, 19 as empty
/// (...)".
std::string to_text(const std::vector<MissingClass>& classes, MissingClasses rule);

}  // namespace voxshard
