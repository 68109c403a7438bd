// The JSON of annotations as it is found in the wild, and its fields with their types checked. NaN and Infinity, which
// Python writes and JSON does not know, and numbers beyond a double become null, so that only their entry is left out.
//
//   nlohmann::json file = read_coco_json("instances_val2017.json");
//   std::int64_t id = whole_number(file["images"][0], "id");      // or an EntryProblem: has no "id"
//
// Called by io/boxes/coco.cc.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// Reads all but segmentations, which fill most of such files and are not used. Errors: kInput with the file:
/// unreadable, not JSON, nested deeper than 32.
nlohmann::json read_coco_json(const std::filesystem::path& path);

/// Replaces NaN, Infinity, -Infinity and numbers beyond a double by null in a JSON text; strings stay.
void null_not_finite(std::string& text);

/// Return a field of an entry, which must be an object. Numbers are finite and at most 1e9 in size; whole numbers may
/// be written as 3.0 and are at most 2^53. Errors: EntryProblem naming the field and what was found.
std::int64_t whole_number(const nlohmann::json& entry, const char* field);
double real_number(const nlohmann::json& entry, const char* field);
std::string text_field(const nlohmann::json& entry, const char* field);
/// A list of four numbers.
std::array<double, 4> four_numbers(const nlohmann::json& entry, const char* field);
/// 0, 1, false or true; false when absent.
bool flag(const nlohmann::json& entry, const char* field);
/// Returns true when an entry is an object in which this field is present and not null.
bool has(const nlohmann::json& entry, const char* field);

}  // namespace voxshard
