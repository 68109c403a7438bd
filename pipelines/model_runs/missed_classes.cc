#include "pipelines/model_runs/missed_classes.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace voxshard {

std::vector<std::string> missed_classes(const std::vector<ScoresOfClass>& classes, const MissedWords& words) {
  struct Missed {
    double share;
    std::string text;
  };
  std::vector<Missed> missed;
  std::vector<std::string> unscored;
  for (const ScoresOfClass& one : classes) {
    const auto scored = std::ranges::count_if(one.by_case, [](double score) { return std::isfinite(score); });
    const auto zero = std::ranges::count_if(one.by_case, [](double score) { return score < kMissedBelow; });
    const std::string begin = one.name + ": " + words.metric + " 0.000 ";
    if (zero > 0)
      missed.push_back({static_cast<double>(zero) / static_cast<double>(scored),
                        begin + "in " + std::to_string(zero) + " of " + std::to_string(scored) +
                            (scored == 1 ? " case" : " cases")});
    else if (one.by_case.empty() && one.over_all < kMissedBelow)
      missed.push_back({1, begin + words.over_all});
    else if (!std::isfinite(one.over_all) && !words.unscored.empty())
      unscored.push_back(one.name + ": " + words.unscored);
  }
  std::ranges::stable_sort(missed, std::greater(), &Missed::share);
  std::vector<std::string> lines;
  for (Missed& one : missed) lines.push_back(std::move(one.text));
  lines.insert(lines.end(), unscored.begin(), unscored.end());
  return lines;
}

std::string missed_text(const std::vector<std::string>& missed) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, missed.size()); ++i) text += "missed: " + missed[i] + "\n";
  if (missed.size() > kShown) text += "missed: " + std::to_string(missed.size() - kShown) + " more\n";
  return text;
}

}  // namespace voxshard
