// What must be the same on all ranks of a run, or their bytes are not those of one process: version, libraries,
// instruction set, options. Compared once, before anything else is sent.
//
//   require_alike(transport, {{"version", VOXSHARD_VERSION}, {"instruction set", isa_name()}, {"option seed", "7"}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// A name and its value; in the same order on ranks that are alike.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Whether an error of this kind is one of all ranks, whichever was the first to find it: options and plans are alike.
inline bool is_of_all_ranks(ErrorKind kind) { return kind == ErrorKind::kUsage || kind == ErrorKind::kConfig; }

/// Returns when rank 0 has found all alike. Errors: kConfig on rank 0, RankFailed on the others: which fact differs, on
/// which rank and host, and how.
void require_alike(Transport& transport, const Facts& facts);

}  // namespace voxshard
