// Surfaces of generated shapes against the stored numbers of surface_oracle.py: SciPy for voxels, and the published
// recipe and table of areas for surfels.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/metrics/surface/label_metrics.h"
#include "tests/metrics/surface/mask_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;

/// Returns true where a part of a mask holds the voxel; as surface_oracle.py describes the parts.
bool holds(const json& part, const Mask& mask, const GridSize& at) {
  const std::string kind = part.at(0);
  if (kind == "noise")
    return noise_at(mask.index(at[0], at[1], at[2]), part.at(1).get<std::int64_t>()) < part.at(2).get<std::int64_t>();
  const auto a = part.at(1).get<GridSize>(), b = part.at(2).get<GridSize>();
  if (kind == "box") {
    for (std::size_t x = 0; x < 3; ++x)
      if (at[x] < a[x] || at[x] >= a[x] + b[x]) return false;
    return true;
  }
  const std::int64_t whole = b[0] * b[1] * b[2];
  std::int64_t sum = 0;
  for (std::size_t x = 0; x < 3; ++x) sum += (at[x] - a[x]) * (whole / b[x]) * (at[x] - a[x]) * (whole / b[x]);
  return sum <= whole * whole;
}

Mask mask_of(const json& size, const json& parts) {
  Mask mask = empty_mask(size.get<GridSize>());
  std::size_t i = 0;
  for (std::int64_t d = 0; d < mask.size[0]; ++d)
    for (std::int64_t h = 0; h < mask.size[1]; ++h)
      for (std::int64_t w = 0; w < mask.size[2]; ++w, ++i)
        for (const json& part : parts) mask.at[i] = (mask.at[i] != 0) != holds(part, mask, {d, h, w});
  return mask;
}

ClassCounts counts_of(const Mask& prediction, const Mask& reference) {
  ClassCounts c;
  for (std::size_t i = 0; i < prediction.at.size(); ++i) {
    c.tp += prediction.at[i] && reference.at[i], c.fp += prediction.at[i] && !reference.at[i];
    c.fn += !prediction.at[i] && reference.at[i], c.tn += !prediction.at[i] && !reference.at[i];
  }
  return c;
}

TEST(SurfaceOracle, EveryScoreOfEveryShapeAgrees) {
  const json stored = json::parse(std::ifstream(VOXSHARD_SOURCE_DIR "/tests/metrics/surface/surface_cases.json"));
  ASSERT_GE(stored.at("cases").size(), 13u);
  const LabelMetrics metrics = chosen_metrics({"vd", "rvd", "nsd", "hd", "hd95", "assd"}, overlap_metrics());
  for (const json& one : stored.at("cases"))
    for (const SurfaceConvention& convention : surface_conventions()) {
      const std::string of = one.at("name").get<std::string>() + " by " + convention.name;
      const Mask mine = mask_of(one.at("size"), one.at("prediction")),
                 truth = mask_of(one.at("size"), one.at("reference"));
      const auto spacing = one.at("spacing_mm").get<GridSpacing>();
      const ClassCounts counts = counts_of(mine, truth);
      EXPECT_EQ(json({counts.tp, counts.tp + counts.fp, counts.tp + counts.fn}), one.at("counts")) << of;
      const SurfaceDistances s = surface_distances(
          mine, truth, spacing, {.convention = &convention, .tolerance_mm = one.at("tolerance_mm").get<double>()});
      const json& want = one.at(convention.name);
      const auto near = [&](double found, const json& number) {
        EXPECT_NEAR(found, number.get<double>(), 1e-9 * (1 + std::abs(number.get<double>()))) << of;
      };
      near(s.from_prediction.weight, want.at("weights").at(0));
      near(s.from_reference.weight, want.at("weights").at(1));
      near(s.from_prediction.mean_mm(), want.at("means").at(0));
      near(s.from_reference.mean_mm(), want.at("means").at(1));
      const ComparedClass compared{.counts = counts, .voxel_mm3 = spacing[0] * spacing[1] * spacing[2], .surfaces = &s};
      for (const LabelMetric& m : metrics)
        near(m.shown.of(compared), m.of_surfaces ? want.at(m.shown.key) : one.at(m.shown.key));
    }
}

}  // namespace
}  // namespace voxshard
