// A training by a weighted sum of losses: its loss and gradients are that sum of those of each loss alone.
#pragma once

#include <gtest/gtest.h>

#include "tests/runtime/rank_scene.h"

namespace voxshard::test {

/// A training by the loss with that name.
inline RankScene by_loss(const std::string& loss, const SceneOptions& o) {
  RankScene scene = unet_scene(o);
  scene.build = [o, loss] {
    Graph graph = scene_graph(o, o.extents, true);
    graph.outputs["loss"] = graph.find(loss);
    return graph;
  };
  return scene;
}

/// Expects that one step by the loss of the graph has the loss and the gradients of the weighted losses together.
///   losses  name in the graph -> weight
inline void expect_weighted_sum(const SceneOptions& o, const std::map<std::string, double>& losses) {
  const RankOutcome all = train_as_rank(unet_scene(o), nullptr, 1);
  double loss = 0;
  std::map<std::string, std::vector<double>> sums, sizes;
  for (const auto& [name, weight] : losses) {
    const RankOutcome one = train_as_rank(by_loss(name, o), nullptr, 1);
    EXPECT_GT(one.losses[0], 0) << name;
    loss += weight * one.losses[0];
    for (const auto& [parameter, gradient] : one.gradients) {
      auto& sum = sums[parameter];
      auto& size = sizes[parameter];
      sum.resize(gradient.count()), size.resize(sum.size());
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const double term = weight * gradient.as<const float>()[i];
        sum[i] += term, size[i] += std::abs(term);
      }
    }
  }
  EXPECT_NEAR(all.losses[0], loss, 1e-12 * loss);  // f64 sums of equal values
  ASSERT_EQ(sums.size(), all.gradients.size());
  for (const auto& [parameter, gradient] : all.gradients) {
    // Both are f32 sums over voxels of terms whose largest is about the largest gradient: the bound is that of a sum
    // as long as the voxels, on the scale of the layer.
    const double largest = *std::ranges::max_element(sizes.at(parameter));
    for (std::int64_t i = 0; i < gradient.count(); ++i)
      ASSERT_NEAR(gradient.as<const float>()[i], sums.at(parameter)[i],
                  0x1p-24 * static_cast<double>(element_count(o.extents)) * largest + 1e-7)
          << parameter << " " << i;
  }
}

}  // namespace voxshard::test
