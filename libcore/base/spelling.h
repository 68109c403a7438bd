// Finds the name that a misspelt word probably meant: edit distance between two words, and the nearest word of a list.
//
//   nearest_name("trian", {"train", "predict"});   // "train"
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace voxshard {

/// The number of letters to add, drop, replace, or swap with their neighbour, to turn one word into the other.
int letters_to_change(const std::string& a, const std::string& b);

/// The candidate with the fewest letters to change, the first among equals. Requires at least one candidate.
std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates);

/// The same, but only when it is a likely match: at most a third of its letters differ.
std::optional<std::string> likely_name(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace voxshard
