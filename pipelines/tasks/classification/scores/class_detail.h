// What a validation of a classifier found beside its accuracy, as the run stores it for its page: the confusion of
// classes, and the items that it is furthest from and nearest to.
//
//   validation.detail = class_detail(found, {"red", "white"}, names);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/metrics/classified.h"

namespace voxshard {

/// Returns {"kind": "classification", "items", "accuracy", "classes", "confusion", "mistakes", "worst", "best"}; the
/// parts of confusion_json.h, and of the 5 items with the lowest and the highest probability of their class {"item",
/// "true", "found", "probability"}.
///   names  of the items, in their order
/// Requires at least one item.
nlohmann::ordered_json class_detail(const Classified& found, const std::vector<std::string>& classes,
                                    const std::vector<std::string>& names);

}  // namespace voxshard
