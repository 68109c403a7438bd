#include "libcore/partition/cut.h"

#include <algorithm>

namespace voxshard {

const InputPlacement* Cut::placement_of(const std::string& input) const {
  const auto placed = std::find_if(inputs.begin(), inputs.end(), [&](const PlacedInput& p) { return p.name == input; });
  return placed == inputs.end() ? nullptr : &placed->placement;
}

Cut Cut::over(const Mesh& other) const {
  Cut cut = *this;
  cut.mesh = other;
  if (other.partition == mesh.partition) return cut;
  std::erase_if(cut.inputs, [](const PlacedInput& p) { return !p.placement.grid.empty(); });
  return cut;
}

}  // namespace voxshard
