// A set of labels that count as one: a class, or a region, the union of several classes.
//
//   const LabelSet tumour({1, 2, 3});
//   tumour.contains(2);                                       // true
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace voxshard {

class LabelSet {
 public:
  LabelSet(std::int64_t label) : lowest_(label), members_{1} {}  // NOLINT: a class is a set of one label
  /// `labels` holds at least one label; the memory is that of a byte for each from the lowest to the highest.
  explicit LabelSet(const std::vector<int>& labels)
      : lowest_(*std::min_element(labels.begin(), labels.end())),
        members_(static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end()) - lowest_ + 1), 0) {
    for (const int label : labels) members_[label - lowest_] = 1;
  }
  bool contains(std::int64_t label) const {
    const std::int64_t at = label - lowest_;
    return at >= 0 && at < static_cast<std::int64_t>(members_.size()) && members_[at] != 0;
  }

 private:
  std::int64_t lowest_;
  std::vector<std::uint8_t> members_;  // from the lowest label on
};

}  // namespace voxshard
