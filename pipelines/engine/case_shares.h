// Which rank takes which case of a data set: decided by rank 0 from sizes, the same on all.
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

/// The rank of each case: the largest first, each to the rank that has least so far, of equal ones the lower. A case of
/// size 0 counts as one of 1.
std::vector<int> share_out(const std::vector<std::int64_t>& sizes, int ranks);

struct CaseShares {
  std::vector<int> rank_of;  // by case
  std::vector<std::int64_t> mine(int rank) const;
};

/// `size`: of a case, asked on rank 0 alone; an Error counts as 0. Not asked of one rank. Errors: kInput on a rank that
/// sees other cases than rank 0 does.
CaseShares share_cases(Transport& transport, const std::vector<std::string>& ids,
                       const std::function<std::int64_t(std::int64_t)>& size);

}  // namespace voxshard
