// The worst cases of a validation and its best one, each with what the page of the run shows of it, kept while the
// cases come one by one.
//
//   WorstAndBest<Json> kept;
//   kept.keep(3);                                             // the two worst and the best
//   kept.add(1 - dice, [&] { return slices_json(...); });     // made only for a case that is kept
//   for (const auto& one : kept.worst_first()) one.shown;
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace voxshard {

template <class Shown>
class WorstAndBest {
 public:
  struct Kept {
    double badness = 0;  // higher is worse
    Shown shown;
  };

  /// Sets how many cases are kept; of one it is the worst.
  void keep(std::int64_t most) { most_ = most; }
  bool keeps_any() const { return most_ > 0; }

  /// Adds a case, unless it is neither among the worst nor the best; among equals the earlier one stays. `make` gives
  /// what is shown of it.
  template <class Make>
  void add(double badness, Make make) {
    if (!keeps_any()) return;
    const auto place = std::ranges::upper_bound(kept_, badness, std::greater(), &Kept::badness);
    const bool is_full = std::ssize(kept_) == most_;
    // With the new one there is one too many: the one before the best goes, of a single one the better.
    const std::ptrdiff_t leaves = most_ > 1 ? most_ - 1 : 1;
    if (is_full && place - kept_.begin() == leaves) return;
    kept_.insert(place, {badness, make()});
    if (is_full) kept_.erase(kept_.begin() + leaves);
  }

  const std::vector<Kept>& worst_first() const { return kept_; }

 private:
  std::int64_t most_ = 0;
  std::vector<Kept> kept_;
};

}  // namespace voxshard
