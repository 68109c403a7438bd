// The smallest faults that `verify` must find, as a table: which op each can be planted in, and the damage.
//
//   for (const Fault& fault : faults())
//     if (const std::optional<Damage> damage = fault.damage(use)) ...
#pragma once

#include <optional>
#include <span>

#include "libcore/graph/op_def.h"
#include "tests/check/faults/damaged_kernel.h"

namespace voxshard::test {

/// Where a fault is planted: one op with its types, all of it global.
struct FaultPlace {
  const OpDef& def;
  const OpContext& op;
};

struct Fault {
  const char* name;
  /// Absent where the op cannot have this fault: no taps, an axis too short for a tile.
  std::optional<Damage> (*damage)(const FaultPlace& place);
  bool scales = false;  // it multiplies what is there
};

std::span<const Fault> faults();
const Fault& fault_named(std::string_view name);

}  // namespace voxshard::test
