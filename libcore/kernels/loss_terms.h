// A group's segmentation loss as a function of its sums, and its derivatives, shared by both kernel sets. One row per
// kind.
//
// The loss depends on a voxel's probabilities p only through I_c, P_c and CE, so d loss / d p_c = y_c * d_I[c] +
// d_P[c], and through the softmax d loss / d logit_j = p_j (g_j - sum_c p_c g_c) + d_CE (p_j - y_j), g_c = d loss / d
// p_c.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "libcore/kernels/loss.h"

namespace voxshard {

struct LossTerms {
  double value = 0;
  std::vector<double> d_intersection, d_probability;  // per class
  double d_cross_entropy = 0;
};

/// The number of sums of a group (loss.h).
///   marginal  with the counts of known classes
constexpr std::int64_t sums_per_group(std::int64_t classes, bool marginal = false) {
  return (marginal ? 4 : 3) * classes + 2;
}

/// Returns for each class the one that its probability and its labels count for in a sample: itself, or the background
/// where it is not known.
inline std::vector<std::int64_t> scored_as(const LossSpec& spec, std::int64_t sample) {
  std::vector<std::int64_t> as(static_cast<std::size_t>(spec.classes));
  std::iota(as.begin(), as.end(), 0);
  if (spec.known == nullptr) return as;
  const std::int64_t row = (sample - spec.known->box.begin[0]) * spec.known->strides[0];
  for (std::int64_t& c : as)
    if (load(*spec.known, row + c) == 0) c = 0;
  return as;
}

/// The sums of one group (loss.h).
struct GroupSums {
  std::span<const double> inter, prob, truth;  // per class: I, P, Y
  double cross_entropy = 0, count = 0;

