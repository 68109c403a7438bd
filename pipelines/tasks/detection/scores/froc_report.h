// FROC in the outputs of `evaluate`: JSON, text for people, and the curves as CSV.
//
//   json["froc"] = froc_json(report.froc, classes);
//   curves << froc_csv(froc, classes);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "libcore/metrics/froc.h"

namespace voxshard {

/// The first line of the CSV.
inline constexpr const char* kFrocCsvHead = "class,score,false_positives_per_image,sensitivity";

///   classes  their names, by category
nlohmann::ordered_json froc_json(const Froc& froc, const std::vector<std::string>& classes);
std::string froc_text(const Froc& froc, const std::vector<std::string>& classes);
/// A row for each operating point, first those of all classes together, with an empty name, then class by class.
std::string froc_csv(const Froc& froc, const std::vector<std::string>& classes);

}  // namespace voxshard
