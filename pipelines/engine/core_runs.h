// Runs a core set in all processes of a command. Rank 0 coordinates: it lists and decodes inputs, decides which error
// costs an input and which ends the batch, and writes. The other ranks take part: they plan the sizes that rank 0
// names, run their cores when it does, and end with it.
//
//   const CoreWork work{.serialise = values_of_cores<BoxCandidate>(find)};     // the same on all ranks
//   coordinate(session, work, process, [&] {
//     run_cores(session, work, {.extents = e, .fill = fill, .take = take});    // on rank 0, any number of times
//   });
//
// In one process run_cores() is a plain run. An error before the run is announced to the other ranks concerns rank 0
// alone; a later one ends all ranks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pipelines/engine/core_messages.h"
#include "pipelines/engine/model_sessions.h"
#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// Serialises the result of a core of this process. Threads: several cores at once.
using SerialiseCore =
    std::function<std::vector<std::byte>(const nlohmann::json& note, const CoreSet& cores, std::size_t core)>;

/// The functions that every process calls for its own cores in a run; `note` is CoreRun::note. Functions may be empty.
struct CoreWork {
  /// Loads the data that `fill` reads.
  std::function<void(const nlohmann::json& note, const Program& program)> load = {};
  /// Fills the box of an input of a core. Empty: rank 0 has the sample and sends the boxes.
  std::function<void(const nlohmann::json& note, const InputInfo& input, const TensorView& box)> fill = {};
  SerialiseCore serialise = {};
  /// Called once after a run.
  std::function<void(const nlohmann::json& note)> done = {};
  Phase phase = Phase::kPredict;
};

/// One run of a core set.
struct CoreRun {
  Shape extents;                   // N and the spatial axes
  nlohmann::json note = {};        // information about the run for CoreWork on all ranks
  FillBox fill = {};               // fills boxes of the input "image" where CoreWork::fill is empty
  std::function<void()> fed = {};  // called when the sample is not read again
  TakeCore take = {};              // takes the bytes that CoreWork::serialise returned for a core
  /// Takes the result of a core of rank 0 where it lies, in place of its bytes, of which no copy is then made.
  std::function<void(const CoreSet& cores, std::size_t core)> look = {};
};

/// Runs the cores of all ranks once. Rank 0 calls it within coordinate(). The returned core set holds the replicated
/// results. Errors: kBudget, or bad_alloc, when any rank is refused memory, which fails this run only; Stopped before
/// the run when any of several ranks was asked to stop (Session::set_stop); EndsBatch for an error within the run.
CoreSet& run_cores(Session& session, const CoreWork& work, const CoreRun& run);

/// Runs `body` on rank 0 while the other ranks take part in its runs, and ends on all ranks when it ends. All ranks
/// call it with the same work.
///   process  the process whose memory this rank plans with
///   most     set, on ranks other than 0, to the memory that they used at the peak; may be null
/// Errors: those of `body`; Stopped on all ranks; RankFailed.
void coordinate(Session& session, const CoreWork& work, const PredictingProcess& process,
                const std::function<void()>& body, ProcessPlan* most = nullptr);
/// The same for several models, whose sessions take turns: runs and plans name the session by its number.
void coordinate(ModelSessions& models, const CoreWork& work, const PredictingProcess& process,
                const std::function<void()>& body, ProcessPlan* most = nullptr);

/// Lets the cores of all ranks take turns at these sizes, over one cut, where they can on each; the sizes are then to
/// be planned anew. Rank 0 calls it within coordinate(). Requires: Session::may_take_turns().
void let_take_turns(Session& session, const std::set<Shape>& sizes, Phase phase);

/// Plans a run at every size on all ranks and logs the largest, so that a size over the budget of any rank is refused
/// before the first file; where the ranks may take turns (Session::set_lower_in_turns) they agree on the cut of what is
/// refused, and plan again. Rank 0 calls it within coordinate(). Sessions keep as many of the plans as fit; where none
/// does, the caller says so.
///   sizes   N and the spatial axes
///   inputs  the inputs of these sizes, for the log: "12 images"
/// Errors: Stopped.
PlannedBytes plan_runs(Session& session, const std::set<Shape>& sizes, Phase phase, const std::string& inputs,
                       const PredictingProcess& process, Progress& progress);

}  // namespace voxshard
