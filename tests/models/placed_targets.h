// The targets of a RetinaNet, all placed alike.
#pragma once

#include "libcore/models/box_loss.h"
#include "libcore/partition/cut.h"

namespace voxshard::test {

inline std::vector<PlacedInput> placed_targets(const InputPlacement& placement) {
  std::vector<PlacedInput> placed;
  for (const std::string& name : target_inputs({})) placed.push_back({name, placement});
  return placed;
}

}  // namespace voxshard::test
