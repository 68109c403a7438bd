#include "pipelines/engine/case_pass.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <numeric>

#include "io/files/content_hash.h"
#include "io/files/structured_text.h"
#include "libcore/base/parallel.h"
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

using Json = nlohmann::ordered_json;

std::vector<char> CasePass::run(const CaseTurn& turn) {
  Progress& progress = context_.progress();
  Transport& transport = context_.transport();
  const auto size = [&](std::int64_t i) { return turn.size ? turn.size(i) : std::int64_t{1}; };
  const std::vector<std::int64_t> mine = share_cases(transport, ids_, size).mine(transport.rank());
  Outcome outcome{.good = std::vector<char>(ids_.size(), 0), .failures = {}};
  outcome.failures.resize(ids_.size());
  std::atomic<std::int64_t> done{0};
  const auto total = static_cast<std::int64_t>(mine.size());
  progress.update(stage_, 0, total, "");
  context_.pool().run(total, [&](std::int64_t k, int) {
    const std::int64_t i = mine[k];
    const auto at = static_cast<std::size_t>(i);
    try {
      throw_if_stopped(progress);
      outcome.good[at] = in_case_boundary(ids_[at], outcome.failures[at], [&] {
        const auto hold = gate_.enter(turn.need(i));
        throw_if_stopped(progress);
        turn.body(i);
      });
    } catch (const Stopped&) {  // the next run processes the case
      return;
    }
    progress.update(stage_, ++done, total, ids_[at]);
  });
  stopped_ = progress.stop_requested();
  if (transport.ranks() > 1) join(mine, turn, outcome);
  for (auto& list : outcome.failures)
    for (auto& f : list) {
      if (mark_ != nullptr) progress.warn("case " + f.id + ": " + f.code + " " + f.message + mark_);
      failures_.push_back(std::move(f));
    }
  return std::move(outcome.good);
}

void CasePass::join(const std::vector<std::int64_t>& mine, const CaseTurn& turn, Outcome& outcome) {
  Transport& transport = context_.transport();
  Json own = {{"stopped", stopped_}, {"cases", Json::array()}};
  for (const std::int64_t i : mine) {
    const auto at = static_cast<std::size_t>(i);
    own["cases"].push_back({i, transport.rank(), outcome.good[at] != 0, to_json(outcome.failures[at]),
                            turn.value ? turn.value(i) : Json()});
  }
  Json all = {{"stopped", false}, {"cases", Json::array()}};
  for (const std::string& text : gather_texts(transport, pack_json(own))) {
    Json theirs = unpack_cbor(text);
    all["stopped"] = all["stopped"].get<bool>() || theirs.at("stopped").get<bool>();
    for (Json& one : theirs.at("cases")) all["cases"].push_back(std::move(one));
  }
  all = unpack_cbor(broadcast_text(transport, pack_json(all)));
  stopped_ = all.at("stopped").get<bool>();
  for (const Json& one : all.at("cases")) {
    const auto i = one.at(0).get<std::int64_t>();
    const auto at = static_cast<std::size_t>(i);
    if (one.at(1).get<int>() == transport.rank()) continue;
    ensure(at < ids_.size(), "ranks report cases that exist");
    outcome.good[at] = one.at(2).get<bool>();
    outcome.failures[at] = failures_from_json(one.at(3));
    if (turn.take) turn.take(i, one.at(4));
  }
}

}  // namespace voxshard
