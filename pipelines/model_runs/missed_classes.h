// The classes that a model does not find, in words, by their scores. Said after a training, on the page of a run and
// after an evaluation.
//
//   missed_classes({{"Cord", 0, {0, 0, 0}}}, {.metric = "dice"});      // "Cord: dice 0.000 in 3 of 3 cases"
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// A score below this is 0 as it is shown.
inline constexpr double kMissedBelow = 0.0005;

/// The scores of a class, higher is better; NaN: there is none.
struct ScoresOfClass {
  std::string name;
  double over_all = 0;
  std::vector<double> by_case = {};  // empty where single cases have no score
};

struct MissedWords {
  std::string metric;                                       // "dice"
  std::string over_all = "over everything that validates";  // where single cases have no score
  // of a class without a score; empty: it is not said
  std::string unscored = "nothing of it validates, so its score is not known";
};

/// Returns a sentence for each class that was missed: 0 in some case, or 0 over all where there are no cases, the most
/// often missed first; and one for each class without a score.
std::vector<std::string> missed_classes(const std::vector<ScoresOfClass>& classes, const MissedWords& words);

/// Returns "missed: Cord: dice 0.000 in 3 of 3 cases\n" for the first ten, and how many more there are.
std::string missed_text(const std::vector<std::string>& missed);

}  // namespace voxshard
