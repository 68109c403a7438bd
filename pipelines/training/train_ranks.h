// Communication of the ranks of a training besides the messages of its steps: decisions of rank 0, a stop requested on
// any rank, the resources used by each. In one process each function uses the process's own value.
#pragma once

#include <functional>
#include <optional>

#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// Checks the division of cores. Errors: kConfig for fewer cores than ranks, or for {feed} per-host when the cores of a
/// replica lie on several ranks.
void require_share_of_cores(const Transport& transport, const TrainOptions& options);
/// Checks that all ranks have the same data. Errors: kConfig with a rank whose training or validation data differ from
/// those of rank 0.
///   validates   the extents of the validation cases, in their order
void require_same_data(Transport& transport, const CheckpointState& state, const std::vector<Shape>& validates);

/// Broadcasts the settings that rank 0 chooses, since they depend on its free memory.
std::vector<Choice> broadcast_choices(Transport& transport, const std::function<std::vector<Choice>()>& choose);
/// The same for the settings of an earlier run, if rank 0 finds one; on folders that are not shared, other ranks might
/// not.
std::optional<std::vector<Choice>> broadcast_known_choices(
    Transport& transport, const std::function<std::optional<std::vector<Choice>>()>& look);
/// Broadcasts the cut of the model on rank 0 to all ranks.
void broadcast_cut(Transport& transport, ModelSpec& spec);
/// Throws Stopped on all ranks once one of them was asked to stop; with several ranks it logs which one.
void throw_if_any_stopped(Transport& transport, Progress& progress);

/// Returns a sentence when the run in this folder is resumed with another number of ranks.
std::optional<std::string> ranks_change(const std::filesystem::path& run, int ranks);

}  // namespace voxshard
