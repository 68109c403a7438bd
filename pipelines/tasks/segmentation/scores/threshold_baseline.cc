#include "pipelines/tasks/segmentation/scores/threshold_baseline.h"

#include <algorithm>
#include <cmath>

namespace voxshard {
namespace {

constexpr int kBins = ThresholdFit::kHighestHu - ThresholdFit::kLowestHu + 1;

int bin_of(float hu) {
  const double bin = std::floor(static_cast<double>(hu) + 0.5) - ThresholdFit::kLowestHu;
  return static_cast<int>(std::clamp(bin, 0.0, kBins - 1.0));
}

}  // namespace

ThresholdFit::ThresholdFit(int classes, int ignored)
    : counts_(2 * static_cast<std::size_t>(classes), std::vector<std::int64_t>(kBins, 0)), ignored_(ignored) {}

void ThresholdFit::add(const Tensor& hu, const Tensor& label, const std::optional<std::vector<int>>& annotated) {
  const auto* x = hu.as<float>();
  const auto* v = label.as<std::int32_t>();
  const auto highest = static_cast<std::int32_t>(classes());
  std::vector<std::int64_t> all(kBins, 0);
  for (std::int64_t i = 0; i < hu.count(); ++i) {
    if (ignored_ >= 0 && v[i] == ignored_) continue;
    const int bin = bin_of(x[i]);
    ++counts_[v[i] > 0 && v[i] < highest ? v[i] : 0][bin];
    ++all[bin];
  }
  for (std::size_t c = 1; c < classes() && annotated; ++c)
    if (std::ranges::count(*annotated, static_cast<int>(c)) == 0)
      for (int b = 0; b < kBins; ++b) counts_[classes() + c][b] += all[b];
}

void ThresholdFit::set_counts(std::vector<std::vector<std::int64_t>> counts) {
  ensure(counts.size() == counts_.size() &&
             std::ranges::all_of(counts, [](const auto& bins) { return bins.size() == kBins; }),
         "counts are of the same classes and bins");
  counts_ = std::move(counts);
}

std::vector<ThresholdInterval> ThresholdFit::solve() const {
  std::vector<std::int64_t> all(kBins, 0);
  for (std::size_t c = 0; c < classes(); ++c)
    for (int b = 0; b < kBins; ++b) all[b] += counts_[c][b];
  std::vector<ThresholdInterval> best(classes());
  for (std::size_t c = 1; c < classes(); ++c) {
    const auto& elsewhere = counts_[classes() + c];
    std::int64_t total = 0;
    for (auto n : counts_[c]) total += n;
    for (int low = 0; low < kBins && total > 0; ++low) {
      if (counts_[c][low] == 0) continue;  // an interval gains nothing by starting at a bin without this class
      std::int64_t hit = 0, chosen = 0;
      for (int high = low; high < kBins; ++high) {
        hit += counts_[c][high], chosen += all[high] - elsewhere[high];
        const double dice = 2.0 * static_cast<double>(hit) / static_cast<double>(chosen + total);
        if (dice > best[c].fit_dice) best[c] = {low + kLowestHu, high + kLowestHu, dice};
      }
    }
  }
  return best;
}

void join(ThresholdFit& fit, const RunContext& context) {
  std::vector<std::vector<std::int64_t>> counts = fit.counts();
  for (std::vector<std::int64_t>& bins : counts) context.add_up(bins);
  fit.set_counts(std::move(counts));
}

Tensor threshold_mask(const Tensor& hu, const ThresholdInterval& interval, int label) {
  Tensor mask(DType::kI32, hu.shape());
  const auto* x = hu.as<float>();
  auto* m = mask.as<std::int32_t>();
  for (std::int64_t i = 0; i < hu.count(); ++i) {
    const int value = bin_of(x[i]) + ThresholdFit::kLowestHu;
    m[i] = value >= interval.low_hu && value <= interval.high_hu ? label : 0;
  }
  return mask;
}

}  // namespace voxshard
