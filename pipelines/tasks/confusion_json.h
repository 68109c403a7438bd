// The confusion of classes as a validation stores it for the page of its run: recall and precision of each class, the
// matrix, and the most frequent mistakes.
//
//   Json detail = {{"kind", "classification"}};
//   add_confusion(detail, {.classes = {"red", "white"}, .counts = {9, 1, 0, 5}});
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace voxshard {

/// Above so many classes a matrix is left out, and the rows of further classes.
inline constexpr std::size_t kMostMatrixClasses = 100, kMostListedClasses = 1000;
/// The most pairs of classes that are listed as mistakes.
inline constexpr std::size_t kMostMistakes = 20;

struct ConfusionTable {
  std::vector<std::string> classes;
  std::vector<std::int64_t> counts;  // (n, n), true class by found class; n = classes, one more with `has_nothing`
  bool has_nothing = false;          // true: the last row and column are of no class
};

/// Adds "classes" [{"class", "items", "found", "recall", "precision", "f1"}], "confusion" (n, n), which is null above
/// kMostMatrixClasses, and "mistakes" [{"true", "found", "items"}], the most frequent first. Classes are numbers of the
/// list; null: no class. What is not a number is null. Errors: kInternal for counts of another size.
void add_confusion(nlohmann::ordered_json& detail, const ConfusionTable& table);

}  // namespace voxshard
