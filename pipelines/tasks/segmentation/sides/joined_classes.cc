#include "pipelines/tasks/segmentation/sides/joined_classes.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace voxshard {

JoinedClasses::JoinedClasses(int classes, std::vector<SidePair> pairs) : pairs_(std::move(pairs)) {
  std::vector<int> partner(static_cast<std::size_t>(classes), -1);
  for (const SidePair& pair : pairs_)
    for (const auto& [one, other] : {std::pair(pair.left, pair.right), std::pair(pair.right, pair.left)}) {
      ensure(one > 0 && one < classes && one != other && partner[one] < 0,
             "sides are two classes of the data, each in one pair");
      partner[one] = other;
    }
  for (int c = 0; c < classes; ++c) {
    const int other = partner[c];
    if (other >= 0 && other < c) {
      of_.push_back(of_[other]);
      continue;
    }
    of_.push_back(static_cast<int>(parts_.size()));
    parts_.push_back({c, c});
  }
  for (const SidePair& pair : pairs_) parts_[of(pair.left)] = pair;
}

std::vector<std::string> JoinedClasses::names(const std::vector<std::string>& names) const {
  std::vector<std::string> joined;
  for (int c = 0; c < classes(); ++c) {
    const SidePair both = parts(c);
    joined.push_back(names.at(both.left));
    if (is_joined(c)) joined.back() += " + " + names.at(both.right);
  }
  return joined;
}

}  // namespace voxshard
