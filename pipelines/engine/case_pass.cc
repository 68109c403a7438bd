#include "pipelines/engine/case_pass.h"

#include <atomic>
#include <nlohmann/json.hpp>

#include "io/files/structured_text.h"
#include "libcore/base/parallel.h"
#include "libcore/ranks/texts.h"
#include "pipelines/engine/case_shares.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {

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
    const std::int64_t i = mine[static_cast<std::size_t>(k)];
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
