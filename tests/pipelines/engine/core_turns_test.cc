// Cores of several ranks take turns in memory as soon as one rank must, over one cut; what no rank can do is refused.
#include <mutex>

#include "io/files/scratch_file.h"
#include "tests/pipelines/engine/counted_voxels.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

using namespace test;

/// A rank of several whose cores take turns beyond a budget, at one size.
struct TurningRank {
  static constexpr std::int64_t kSide = 48;
  TurningRank(Transport& transport, std::int64_t budget_bytes, const std::filesystem::path& folder)
      : pool(1),
        session(op_table(), lowering_of(spec, budget(budget_bytes), target(transport)), pool, &transport),
        scratch(folder) {
    session.set_lower_in_turns([this, within = budget(budget_bytes), target = target(transport)](
                                   const Shape& extents, Phase phase, const std::optional<Dims>& over) {
      return lower_in_turns(within, build_graph(spec, extents, phase, spec.precision), op_table(),
                            over ? spec.cut.over({.partition = *over}) : spec.cut, target);
    });
    session.set_scratch([this](std::int64_t bytes) { return scratch.with_room(bytes); });
    session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, spec.precision), 5);
  }
  static Budget budget(std::int64_t bytes) { return {.process_bytes = bytes, .holds_sample = false}; }
  static Target target(Transport& transport) { return {.workers = 1, .ranks = transport.place()}; }

  const ModelSpec spec = small_unet({1, 3, 1, 1, 1});
  const Shape extents{1, kSide, kSide, kSide};
  WorkerPool pool;
  Session session;
  ScratchFile scratch;
};

/// Plans a size on ranks with these budgets and runs it where it was not refused. Returns the cuts of the ranks that
/// take turns, each once, or the refusal.
std::set<std::string> turns_over(const std::vector<std::int64_t>& budgets) {
  const ScratchFolder folder;
  Mailbox mailbox(static_cast<int>(std::ssize(budgets)));
  std::mutex mutex;
  std::set<std::string> cuts;
  std::string refusal;
  run_valid_ranks(mailbox, [&](Transport& transport) {
    TurningRank rank(transport, budgets[transport.rank()], folder.path());
    NoProgress progress;
    std::optional<PlannedBytes> planned;
    coordinate(rank.session, counting(), {}, [&] {
      planned = plan_runs(rank.session, {rank.extents}, Phase::kPredict, "1 image", {}, progress);
      if (planned->refused.empty()) {
        EXPECT_EQ(counted(rank.session, rank.extents),
                  3u * TurningRank::kSide * TurningRank::kSide * TurningRank::kSide);
      }
    });
    const std::lock_guard lock(mutex);
    if (planned && !planned->refused.empty()) refusal = planned->refused.begin()->second.what();
    try {
      const PlanBytes bytes = rank.session.bytes(rank.extents, Phase::kPredict);
      cuts.insert(bytes.run.takes_turns() ? to_string(bytes.partition) : "in memory");
    } catch (const Error&) {  // a rank whose refusal rank 0 reports
    }
  });
  return refusal.empty() ? cuts : std::set{refusal};
}

TEST(CoreTurns, RanksOfWhichOneIsOverItsBudgetAllTakeTurnsOverOneCut) {
  const std::int64_t whole = [] {
    Mailbox mailbox(3);
    std::int64_t most = 0;
    run_valid_ranks(mailbox, [&](Transport& transport) {
      TurningRank rank(transport, 0, ".");
      const std::int64_t bytes = rank.session.bytes(rank.extents, Phase::kPredict).run.process();
      if (transport.rank() == 1) most = bytes;
    });
    return most;
  }();
  EXPECT_EQ(turns_over({0, 0, 0}), std::set<std::string>{"in memory"});
  for (const std::vector<std::int64_t>& budgets :
       {std::vector<std::int64_t>{0, whole * 15 / 16, 0}, {whole * 15 / 16, 0, whole}, {0, whole * 7 / 8, whole}}) {
    const std::set<std::string> cuts = turns_over(budgets);
    ASSERT_EQ(cuts.size(), 1u) << testing::PrintToString(cuts);
    ASSERT_TRUE(cuts.begin()->starts_with("1x")) << *cuts.begin();
    EXPECT_GE(partition_from_text(*cuts.begin(), 5)[1], 3) << "it is the cut that was asked for, or a finer one";
  }
  const std::set<std::string> none = turns_over({0, 1 << 10, 0});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_NE(none.begin()->find("the budget is"), std::string::npos) << *none.begin();
}

}  // namespace
}  // namespace voxshard
