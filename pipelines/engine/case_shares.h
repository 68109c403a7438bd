// Assigns each case of a data set to a rank. Rank 0 decides from the sizes; all ranks get the same assignment.
//
//   share_out({9, 1, 5, 4}, 2)                    // {0, 0, 1, 1}: 10 and 9
//   CaseShares shares = share_cases(transport, ids, [&](std::int64_t i) { return bytes_of(cases[i]); });
//   shares.mine(transport.rank())                 // indices of the cases, in their order
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/ranks/transport.h"

namespace voxshard {

/// Returns the rank of each case. Cases are assigned from the largest to the smallest, each to the rank with the
/// smallest sum so far, the lower rank on a tie. Size 0 counts as 1.
std::vector<int> share_out(const std::vector<std::int64_t>& sizes, int ranks);

struct CaseShares {
  std::vector<int> rank_of;  // by case
  std::vector<std::int64_t> mine(int rank) const;
};

/// `size` returns the size of a case. Only rank 0 calls it, and not at all when there is one rank; an Error counts as
/// 0. Errors: kInput on a rank that sees other cases than rank 0 does.
CaseShares share_cases(Transport& transport, const std::vector<std::string>& ids,
                       const std::function<std::int64_t(std::int64_t)>& size);

}  // namespace voxshard
