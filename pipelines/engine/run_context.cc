#include "pipelines/engine/run_context.h"

#include <nlohmann/json.hpp>

#include "io/files/structured_text.h"
#include "libcore/base/budget_value.h"
#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/ranks/alike.h"
#include "libcore/ranks/texts.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {

RunContext::RunContext(Progress& progress, const RunResources& resources)
    : progress_(progress),
      resources_(resources),
      transport_(resources.transport != nullptr ? *resources.transport : alone_),
      memory_(resources.host_budget_bytes, transport_.ranks_here()),
      scratch_(resources.scratch) {
  if (resources.host_budget_bytes <= 0 || base_bytes() < resources.host_budget_bytes) return;
  throw Error(ErrorKind::kBudget, "[memory] program and libraries take " + bytes_text(base_bytes()) +
                                      " before anything is read, this process may take " +
                                      bytes_text(resources.host_budget_bytes) +
                                      "; nothing was allocated. Raise {host-memory} above " +
                                      budget_value(base_bytes()) + "; what the work takes comes on top");
}

WorkerPool& RunContext::pool() const {
  if (!pool_) pool_ = std::make_unique<WorkerPool>(threads());
  return *pool_;
}

std::unique_ptr<Session> RunContext::session(TrainedRun& run, const BesideSession& beside) const {
  const bool has_scratch = !resources_.scratch.empty(), may_take_turns = has_scratch && alone(),
             writes = this->writes();
  const auto within = [=, core_bytes = core_budget_bytes(), base = base_bytes()](std::int64_t budget_bytes) {
    return Budget{.core_bytes = core_bytes,
                  .process_bytes = left_of(left_of(budget_bytes, base), beside.bytes),
                  .holds_sample = writes,
                  .beside = beside.per_element,
                  .may_take_turns = may_take_turns,
                  .held_bytes = base + beside.bytes,
                  .caller_names = true};
  };
  auto session = prediction_session(run, within(budget_bytes()), pool(), &transport_);
  const Target target{.workers = threads(), .ranks = transport_.place()};
  session->set_lower_within([=, spec = run.spec](const Shape& extents, Phase phase, std::int64_t budget_bytes) {
    return lowering_of(spec, within(budget_bytes), target)(extents, phase);
  });
  if (has_scratch)
    session->set_lower_in_turns([=, budget = within(budget_bytes()), spec = run.spec](const Shape& extents, Phase phase,
                                                                                      const std::optional<Dims>& over) {
      const Graph graph = build_graph(spec, extents, phase, spec.precision);
      const Cut cut = over ? spec.cut.over({.partition = *over}) : spec.cut;
      if (!over && budget.core_bytes > 0)
        require_within({.core_bytes = budget.core_bytes}, graph, op_table(), cut, target);
      return lower_in_turns(budget, graph, op_table(), cut, target);
    });
  session->set_scratch([this](std::int64_t bytes) { return scratch_.with_room(bytes); });
  session->set_stop(progress_.stop_check());
  return session;
}

bool RunContext::writes() const { return transport_.rank() == 0; }

void RunContext::require_one_process(const std::string& what) const {
  if (transport_.ranks() > 1)
    throw Error(ErrorKind::kUsage, "[ranks] " + what + " works in one process; start it without mpirun");
}

nlohmann::ordered_json RunContext::broadcast(const std::function<nlohmann::ordered_json()>& own) const {
  return broadcast_json(transport_, own);
}

bool RunContext::any(bool mine) const {
  return transport_.ranks() > 1 ? transport_.all_reduce_min(mine ? 0 : 1) == 0 : mine;
}

std::unique_ptr<PartLog> RunContext::own_log(const std::filesystem::path& folder) const {
  return std::make_unique<PartLog>(folder, transport_.rank());
}

void RunContext::add_up(std::vector<std::int64_t>& counts) const {
  if (transport_.ranks() == 1) return;
  std::vector<std::int64_t> sums(counts.size(), 0);
  for (const std::string& text : gather_texts(transport_, pack_json(counts))) {
    const auto of_rank = unpack_cbor(text).get<std::vector<std::int64_t>>();
    ensure(of_rank.size() == sums.size(), "every process adds as many counts");
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_rank[i];
  }
  broadcast([&] { return nlohmann::ordered_json(sums); }).get_to(counts);
}

void RunContext::require_alike(const std::vector<std::pair<std::string, std::string>>& facts) const {
  if (transport_.ranks() > 1) voxshard::require_alike(transport_, facts);
}

nlohmann::ordered_json RunContext::gather_memory(const ProcessReport& own) const {
  return gather_reports(transport_, {{"memory", to_json(own)}});
}

}  // namespace voxshard
