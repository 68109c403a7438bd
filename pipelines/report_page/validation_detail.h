// What a validation found beside its scores, from last_validation.json and best_validation.json of a run folder: for
// detection precision over recall, the confusion of classes and drawn images, for classifiers the confusion. The files
// are checked number by number, so that a page is never made of something else.
//
//   run.last_detail = read_detail("run/last_validation.json", run.last());
//   fact(run.last_detail, "/kind");      // "detection"
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace voxshard {

struct ValidationData;

/// The files of a run folder.
inline constexpr const char *kLastDetailFile = "last_validation.json", *kBestDetailFile = "best_validation.json";

/// The most classes whose curves and confusion a page shows, and boxes of an image.
inline constexpr std::size_t kMostShownClasses = 100, kMostShownBoxes = 100;

/// True for text that is base 64.
bool is_base64(const nlohmann::ordered_json& text);

/// Returns the parts of a file that a page shows, under the names that they have there (detection_detail.h,
/// class_detail.h); null when there is no such file, when it is of another form, or of another validation than `of`,
/// which may be null. Errors: kInput for a file that cannot be parsed.
nlohmann::ordered_json read_detail(const std::filesystem::path& file, const ValidationData* of);

/// Returns the names of the classes of a detail, and one more for objects of no class where its confusion has that.
std::vector<std::string> classes_of_detail(const nlohmann::ordered_json& detail);

}  // namespace voxshard
