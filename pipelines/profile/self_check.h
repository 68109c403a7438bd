// Whether the kernels of the table of convolutions compute on this processor what the reference does: asked by
// `voxshard doctor`. A run asks the same of each row that it uses (conv_is_trusted).
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
  std::vector<std::string> absent;  // the instruction set in force has no code for them
};

/// Asks `agrees` of each row but the reference that runs here.   Cost: small convolutions of every code path of a
/// row by the reference, one to two tenths of a second per row.
SelfCheck self_check(std::span<const ConvRow> rows, bool (*agrees)(const ConvRow& row));

/// "14 kernels compute small cases as the reference does; not in avx2: amx forward": for people.
std::string text_of(const SelfCheck& check);

}  // namespace voxshard
