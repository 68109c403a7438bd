// The table of the smallest faults that `verify` must find: the ops in which each can be planted, and the damage.
//
//   for (const Fault& fault : faults())
//     if (const std::optional<Damage> damage = fault.damage(use)) ...
#pragma once

#include <optional>
#include <span>

#include "libcore/graph/op_def.h"
#include "tests/check/faults/damaged_kernel.h"

namespace voxshard::test {

/// The place of a fault: one op with its types, in global shapes.
struct FaultPlace {
  const OpDef& def;
  const OpContext& op;
};

struct Fault {
  const char* name;
  /// Returns nothing where the op cannot have this fault: no taps, or an axis too short for a tile.
  std::optional<Damage> (*damage)(const FaultPlace& place);
  bool scales = false;  // the fault multiplies the values
};

std::span<const Fault> faults();
const Fault& fault_named(std::string_view name);

}  // namespace voxshard::test
