#include "libcore/metrics/classified.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/metrics/share.h"

namespace voxshard {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void check(const Classified& items) {
  ensure(items.classes > 0 && std::ssize(items.probabilities) == items.count() * items.classes,
         "classified items have a probability per class");
  ensure(std::ranges::all_of(items.truth, [&](std::int64_t c) { return c >= 0 && c < items.classes; }),
         "the true class of an item is one of the classes");
  ensure(std::ranges::all_of(items.probabilities, [](double p) { return std::isfinite(p); }),
         "the probabilities of classified items are finite");
}

}  // namespace

std::int64_t likeliest(std::span<const double> row) { return std::ranges::max_element(row) - row.begin(); }

double top_k_accuracy(const Classified& items, std::int64_t k) {
  check(items);
  std::int64_t hits = 0;
  for (std::int64_t i = 0; i < items.count(); ++i) {
    const auto row = items.row(i);
    const std::int64_t truth = items.truth[i];
    const double mine = row[truth];
    std::int64_t likelier = 0;
    for (std::int64_t c = 0; c < items.classes; ++c) {
      const double other = row[c];
      likelier += other > mine || (other == mine && c < truth);
    }
    hits += likelier < k;
  }
  return share(static_cast<double>(hits), items.count());
}

std::vector<std::int64_t> confusion_matrix(const Classified& items) {
  check(items);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(items.classes * items.classes), 0);
  for (std::int64_t i = 0; i < items.count(); ++i)
    ++counts[static_cast<std::size_t>(items.truth[i] * items.classes + likeliest(items.row(i)))];
  return counts;
}

std::vector<RecallAndPrecision> class_scores(std::span<const std::int64_t> confusion, std::int64_t classes) {
  ensure(std::ssize(confusion) == classes * classes, "a confusion matrix is square");
  std::vector<RecallAndPrecision> scores(static_cast<std::size_t>(classes));
  for (std::int64_t truth = 0; truth < classes; ++truth)
    for (std::int64_t said = 0; said < classes; ++said) {
      const std::int64_t count = confusion[truth * classes + said];
      scores[truth].items += count;
      scores[said].found += count;
    }
  for (std::int64_t c = 0; c < classes; ++c) {
    RecallAndPrecision& s = scores[c];
    const auto hits = static_cast<double>(confusion[c * classes + c]);
    s.recall = share(hits, s.items);
    s.precision = share(hits, s.found);
    s.f1 = share(2 * hits, s.items + s.found);
  }
  return scores;
}

double roc_auc(const Classified& items, std::int64_t one) {
  check(items);
  ensure(one >= 0 && one < items.classes, "the class is one of the classes");
  const auto score = [&](std::size_t i) { return items.row(static_cast<std::int64_t>(i))[one]; };
  std::vector<std::size_t> order(items.truth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, score);
  double rank_sum = 0, of_class = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double tied = 0;  // items of the class with this score
    for (; end < order.size() && score(order[end]) == score(order[begin]); ++end)
      tied += items.truth[order[end]] == one;
    rank_sum += tied * 0.5 * static_cast<double>(begin + 1 + end);  // the mean of ranks begin + 1 to end
    of_class += tied;
    begin = end;
  }
  const double others = static_cast<double>(items.count()) - of_class;
  if (of_class == 0 || others == 0) return kNaN;
  return (rank_sum - of_class * (of_class + 1) / 2) / (of_class * others);
}

Calibration calibration(const Classified& items, int bins) {
  check(items);
  ensure(bins > 0, "a calibration has bins");
  Calibration result;
  for (int b = 0; b < bins; ++b)
    result.bins.push_back({.low = static_cast<double>(b) / bins, .high = static_cast<double>(b + 1) / bins});
  for (std::int64_t i = 0; i < items.count(); ++i) {
    const auto row = items.row(i);
    const std::int64_t said = likeliest(row);
    const double confidence = row[said];
    const auto at = static_cast<std::int64_t>(std::ceil(std::clamp(confidence, 0.0, 1.0) * bins)) - 1;
    CalibrationBin& bin = result.bins[std::clamp<std::int64_t>(at, 0, bins - 1)];
    ++bin.items;
    bin.confidence += confidence;
    bin.accuracy += said == items.truth[i];
  }
  double gap = 0;
  for (CalibrationBin& bin : result.bins) {
    gap += std::abs(bin.accuracy - bin.confidence);  // both are sums: the mean's gap times the items
    bin.confidence = share(bin.confidence, bin.items);
    bin.accuracy = share(bin.accuracy, bin.items);
  }
  result.expected_error = share(gap, items.count());
  return result;
}

}  // namespace voxshard
