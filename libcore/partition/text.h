// The text forms of a program: a summary for people, and the whole program, which parse_program() reads back:
// parse_program(whole_text(program), ops) == program.
//
//   (the graph, see graph/text.h)
//   cut replicas=1 partition=1x2x1x1          also thinnest_slab=2 recompute=norms; then "placed labels first_core"
//   value %0 cut 0:1 | 0:4 4:8 | 0:4 | 0:1    per axis the interval of each part; without a line: replicated
//   held %0 [0:1, -1:5, 0:4, 0:1] [...]       per core, where it is more than a core owns
//   exchange %0 0>1 [0:1, 3:4, 0:4, 0:1], 1>0 [...]
//   compute %2 | [0:1, 0:4, 0:4, 0:2] | [...] the blocks of each core; "compute %3 partial | ..." before its join
//   fill_margin %0        join %3        pack %2        prologue 1
#pragma once

#include <string_view>

#include "libcore/partition/program.h"

namespace voxshard {

/// The words for InputPlacement::Kind, in its order.
inline constexpr const char* kPlacementWords[] = {"cut", "replicated", "first_core", "where_divisible"};

/// Writes one line per input and per instruction: op, global type, the box of the core that holds most, the widest halo
/// below and above per axis, bytes that are exchanged.
std::string to_text(const Program& program);

/// Writes the complete program.
std::string whole_text(const Program& program);

/// Parses the text of whole_text(); verify() says whether the program is valid. Errors: kConfig names the line and what
/// is wrong.
Program parse_program(std::string_view text, const OpTable& ops);

}  // namespace voxshard
