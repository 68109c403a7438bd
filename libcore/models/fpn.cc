#include "libcore/models/fpn.h"

namespace voxshard {

std::vector<ValueId> feature_pyramid(Layers& layers, const std::vector<ValueId>& features, std::int64_t filters) {
  const std::size_t backbone_levels = features.size();
  auto name_of = [](const char* part, std::size_t i) {
    return std::string("fpn/") + part + std::to_string(kFirstLevel + static_cast<int>(i));
  };
  constexpr auto kCount = static_cast<std::size_t>(kLevels);
  std::vector<ValueId> levels(kCount);
  for (std::size_t i = backbone_levels; i-- > 0;) {
    const ValueId lateral = layers.conv(features[i], {.name = name_of("lateral", i), .filters = filters, .kernel = 1});
    if (i + 1 == backbone_levels) {
      levels[i] = lateral;
      continue;
    }
    const ValueId up = layers.upsample(levels[i + 1], lateral, name_of("up", i));
    levels[i] = layers.add(up, lateral, name_of("sum", i));
  }
  for (std::size_t i = 0; i < backbone_levels; ++i)
    levels[i] = layers.conv(levels[i], {.name = name_of("p", i), .filters = filters});
  for (std::size_t i = backbone_levels; i < kCount; ++i) {
    const ValueId from = i > backbone_levels ? layers.activation(levels[i - 1], name_of("p", i - 1)) : levels[i - 1];
    levels[i] = layers.conv(from, {.name = name_of("p", i), .filters = filters, .stride = 2});
  }
  for (std::size_t i = 0; i < kCount; ++i)
    levels[i] = layers.norm_activation(levels[i], name_of("p", i), {.slope = 1.0});
  return levels;
}

}  // namespace voxshard
