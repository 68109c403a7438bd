// The fingerprint of a prepared data set without its cases, for the folder and the page of a run: ranges of sizes and
// spacings, orientations, classes and the values of the foreground.
//
//   write_fingerprint_summary("work", plan.class_names, "run");       // run/fingerprint.json, from that of work
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// Returns the summary of the fingerprint of a data set (fingerprint.h): "cases", "size" (voxels) and "spacing_mm" (x,
/// y, z) of the files, each with the least, median and most of an axis by itself; "orientations" with the number of
/// cases of each; "classes" with the number of cases that have each and its share of all voxels; the values of the
/// foreground as they stand there.   Errors: nlohmann::json::exception for what is no fingerprint.
nlohmann::ordered_json fingerprint_summary(const nlohmann::json& fingerprint,
                                           const std::vector<std::string>& class_names);

/// Writes the summary into the folder of a run; none where the data set has no fingerprint that can be read.   Errors:
/// kOutput.
void write_fingerprint_summary(const std::filesystem::path& work, const std::vector<std::string>& class_names,
                               const std::filesystem::path& run);

}  // namespace voxshard
