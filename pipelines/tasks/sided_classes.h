// Classes that are the left and right of a body part: a sample that is mirrored left to right teaches the wrong class.
//
//   sided_classes({"background", "kidney_left", "kidney_right"})    // kidney_left, kidney_right
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace voxshard {

/// Returns the first two names that differ only in the words for left and right of one language, or in short forms such
/// as l and r, lt and rt that are separate words ("eye_l", "kidneyL"), in upper or lower case; none when there are no
/// such names.
std::optional<std::pair<std::string, std::string>> sided_classes(const std::vector<std::string>& names);

/// Two classes of a data set that are the left and the right of one body part, by their numbers.
struct SidePair {
  int left = 0, right = 0;
  friend bool operator==(const SidePair&, const SidePair&) = default;
};

/// Returns all pairs of names that sided_classes() finds, each class in one of them at most.
///   names  by class; [0] is the background
std::vector<SidePair> side_pairs(const std::vector<std::string>& names);

/// Returns the first name that says its side in a word for left or right ("kidney_left"; short forms do not count) and
/// has no counterpart among the others; none when there is no such name.
std::optional<std::string> one_sided_class(const std::vector<std::string>& names);

/// Returns a W_MIRROR warning of the effect of mirroring by each of `settings` on two classes that are sides, where
/// there are none on a class of one side; empty without such classes.
std::vector<std::string> mirror_warnings(const std::vector<std::string>& names,
                                         const std::vector<std::string>& settings);
/// Returns the same for these two classes.
std::vector<std::string> mirror_warnings_of(const std::string& left, const std::string& right,
                                            const std::vector<std::string>& settings);
/// Returns the same for a class of one side, if there is one.
std::vector<std::string> one_sided_warnings(const std::vector<std::string>& names,
                                            const std::vector<std::string>& settings);

}  // namespace voxshard
