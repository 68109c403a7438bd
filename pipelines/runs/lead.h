// Predictions by all ranks of a run, of which rank 0 leads: it alone lists and decodes inputs, decides what costs an
// input and what ends the batch, and writes. The others follow its words: a size to plan, a run of the core set, the
// end.
//
//   const RankWork work{.pack = labels_of_a_core};            // the same on all ranks
//   lead(session, work, process, [&] {
//     run_led(session, work, {.extents = e, .fill = fill, .take = take});   // on rank 0, any number of times
//     return std::string();
//   });
//
// In one process a led run is a run. An error before a run's word is said is rank 0's own matter; behind it, it ends
// all.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pipelines/runs/core_messages.h"
#include "pipelines/runs/trained_run.h"

namespace voxshard {

/// What each rank does for its own cores; `note` is that of the run (LedRun). What is empty is not done.
struct RankWork {
  /// Each rank fills the boxes of its cores itself; empty: rank 0 has the sample and hands the boxes out.
  std::function<void(const nlohmann::json& note, const TensorView& box)> fill = {};
  std::function<std::vector<std::byte>(const nlohmann::json& note, const CoreSet& cores, std::size_t core)> pack = {};
  /// After a run, once.
  std::function<void(const nlohmann::json& note)> done = {};
};

/// One run of a core set in its prediction phase, as rank 0 asks for it. The input is called "image".
struct LedRun {
  Shape extents;                   // N and the spatial axes
  nlohmann::json note = {};        // what the work of all ranks has to know
  FillBox fill = {};               // where RankWork has none
  std::function<void()> fed = {};  // the sample is not asked for again
  TakeCore take = {};              // what RankWork::pack gave
};

/// On rank 0, within lead(). The core set holds replicated results. Errors: kBudget, or bad_alloc, when memory for it
/// is refused on any rank, which costs this run only; Stopped, before the run, when any rank of several was asked to
/// stop (Session::set_stop); EndsBatch in the midst of it.
CoreSet& run_led(Session& session, const RankWork& work, const LedRun& run);

/// All ranks call it with the same work. Rank 0 runs `body` and says the end, or that it was stopped; the others follow
/// until then. Returns on all of them what `body` returned.
///   process    in which this rank plans
///   followed   on ranks that followed, what this took at its widest moment; may be null
/// Errors: those of `body`; Stopped on all ranks; RankFailed.
std::string lead(Session& session, const RankWork& work, const PredictingProcess& process,
                 const std::function<std::string()>& body, ProcessPlan* followed = nullptr);

/// The same for numbers, which are those of rank 0 on all ranks to the bit, and of a process that plans nothing in it.
std::vector<double> lead_numbers(Session& session, const RankWork& work,
                                 const std::function<std::vector<double>()>& body);

/// Within lead(), on rank 0: plans a prediction at every size on all ranks and logs the largest, so that what is over
/// the budget of any of them is refused before the first file. Sessions keep as many of the plans as fit.
///   sizes   N and the spatial axes
///   inputs  what the sizes are of, for the log: "12 images"
/// Errors: kBudget when no size is within the budget.
PlannedBytes plan_predictions(Session& session, const std::set<Shape>& sizes, const std::string& inputs,
                              const PredictingProcess& process, Progress& progress);

}  // namespace voxshard
