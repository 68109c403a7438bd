// The threshold baseline: for each class the interval of HU with the highest Dice over the training cases, found by
// trying all intervals on a histogram. It is shown beside a model's Dice: a model that is no better has learnt nothing
// but HU.
//
//   ThresholdFit fit(5);
//   fit.add(ct, organs);                                    // each training case
//   std::vector<ThresholdInterval> best = fit.solve();      // by class; [0] is unused
//   Tensor mask = threshold_mask(ct.voxels, best[2], 2);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipelines/engine/run_context.h"

namespace voxshard {

struct ThresholdInterval {
  int low_hu = 0, high_hu = -1;  // both ends included; empty when low > high
  double fit_dice = 0;           // over all training voxels together
};

class ThresholdFit {
 public:
  static constexpr int kLowestHu = -1100, kHighestHu = 3100;  // values beyond the range count in the end bins

  ///   ignored  the label of voxels that do not count; below 0: there is none
  explicit ThresholdFit(int classes, int ignored = -1);
  ///   hu (D, H, W) f32   label (D, H, W) i32; other values outside the classes count as background
  ///   annotated          the classes that were contoured; the case does not count for the others; none: all
  void add(const Tensor& hu, const Tensor& label, const std::optional<std::vector<int>>& annotated = std::nullopt);
  /// Returns the best interval of each class; of intervals with equal Dice the lowest and shortest. Cost: bins^2 / 2 =
  /// 9 million intervals a class.
  std::vector<ThresholdInterval> solve() const;

  /// Gets and sets the voxel counts, [class][bin], and after those the counts of all voxels of the cases in which the
  /// class was not annotated. Requires equal numbers of classes and bins.
  const std::vector<std::vector<std::int64_t>>& counts() const { return counts_; }
  void set_counts(std::vector<std::vector<std::int64_t>> counts);

 private:
  std::size_t classes() const { return counts_.size() / 2; }

  std::vector<std::vector<std::int64_t>> counts_;  // as counts()
  int ignored_;
};

/// Sums the counts of all processes; all of them call it.
void join(ThresholdFit& fit, const RunContext& context);

/// Returns a mask: `label` where the voxel's HU lies in the interval, else 0. Each class is scored separately, so
/// overlapping intervals are no problem.
Tensor threshold_mask(const Tensor& hu, const ThresholdInterval& interval, int label);

}  // namespace voxshard
