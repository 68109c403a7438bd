// Scores of classification against numbers counted by hand and by tests/metrics/classified_oracle.py (Python 3.11).
#include "libcore/metrics/classified.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// Returns the 60 items of the oracle: 4 classes, the last of which has no items.
Classified oracle_items() {
  Classified items{.classes = 4};
  for (std::int64_t i = 0; i < 60; ++i) {
    std::int64_t raw[4], sum = 0;
    const std::int64_t truth = (i * i + i / 3) % 3;
    for (std::int64_t c = 0; c < 4; ++c) raw[c] = 1 + (i * 7 + c * c * 13 + i * c * 5) % 11;
    raw[truth] += i % 9;
    for (const std::int64_t r : raw) sum += r;
    for (const std::int64_t r : raw) items.probabilities.push_back(static_cast<double>(r) / static_cast<double>(sum));
    items.truth.push_back(truth);
  }
  return items;
}

TEST(Classified, CountsAreThoseOfTheOracle) {
  const Classified items = oracle_items();
  EXPECT_DOUBLE_EQ(accuracy(items), 0.55);
  EXPECT_DOUBLE_EQ(top_k_accuracy(items, 2), 0.7333333333333333);
  EXPECT_DOUBLE_EQ(top_k_accuracy(items, 3), 0.9);
  EXPECT_DOUBLE_EQ(top_k_accuracy(items, 4), 1.0);
  EXPECT_EQ(confusion_matrix(items), (std::vector<std::int64_t>{13, 4, 1, 1, 7, 5, 7, 2, 4, 1, 15, 0, 0, 0, 0, 0}));
}

TEST(Classified, AreasUnderTheRocCurveAreThoseOfAllPairs) {
  const Classified items = oracle_items();
  EXPECT_DOUBLE_EQ(roc_auc(items, 0), 0.8209242618741976);
  EXPECT_DOUBLE_EQ(roc_auc(items, 1), 0.7234432234432234);
  EXPECT_DOUBLE_EQ(roc_auc(items, 2), 0.8625);
  EXPECT_TRUE(std::isnan(roc_auc(items, 3))) << "a class without an item";
}

TEST(Classified, ATieInTheRocCurveCountsOneHalf) {
  // Class 1 has 0.5 and 0.8, the other 0.5 and 0.1. Pairs: 0.5 with 0.5 is a half, the other three are won.
  const Classified items{
      .classes = 2, .probabilities = {0.5, 0.5, 0.2, 0.8, 0.5, 0.5, 0.9, 0.1}, .truth = {1, 1, 0, 0}};
  EXPECT_DOUBLE_EQ(roc_auc(items, 1), 3.5 / 4);
  EXPECT_DOUBLE_EQ(roc_auc(items, 0), 3.5 / 4);
  const Classified equal{.classes = 2, .probabilities = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, .truth = {1, 0, 0}};
  EXPECT_DOUBLE_EQ(roc_auc(equal, 1), 0.5) << "who says the same of all knows nothing";
  const Classified one_kind{.classes = 2, .probabilities = {0.3, 0.7, 0.6, 0.4}, .truth = {1, 1}};
  EXPECT_TRUE(std::isnan(roc_auc(one_kind, 1)));
  EXPECT_TRUE(std::isnan(roc_auc(one_kind, 0)));
}

TEST(Classified, OfEqualClassesTheFirstIsLikeliest) {
  const Classified items{.classes = 3, .probabilities = {0.4, 0.4, 0.2, 0.4, 0.4, 0.2}, .truth = {0, 1}};
  EXPECT_EQ(likeliest(items.row(1)), 0);
  EXPECT_DOUBLE_EQ(top_k_accuracy(items, 1), 0.5);
  EXPECT_DOUBLE_EQ(top_k_accuracy(items, 2), 1);
  EXPECT_EQ(confusion_matrix(items), (std::vector<std::int64_t>{1, 0, 0, 1, 0, 0, 0, 0, 0}));
}

TEST(Classified, RecallPrecisionAndF1ByHand) {
  // Class 0: 3 right, 1 taken for class 1. Class 1: 2 taken for class 0. Class 2: no items, but one item is taken for
  // it.
  const std::vector<std::int64_t> confusion = {3, 1, 0, 2, 0, 1, 0, 0, 0};
  const auto scores = class_scores(confusion, 3);
  EXPECT_EQ(scores[0].items, 4);
  EXPECT_EQ(scores[0].found, 5);
  EXPECT_DOUBLE_EQ(scores[0].recall, 0.75);
  EXPECT_DOUBLE_EQ(scores[0].precision, 0.6);
  EXPECT_DOUBLE_EQ(scores[0].f1, 6.0 / 9);
  EXPECT_DOUBLE_EQ(scores[1].f1, 0);
  EXPECT_TRUE(std::isnan(scores[2].recall));
  EXPECT_DOUBLE_EQ(scores[2].precision, 0);
}

TEST(Classified, TheCalibrationErrorIsThatOfTheOracle) {
  const Calibration table = calibration(oracle_items());
  ASSERT_EQ(table.bins.size(), 15u);
  EXPECT_NEAR(table.expected_error, 0.20205152260531456, 1e-15);
  const std::int64_t counts[] = {0, 0, 0, 0, 19, 22, 9, 8, 2, 0, 0, 0, 0, 0, 0};
  for (std::size_t b = 0; b < 15; ++b) EXPECT_EQ(table.bins[b].items, counts[b]) << b;
  EXPECT_NEAR(table.bins[4].confidence, 0.315764275447179, 1e-15);
  EXPECT_NEAR(table.bins[4].accuracy, 0.2631578947368421, 1e-15);
  EXPECT_NEAR(table.bins[8].confidence, 0.5470085470085471, 1e-15);
  EXPECT_NEAR(table.bins[8].accuracy, 1, 1e-15);
  EXPECT_TRUE(std::isnan(table.bins[0].accuracy));
}

TEST(Classified, AConfidenceOnABorderLiesBelowIt) {
  // Bins (0, 0.5] and (0.5, 1]: 0.5 belongs to the first, 1 to the second.
  const Classified items{.classes = 2, .probabilities = {0.5, 0.5, 1, 0}, .truth = {1, 0}};
  const Calibration table = calibration(items, 2);
  EXPECT_EQ(table.bins[0].items, 1);
  EXPECT_EQ(table.bins[1].items, 1);
  EXPECT_DOUBLE_EQ(table.bins[0].accuracy, 0);
  EXPECT_DOUBLE_EQ(table.expected_error, 0.25) << "half of the items, wrong at 0.5";
}

TEST(Classified, NothingToCountIsNaN) {
  const Classified none{.classes = 2};
  EXPECT_TRUE(std::isnan(accuracy(none)));
  EXPECT_TRUE(std::isnan(calibration(none).expected_error));
  EXPECT_TRUE(std::isnan(roc_auc(none, 0)));
}

TEST(Classified, ATruthThatIsNoClassIsADefect) {
  EXPECT_THROW(accuracy({.classes = 2, .probabilities = {0.5, 0.5}, .truth = {2}}), Error);
  EXPECT_THROW(accuracy({.classes = 2, .probabilities = {0.5}, .truth = {0}}), Error);
}

TEST(Classified, AProbabilityThatIsNoNumberIsADefect) {
  const Classified items{.classes = 2, .probabilities = {std::nan(""), 0.5, 0.5, 0.5}, .truth = {0, 1}};
  EXPECT_THROW(roc_auc(items, 0), Error) << "ranks of what cannot be ordered would never end";
  EXPECT_THROW(calibration(items), Error);
}

}  // namespace
}  // namespace voxshard
