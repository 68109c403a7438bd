#include "pipelines/tasks/classification/scores/intensity_baseline.h"

#include <algorithm>
#include <cmath>

#include "pipelines/tasks/classification/scores/classify_batch.h"

namespace voxshard {
namespace {

constexpr double kLeastDeviation = 1e-9;  // for a feature that is equal in all items

/// Standardises rows of features to mean 0 and deviation 1, and appends a 1 to each.
class Standardised {
 public:
  Standardised(const std::vector<double>& features, std::size_t count) : mean_(count, 0), deviation_(count, 0) {
    const std::size_t items = features.size() / count;
    for (std::size_t i = 0; i < features.size(); ++i) mean_[i % count] += features[i] / static_cast<double>(items);
    for (std::size_t i = 0; i < features.size(); ++i)
      deviation_[i % count] += std::pow(features[i] - mean_[i % count], 2) / static_cast<double>(items);
    for (double& deviation : deviation_) deviation = std::max(kLeastDeviation, std::sqrt(deviation));
  }

  std::size_t width() const { return mean_.size() + 1; }
  std::vector<double> rows(const std::vector<double>& features) const {
    std::vector<double> made;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const std::size_t f = i % mean_.size();
      made.push_back((features[i] - mean_[f]) / deviation_[f]);
      if (f + 1 == mean_.size()) made.push_back(1);
    }
    return made;
  }

 private:
  std::vector<double> mean_, deviation_;
};

/// Computes the probabilities from the products of a row with the weights of each class.
void probabilities(const double* row, const std::vector<double>& weights, std::size_t width, double* to) {
  const std::size_t classes = weights.size() / width;
  for (std::size_t c = 0; c < classes; ++c) {
    to[c] = 0;
    for (std::size_t f = 0; f < width; ++f) to[c] += weights[c * width + f] * row[f];
  }
  softmax({to, classes});
}

/// Returns the weight of each item in the mean: 1 / items, or 1 / (classes x items of its class).
std::vector<double> shares_of(const LogisticFit& fit) {
  std::vector<double> items(static_cast<std::size_t>(fit.classes), 0), shares;
  for (const std::int64_t label : fit.labels) ++items[label];
  const auto present = static_cast<double>(std::ranges::count_if(items, [](double n) { return n > 0; }));
  for (const std::int64_t label : fit.labels)
    shares.push_back(1 / (fit.balanced ? present * items[label] : static_cast<double>(fit.labels.size())));
  return shares;
}

}  // namespace

std::vector<double> mean_intensities(const ItemSums& sums) {
  std::vector<double> means;
  for (const auto& of_item : sums.of_items)
    for (const ChannelSums& s : of_item) means.push_back(s.sum / static_cast<double>(s.count));
  return means;
}

Classified fitted_logistic(const LogisticFit& fit, const std::vector<double>& others) {
  ensure(!fit.labels.empty() && fit.features.size() % fit.labels.size() == 0, "each item has as many features");
  const Standardised standard(fit.features, fit.features.size() / fit.labels.size());
  const std::size_t width = standard.width(), classes = static_cast<std::size_t>(fit.classes);
  const std::vector<double> x = standard.rows(fit.features), shares = shares_of(fit);
  std::vector<double> weights(classes * width, 0), ahead = weights, gradient(weights.size()), row(classes);
  double squares = 0;  // at least the largest eigenvalue of the second moments
  for (std::size_t i = 0; i < x.size(); ++i) squares += shares[i / width] * x[i] * x[i];
  const double rate = 2 / squares;
  double momentum = 1;
  for (int step = 0; step < fit.steps; ++step) {
    std::ranges::fill(gradient, 0);
    for (std::size_t i = 0; i < fit.labels.size(); ++i) {
      probabilities(&x[i * width], ahead, width, row.data());
      row[fit.labels[i]] -= 1;
      for (std::size_t c = 0; c < classes; ++c)
        for (std::size_t f = 0; f < width; ++f) gradient[c * width + f] += shares[i] * row[c] * x[i * width + f];
    }
    const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double moved = ahead[k] - rate * gradient[k];
      ahead[k] = moved + (momentum - 1) / next * (moved - weights[k]);
      weights[k] = moved;
    }
    momentum = next;
  }
  const std::vector<double> y = standard.rows(others);
  Classified guessed{.classes = fit.classes};
  guessed.probabilities.resize(y.size() / width * classes);
  for (std::size_t i = 0; i < y.size() / width; ++i)
    probabilities(&y[i * width], weights, width, &guessed.probabilities[i * classes]);
  return guessed;
}

}  // namespace voxshard