  std::size_t classes() const { return inter.size(); }
};

namespace loss_kind {

inline constexpr double kEpsilon = 1e-7;
inline constexpr double kTverskyAlpha = 0.3, kTverskyBeta = 0.7;  // weights of false positives and of false negatives

inline double total(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// 1 - n / d with the derivatives of n and d by each class's I and P, which are the same for all classes.
struct Ratio {
  double n, d;
  double one_less() const { return 1 - n / d; }
  double derivative(double dn, double dd) const { return -(dn - n / d * dd) / d; }
};

inline void cross_entropy(const GroupSums& s, LossTerms& t) {
  if (s.count <= 0) return;  // a group without voxels has cross entropy 0
  t.value = s.cross_entropy / s.count;
  t.d_cross_entropy = 1 / s.count;
}

inline void adaptive_dice32(const GroupSums& s, LossTerms& t) {
  const double best = static_cast<double>(s.classes()) * std::exp(-1.0);
  t.value = 1;
  for (std::size_t c = 0; c < s.classes(); ++c) {
    const double size = s.prob[c] + s.truth[c] + kEpsilon;
    const double dice = 2 * (s.inter[c] + kEpsilon) / size, weight = std::exp(-dice);
    t.value -= weight * dice / best;
    const double d_dice = -weight * (1 - dice) / best;
    t.d_intersection[c] = d_dice * 2 / size;
    t.d_probability[c] = -d_dice * dice / size;
  }
}

inline void dice_ce(const GroupSums& s, LossTerms& t) {
  cross_entropy(s, t);
  const double share = s.classes() > 1 ? 1 / static_cast<double>(s.classes() - 1) : 0.0;
  t.value += 1;
  for (std::size_t c = 1; c < s.classes(); ++c) {
    const double size = s.prob[c] + s.truth[c] + 1, dice = (2 * s.inter[c] + 1) / size;
    t.value -= share * dice;
    t.d_intersection[c] = -share * 2 / size;
    t.d_probability[c] = share * dice / size;
  }
}

inline void log_dice_ce(const GroupSums& s, LossTerms& t) {
  cross_entropy(s, t);
  for (std::size_t c = 1; c < s.classes(); ++c) {
    if (s.truth[c] <= 0) continue;
    const double share = 1 / static_cast<double>(s.classes() - 1);
    const double found = 2 * s.inter[c] + kEpsilon, size = s.prob[c] + s.truth[c] + kEpsilon;
    t.value -= share * std::log(found / size);
    t.d_intersection[c] = -share * 2 / found;
    t.d_probability[c] = share / size;
  }
}

inline void dice(const GroupSums& s, LossTerms& t) {
  const Ratio ratio{2 * total(s.inter) + kEpsilon, total(s.prob) + total(s.truth) + kEpsilon};
  t.value = ratio.one_less();
  std::ranges::fill(t.d_intersection, ratio.derivative(2, 0));
  std::ranges::fill(t.d_probability, ratio.derivative(0, 1));
}

inline void generalized_dice(const GroupSums& s, LossTerms& t) {
  std::vector<double> weights;
  Ratio ratio{kEpsilon, kEpsilon};
  for (std::size_t c = 0; c < s.classes(); ++c) {
    weights.push_back(1 / (s.truth[c] * s.truth[c] + kEpsilon));
    ratio.n += 2 * weights[c] * s.inter[c];
    ratio.d += weights[c] * (s.prob[c] + s.truth[c]);
  }
  t.value = ratio.one_less();
  for (std::size_t c = 0; c < s.classes(); ++c) {
    t.d_intersection[c] = ratio.derivative(2 * weights[c], 0);
    t.d_probability[c] = ratio.derivative(0, weights[c]);
  }
}

inline void hamming(const GroupSums& s, LossTerms& t) {
  if (s.count <= 0) return;
  t.value = 1 - total(s.inter) / s.count;
  std::ranges::fill(t.d_intersection, -1 / s.count);
}

inline void jaccard(const GroupSums& s, LossTerms& t) {
  const double inter = total(s.inter);
  const Ratio ratio{inter + kEpsilon, total(s.prob) + total(s.truth) - inter + kEpsilon};
  t.value = ratio.one_less();
  std::ranges::fill(t.d_intersection, ratio.derivative(1, -1));
  std::ranges::fill(t.d_probability, ratio.derivative(0, 1));
}

inline void tversky(const GroupSums& s, LossTerms& t) {
  for (std::size_t c = 0; c < s.classes(); ++c) {
    const double inter = s.inter[c];
    const Ratio ratio{inter + kEpsilon,
                      inter + kTverskyAlpha * (s.prob[c] - inter) + kTverskyBeta * (s.truth[c] - inter) + kEpsilon};
    t.value += ratio.one_less();
    t.d_intersection[c] = ratio.derivative(1, 1 - kTverskyAlpha - kTverskyBeta);
    t.d_probability[c] = ratio.derivative(0, kTverskyAlpha);
  }
}

/// The rows, indexed by LossKind.
inline constexpr std::array<void (*)(const GroupSums&, LossTerms&), std::size(kLossNames)> kRows = {
    cross_entropy, adaptive_dice32, dice_ce, log_dice_ce, dice, generalized_dice, hamming, jaccard, tversky};

}  // namespace loss_kind

/// Returns the classes that the loss of a group runs over: the background and those that are known in some sample.
inline std::vector<std::size_t> classes_of_loss(std::span<const double> sums, std::size_t classes) {
  std::vector<std::size_t> over;
  for (std::size_t c = 0; c < classes; ++c)
    if (c == 0 || sums.size() == 3 * classes + 2 || sums[3 * classes + 2 + c] > 0) over.push_back(c);
  return over;
}

/// Value and derivatives for the sums {I, P, Y, CE, count, K} of one group (loss.h); K may be left out.
inline LossTerms loss_terms(std::span<const double> sums, const LossSpec& spec) {
  const auto classes = static_cast<std::size_t>(spec.classes);
  LossTerms terms{0, std::vector<double>(classes, 0.0), std::vector<double>(classes, 0.0), 0};
  const std::vector<std::size_t> over = classes_of_loss(sums, classes);
  if (over.size() == 1 && classes > 1) return terms;  // no class is known: nothing can be wrong
  std::vector<double> inter, prob, truth;
  for (const std::size_t c : over) {
    inter.push_back(sums[c]);
    prob.push_back(sums[classes + c]);
    truth.push_back(sums[2 * classes + c]);
  }
  LossTerms known{0, std::vector<double>(over.size(), 0.0), std::vector<double>(over.size(), 0.0), 0};
  loss_kind::kRows[static_cast<std::size_t>(spec.kind)]({.inter = inter,
                                                         .prob = prob,
                                                         .truth = truth,
                                                         .cross_entropy = sums[3 * classes],
                                                         .count = sums[3 * classes + 1]},
                                                        known);
  terms.value = known.value, terms.d_cross_entropy = known.d_cross_entropy;
  for (std::size_t k = 0; k < over.size(); ++k) {
    terms.d_intersection[over[k]] = known.d_intersection[k];
    terms.d_probability[over[k]] = known.d_probability[k];
  }
  return terms;
}

/// The sums of group g, as many as a row has.
inline std::vector<double> group_sums(const TensorView& sums, std::int64_t g) {
  std::vector<double> row;
  for (std::int64_t j = 0; j < sums.extent()[1]; ++j)
    row.push_back(load(sums, (g - sums.box.begin[0]) * sums.strides[0] + j));
  return row;
}

}  // namespace voxshard
