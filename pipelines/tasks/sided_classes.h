// Classes that are the two sides of a body: mirroring a sample from left to right teaches the wrong one of them.
//
//   sided_classes({"background", "kidney_left", "kidney_right"})    // kidney_left, kidney_right
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace voxshard {

/// The first two names that differ in nothing but the words for left and right of one language, or short forms such as
/// l and r, lt and rt as words of their own ("eye_l", "kidneyL"), in any case.
std::optional<std::pair<std::string, std::string>> sided_classes(const std::vector<std::string>& names);

/// W_MIRROR for such classes: what mirroring by `option` does to them; empty without such classes.
std::vector<std::string> mirror_warnings(const std::vector<std::string>& names, const std::string& option);

}  // namespace voxshard
