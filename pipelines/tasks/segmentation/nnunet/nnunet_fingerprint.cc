#include "pipelines/tasks/segmentation/nnunet/nnunet_fingerprint.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "pipelines/tasks/segmentation/nnunet/nnunet_grid.h"

namespace voxshard {
namespace {

constexpr double kSamplesInAll = 1e8;

using Counted = std::pair<float, std::uint32_t>;  // at most 10^8 drawings in all

/// Joins equal values.
ValueCounts joined_counts(std::vector<Counted> counted) {
  std::sort(counted.begin(), counted.end());
  ValueCounts joined;
  joined.values.reserve(counted.size()), joined.counts.reserve(counted.size());
  for (const auto& [value, count] : counted)
    if (!joined.values.empty() && joined.values.back() == value)
      joined.counts.back() += count;
    else
      joined.values.push_back(value), joined.counts.push_back(count);
  joined.values.shrink_to_fit(), joined.counts.shrink_to_fit();
  return joined;
}

/// Returns the value between the two neighbours of `place` (from 0), in NumPy's order of operations.
template <class At>
double linear_at(double place, At at) {
  const double below = std::floor(place), share = place - below;
  const double low = at(static_cast<std::int64_t>(below)), high = at(static_cast<std::int64_t>(std::ceil(place)));
  return share >= 0.5 ? high - (high - low) * (1 - share) : low + (high - low) * share;
}

/// Returns numpy.percentile(values, 100 * part).
double linear_percentile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return linear_at(part * static_cast<double>(values.size() - 1), [&](std::int64_t i) { return values[i]; });
}

double linear_percentile(const ValueCounts& all, std::int64_t n, double part) {
  return linear_at(part * static_cast<double>(n - 1), [&](std::int64_t i) {
    std::size_t at = 0;
    for (std::int64_t past = all.counts[0]; i >= past; past += all.counts[at]) ++at;
    return static_cast<double>(all.values[at]);
  });
}

/// Returns one number of each case.
template <class Of>
std::vector<double> by_case(const std::vector<const NnunetCase*>& cases, Of of) {
  std::vector<double> values;
  for (const NnunetCase* one : cases) values.push_back(of(*one));
  return values;
}

}  // namespace

std::int64_t nnunet_samples(std::size_t cases) {
  return static_cast<std::int64_t>(std::floor(kSamplesInAll / static_cast<double>(std::max<std::size_t>(cases, 1))));
}

NnunetCase nnunet_channel(const Volume& image, const Volume& label, const NnunetDrawing& drawing) {
  NnunetCase one;
  const Box& box = drawing.box;
  one.cropped_size = {box.extent[2], box.extent[1], box.extent[0]};
  one.spacing_mm = image.geometry.spacing;
  one.cropped_share = static_cast<double>(box.count()) / static_cast<double>(image.voxels.count());

  const Shape shape = image.voxels.shape();
  std::vector<float> foreground;
  const auto* labels = label.voxels.as<std::int32_t>();
  foreground.reserve(
      static_cast<std::size_t>(std::count_if(labels, labels + label.voxels.count(), [](auto l) { return l > 0; })));
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h) {
      const std::int64_t row = (d * shape[1] + h) * shape[2];
      for (std::int64_t i = row + box.begin[2]; i < row + box.end(2); ++i)
        if (labels[i] > 0) foreground.push_back(image.voxels.as<float>()[i]);
    }
  if (foreground.empty()) return one;
  std::vector<std::uint32_t> drawn(foreground.size(), 0);
  for (std::int64_t s = 0; s < drawing.samples; ++s) ++drawn[drawing.random.below(foreground.size())];
  std::vector<Counted> counted;
  counted.reserve(foreground.size());
  for (std::size_t i = 0; i < foreground.size(); ++i)
    if (drawn[i] > 0) counted.emplace_back(foreground[i], drawn[i]);
  foreground = {}, drawn = {};
  one.sample = joined_counts(std::move(counted));
  return one;
}

IntensityNumbers pooled_sample(const std::vector<const NnunetCase*>& cases) {
  std::vector<Counted> counted;
  for (const NnunetCase* one : cases)
    for (std::size_t i = 0; i < one->sample.values.size(); ++i)
      counted.emplace_back(one->sample.values[i], static_cast<std::uint32_t>(one->sample.counts[i]));
  IntensityNumbers numbers;
  if (counted.empty()) return numbers;
  const ValueCounts all = joined_counts(std::move(counted));
  const std::int64_t n = std::accumulate(all.counts.begin(), all.counts.end(), std::int64_t{0});
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < all.values.size(); ++i) sum += all.values[i] * static_cast<double>(all.counts[i]);
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < all.values.size(); ++i)
    square += (all.values[i] - mean) * (all.values[i] - mean) * static_cast<double>(all.counts[i]);
  numbers = {.any = true,
             .mean = mean,
             .std = std::max(std::sqrt(square / static_cast<double>(n)), 1e-8),
             .min = all.values.front(),
             .max = all.values.back(),
             .percentile_00_5 = linear_percentile(all, n, 0.005),
             .median = linear_percentile(all, n, 0.5),
             .percentile_99_5 = linear_percentile(all, n, 0.995)};
  return numbers;
}

std::array<double, 3> nnunet_target_spacing(const std::vector<const NnunetCase*>& cases) {
  std::array<double, 3> target{}, size{};
  for (std::size_t a = 0; a < 3; ++a) {
    target[a] = linear_percentile(by_case(cases, [&](const NnunetCase& one) { return one.spacing_mm[a]; }), 0.5);
    size[a] = linear_percentile(
        by_case(cases, [&](const NnunetCase& one) { return static_cast<double>(one.cropped_size[a]); }), 0.5);
  }
  std::size_t worst = 2;  // nnU-Net counts the axes from z, and the first of equal ones is the worst
  for (std::size_t a : {std::size_t{1}, std::size_t{0}})
    if (target[a] > target[worst]) worst = a;
  double other_mm = 0, other_size = INFINITY;
  for (std::size_t a = 0; a < 3; ++a)
    if (a != worst) other_mm = std::max(other_mm, target[a]), other_size = std::min(other_size, size[a]);
  if (target[worst] > kAnisotropy * other_mm && size[worst] * kAnisotropy < other_size) {
    const double finer =
        linear_percentile(by_case(cases, [&](const NnunetCase& one) { return one.spacing_mm[worst]; }), 0.1);
    target[worst] = finer < other_mm ? other_mm + 1e-5 : finer;
  }
  return target;
}

double median_cropped_share(const std::vector<const NnunetCase*>& cases) {
  return linear_percentile(by_case(cases, [](const NnunetCase& one) { return one.cropped_share; }), 0.5);
}

nlohmann::ordered_json nnunet_message(const NnunetCase& one) {
  return {{"values", one.sample.values},
          {"counts", one.sample.counts},
          {"cropped_size", one.cropped_size},
          {"spacing_mm", one.spacing_mm},
          {"cropped_share", one.cropped_share}};
}

NnunetCase nnunet_case_of(const nlohmann::ordered_json& message) {
  NnunetCase one;
  message.at("values").get_to(one.sample.values);
  message.at("counts").get_to(one.sample.counts);
  message.at("cropped_size").get_to(one.cropped_size);
  message.at("spacing_mm").get_to(one.spacing_mm);
  message.at("cropped_share").get_to(one.cropped_share);
  return one;
}

}  // namespace voxshard
