// Checks that all ranks of a run agree on version, libraries, instruction set and options. Otherwise their bytes would
// differ from those of a run in one process. The facts are compared once, before anything else is sent.
//
//   require_alike(transport, {{"version", VOXSHARD_VERSION}, {"instruction set", isa_name()}, {"option seed", "7"}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// Names and values, in the same order on all ranks.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// True when an error of this kind concerns all ranks, whichever found it first, because options and plans are the
/// same.
inline bool is_of_all_ranks(ErrorKind kind) { return kind == ErrorKind::kUsage || kind == ErrorKind::kConfig; }

/// Returns when rank 0 has found the facts of all ranks equal. Errors: kConfig on rank 0, RankFailed on the others; the
/// text names the fact that differs, the rank and host, and both values.
void require_alike(Transport& transport, const Facts& facts);

}  // namespace voxshard
