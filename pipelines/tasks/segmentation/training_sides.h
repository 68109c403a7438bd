// Left and right in a training: which classes of its data are pairs, which of them are joined, and which mirrorings are
// without harm then.
//
//   TrainingSides sides(dataset.plan);
//   sides.add_placed(places);                                // pairs that their names do not tell
//   sides.settle(Sides::kAuto, cases, [&](std::size_t item) { return case_sides(...); });
//   sides.rule().joined().classes()                          // of the model
#pragma once

#include <array>
#include <functional>

#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tasks/segmentation/sides/placed_pairs.h"
#include "pipelines/tasks/segmentation/sides/side_fit.h"

namespace voxshard {

class TrainingSides {
 public:
  using Mirrored = std::array<bool, 3>;  // along D, H, W

  explicit TrainingSides(const PreparePlan& plan);

  /// Adds the pairs that lie as left and right do.
  ///   cases  that train
  void add_placed(const std::vector<CasePlaces>& cases);

  /// Returns the pairs by their names, then those by their places, joined or not.
  const std::vector<SidePair>& pairs() const { return pairs_; }
  /// Decides which pairs are joined; a second call with the same setting changes nothing.
  ///   cases    that train
  ///   case_at  returns where the classes of one of them lie
  void settle(Sides sides, std::size_t cases, const std::function<CaseSides(std::size_t item)>& case_at);

  /// Returns the rule of the joined pairs; an empty one before settle().
  const SideRule& rule() const { return fitted_.rule; }
  /// Returns what of `asked` is mirrored: nothing along an axis that may run from left to right where a pair stays two
  /// classes, unless the setting is `keep`, which mirrors as asked.
  Mirrored mirrored(Mirrored asked) const;
  /// Returns what was decided of each pair, for the log.
  std::vector<std::string> notes() const;
  /// Returns a W_MIRROR warning where mirroring as asked would swap two classes, or show a class of one side on the
  /// other.
  std::vector<std::string> warnings(const Mirrored& asked) const;

 private:
  /// True for the axes that may run from left to right.
  Mirrored left_to_right() const;

  std::vector<std::string> names_;
  std::string orientation_;
  std::vector<SidePair> pairs_;
  std::size_t named_ = 0;  // of the pairs, those by their names
  std::optional<Sides> settled_;
  FittedSides fitted_;
};

}  // namespace voxshard
