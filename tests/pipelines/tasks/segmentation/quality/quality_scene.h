// Facts of cases of two organs, as training cases have them and as a flag must find them.
//
//   std::vector<QualityFacts> cases = training_facts(12);
//   fit_ranges(cases, {0, 0.2, 0.5});
#pragma once

#include "libcore/base/rng.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

namespace voxshard {

inline const std::vector<std::string> kTwoOrgans = {"background", "cord", "liver"};

/// Returns the facts of a case: an image of 200 x 300 x 400 mm; a cord of about 16 ml that leaves it at the foot with
/// 100 mm^2, and a liver of about 1500 ml in one part, to the left of the cord; intensities around 50.
inline QualityFacts usual_facts(std::uint64_t number) {
  const auto draw = [&](std::uint64_t what) { return 2 * rng_uniform({.seed = 3, .stream = what}, number) - 1; };
  const double cord_ml = 16 + 2 * draw(1), liver_ml = 1500 + 200 * draw(2);
  QualityFacts facts;
  facts.labels.view_mm = {200 + 20 * draw(3), 300 + 20 * draw(4), 400 + 50 * draw(5)};
  facts.labels.classes = {
      {},
      {.voxels = 1600,
       .volume_ml = cord_ml,
       .centre_mm = {20 + draw(50), 20 + draw(51), 85 + 3 * draw(52)},
       .border_mm2 = {0, 0, 0, 0, 100, 0},
       .parts = 1},
      {.voxels = 150000, .volume_ml = liver_ml, .centre_mm = {95, 120, 75}, .border_mm2 = {}, .parts = 1}};
  Quantiles& found = facts.channels.emplace_back();
  for (std::size_t q = 0; q < kQuantiles; ++q)
    found.push_back(static_cast<float>(static_cast<double>(q) + 35 + 5 * draw(6) + draw(7 + q)));
  return facts;
}

inline std::vector<QualityFacts> training_facts(std::uint64_t cases) {
  std::vector<QualityFacts> facts;
  for (std::uint64_t i = 0; i < cases; ++i) facts.push_back(usual_facts(i));
  return facts;
}

inline QualityRanges usual_ranges(std::uint64_t cases = 20) { return fit_ranges(training_facts(cases), {0, 0.3, 30}); }

}  // namespace voxshard
