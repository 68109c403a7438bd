#include "pipelines/engine/case_shares.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "io/files/content_hash.h"
#include "io/files/structured_text.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

std::int64_t size_or_zero(const std::function<std::int64_t(std::int64_t)>& size, std::int64_t i) {
  try {
    return size(i);
  } catch (const Error&) {  // the rank that gets the case reports the error
    return 0;
  }
}

}  // namespace

std::vector<int> share_out(const std::vector<std::int64_t>& sizes, int ranks) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<double> held(static_cast<std::size_t>(ranks), 0);  // sums beyond 2^63 do not matter
  std::vector<int> rank_of(sizes.size(), 0);
  for (std::size_t i : order) {
    const auto least = std::min_element(held.begin(), held.end());
    rank_of[i] = static_cast<int>(least - held.begin());
    *least += static_cast<double>(std::max<std::int64_t>(1, sizes[i]));
  }
  return rank_of;
}

std::vector<std::int64_t> CaseShares::mine(int rank) const {
  std::vector<std::int64_t> cases;
  for (std::size_t i = 0; i < rank_of.size(); ++i)
    if (rank_of[i] == rank) cases.push_back(static_cast<std::int64_t>(i));
  return cases;
}

CaseShares share_cases(Transport& transport, const std::vector<std::string>& ids,
                       const std::function<std::int64_t(std::int64_t)>& size) {
  CaseShares shares{.rank_of = std::vector<int>(ids.size(), 0)};
  if (transport.ranks() == 1) return shares;
  const std::string seen = content_hash(pack_texts(ids));
  nlohmann::json said;
  if (transport.rank() == 0) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < ids.size(); ++i) sizes.push_back(size_or_zero(size, static_cast<std::int64_t>(i)));
    said = {{"cases", seen}, {"ranks", share_out(sizes, transport.ranks())}};
  }
  said = unpack_cbor(broadcast_text(transport, pack_json(said)));
  if (said.at("cases") != seen)
    throw Error(ErrorKind::kInput, "[ranks] this rank sees other cases than rank 0 (here " +
                                       std::to_string(ids.size()) +
                                       "); give data that all hosts see at the same place, "
                                       "and that nobody changes meanwhile");
  shares.rank_of = said.at("ranks").get<std::vector<int>>();
  return shares;
}

}  // namespace voxshard
