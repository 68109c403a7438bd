// Class probabilities and true classes of many items: the one form that all classification metrics take.
//
//   Classified items{.classes = 2, .probabilities = {0.9, 0.1, 0.4, 0.6}, .truth = {0, 0}};
//   accuracy(items)                 // 0.5
//   confusion_matrix(items)         // {1, 1, 0, 0}: a row per true class
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace voxshard {

struct Classified {
  std::int64_t classes = 0;
  std::vector<double> probabilities;  // (items, classes), row by row; finite, a row need not sum to 1
  std::vector<std::int64_t> truth;    // (items): 0 to classes - 1

  std::int64_t count() const { return static_cast<std::int64_t>(truth.size()); }
  std::span<const double> row(std::int64_t item) const {
    return std::span(probabilities)
        .subspan(static_cast<std::size_t>(item * classes), static_cast<std::size_t>(classes));
  }
};

/// The most likely class; the first among equals.
std::int64_t likeliest(std::span<const double> row);

/// The fraction of items whose true class is among the k likeliest; among equals the lower class counts as likelier, so
/// that k = 1 agrees with likeliest(). NaN without an item. Errors (all functions here): kInternal for items whose
/// sizes do not fit each other, or whose numbers are not finite.
double top_k_accuracy(const Classified& items, std::int64_t k);
inline double accuracy(const Classified& items) { return top_k_accuracy(items, 1); }

/// (classes, classes): the number of items of the row's class that were classified as the column's class.
std::vector<std::int64_t> confusion_matrix(const Classified& items);

/// The scores of one class from a confusion matrix. NaN where nothing is counted.
struct RecallAndPrecision {
  std::int64_t items = 0, found = 0;  // items of this class; items classified as it
  double recall = 0, precision = 0, f1 = 0;
};
std::vector<RecallAndPrecision> class_scores(std::span<const std::int64_t> confusion, std::int64_t classes);

/// The ROC-AUC of one class against the rest, by its probability: the fraction of pairs (an item of the class, another
/// item) in which the first has the higher one; a tie counts one half. NaN where all items or none are of the class.
/// Source: Hanley and McNeil 1982; equal to the Mann-Whitney U with mid-ranks. Cost: items log items.
double roc_auc(const Classified& items, std::int64_t one);

/// Items whose highest probability, the confidence, lies in (low, high]; the first bin also holds 0.
struct CalibrationBin {
  double low = 0, high = 0;
  std::int64_t items = 0;
  double confidence = 0, accuracy = 0;  // means over the items; NaN without one
};

struct Calibration {
  std::vector<CalibrationBin> bins;
  double expected_error = 0;  // mean over items of |accuracy - confidence| of their bin; NaN without an item
};

/// Calibration with bins of equal width from 0 to 1. Source: Guo et al. 2017, "On calibration of modern neural
/// networks", equation 3.
Calibration calibration(const Classified& items, int bins = 15);

}  // namespace voxshard
