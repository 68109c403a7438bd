// What the ranks of a training say to each other beside the messages of its steps: decisions of rank 0, a stop that any
// of them was asked for, what each of them took. In one process each of these is what it says of itself.
#pragma once

#include <functional>
#include <optional>

#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// The key of run.json with the number of ranks; without it there was one.
inline constexpr const char* kRanks = "ranks";

/// Errors: kConfig for fewer cores than ranks, or for {feed} per-host when the cores of a replica lie on several of
/// them.
void require_share_of_cores(const Transport& transport, const TrainOptions& options);
/// Errors: kConfig names a rank whose data are not those of rank 0: what trains or what validates.
///   validates   the extents of the cases that validate, in their order
void require_same_data(Transport& transport, const CheckpointState& state, const std::vector<Shape>& validates);

/// The settings that rank 0 chooses: they depend on the memory that is free there.
std::vector<Choice> broadcast_choices(Transport& transport, const std::function<std::vector<Choice>()>& choose);
/// The same of an earlier run's, where rank 0 sees one: folders that are not shared may look otherwise elsewhere.
std::optional<std::vector<Choice>> broadcast_known_choices(
    Transport& transport, const std::function<std::optional<std::vector<Choice>>()>& look);
/// How rank 0 cuts the model.
void take_cut_of_first(Transport& transport, ModelSpec& spec);
/// Errors: Stopped on all ranks once one of them was asked to stop; of several, it logs which.
void throw_if_any_stopped(Transport& transport, Progress& progress);

/// That another number of ranks goes on with the run in this folder, in a sentence.
std::optional<std::string> ranks_change(const std::filesystem::path& run, int ranks);

}  // namespace voxshard
