// Which name somebody meant: the number of letters to change between two words, and the nearest of a list.
//
//   nearest_name("trian", {"train", "predict"});   // "train"
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace voxshard {

/// Letters to add, drop, replace, or swap with their neighbour, to make one word of the other.
int letters_to_change(const std::string& a, const std::string& b);

/// The candidate with the fewest letters to change, the first of several. Requires one at least.
std::string nearest_name(const std::string& name, const std::vector<std::string>& candidates);

/// The same, if it is so near that it was probably meant: at most a third of its letters are others.
std::optional<std::string> likely_name(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace voxshard
