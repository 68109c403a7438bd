#include "io/resampling/label_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "io/resampling/spline_resize.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// The two samples of an axis that a sample of the result lies between.
struct Pair {
  std::array<std::int64_t, 2> at{};
  std::array<double, 2> weights{1, 0};
};

std::vector<Pair> pairs_of(std::int64_t from, std::int64_t to, bool nearest) {
  std::vector<Pair> pairs(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    Pair& pair = pairs[i];
    if (nearest) {
      pair.at.fill(nearest_sample(i, from, to));
      continue;
    }
    const double place = std::clamp(sample_place(i, from, to), 0.0, static_cast<double>(from - 1));
    const double below = std::floor(place);
    pair.at[0] = static_cast<std::int64_t>(below);
    pair.at[1] = std::min(pair.at[0] + 1, from - 1);
    pair.weights = {1 - (place - below), place - below};
  }
  return pairs;
}

/// The labels around one voxel of the result and the sums of their weights, in the order in which SciPy adds them.
class Ballot {
 public:
  void add(std::int32_t label, double weight) {
    for (int i = 0; i < count_; ++i)
      if (labels_[i] == label) {
        weights_[i] += weight;
        return;
      }
    labels_[count_] = label;
    weights_[count_++] = weight;
  }

  std::int32_t elected(LabelRule rule) const {
    std::int32_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
      if (rule == LabelRule::kHalf) {
        if (weights_[i] >= 0.5 && (most < 0 || labels_[i] > best)) best = labels_[i], most = weights_[i];
      } else if (weights_[i] > most || (weights_[i] == most && labels_[i] < best)) {
        best = labels_[i], most = weights_[i];
      }
    }
    return best;
  }

 private:
  std::array<std::int32_t, 8> labels_{};
  std::array<double, 8> weights_{};
  int count_ = 0;
};

}  // namespace

Tensor resize_labels(const Tensor& labels, const Shape& shape, std::optional<int> slices, LabelRule rule) {
  const Shape from = labels.shape();
  ensure(labels.dtype() == DType::kI32 && from.axes() == 3 && labels.count() > 0, "a label map is (D, H, W) i32");
  Tensor result(DType::kI32, shape);
  std::array<std::vector<Pair>, 3> pairs;
  for (int a = 0; a < 3; ++a) pairs[a] = pairs_of(from[a], shape[a], a == slices);
  const auto* source = labels.as<std::int32_t>();
  auto* to = result.as<std::int32_t>();
  for (const Pair& z : pairs[0])
    for (const Pair& y : pairs[1]) {
      std::array<const std::int32_t*, 4> rows{};
      std::array<double, 4> shares{};
      for (std::size_t r = 0; r < 4; ++r) {
        rows[r] = source + (z.at[r / 2] * from[1] + y.at[r % 2]) * from[2];
        shares[r] = z.weights[r / 2] * y.weights[r % 2];
      }
      for (const Pair& x : pairs[2]) {
        const std::int32_t first = rows[0][x.at[0]];
        const bool same = std::all_of(rows.begin(), rows.end(), [&](const std::int32_t* row) {
          return row[x.at[0]] == first && row[x.at[1]] == first;
        });
        if (same) {
          *to++ = first;
          continue;
        }
        Ballot ballot;
        for (std::size_t r = 0; r < 4; ++r)
          for (std::size_t i = 0; i < 2; ++i) ballot.add(rows[r][x.at[i]], shares[r] * x.weights[i]);
        *to++ = ballot.elected(rule);
      }
    }
  return result;
}

}  // namespace voxshard
