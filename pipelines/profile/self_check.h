// Checks, for `voxshard doctor`, that the kernels of the table of convolutions agree with the reference on this
// processor. A run makes the same check for each row that it uses (conv_is_trusted).
//
//   SelfCheck check = self_check(conv_rows(), conv_is_trusted);
//   check.differ        // {"amx weight gradient"}: not used
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/kernels/conv_table.h"

namespace voxshard {

/// Rows by name, "winograd4 forward".
struct SelfCheck {
  std::vector<std::string> agree, differ;
  std::vector<std::string> absent;  // the instruction set in use has no code for them
};

/// Calls `agrees` for each row that runs here, except the reference.   Cost: small convolutions of every code path of a
/// row by the reference, 0.1 to 0.2 s per row.
SelfCheck self_check(std::span<const ConvRow> rows, bool (*agrees)(const ConvRow& row));

/// "14 kernels compute small cases as the reference does; not in avx2: amx forward": for people.
std::string text_of(const SelfCheck& check);

}  // namespace voxshard
