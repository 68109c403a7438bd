// Training on a data set that is not prepared yet: `train` prepares it with the defaults of `prepare`, as the two
// commands would, into a folder beside the run that later runs use again.
//
//   train data -o runs/a        ->   runs/data_prepared, then runs/a
//   train data -o runs/b        ->   runs/data_prepared is compared with data by content and kept
#pragma once

#include <optional>

#include "pipelines/tasks/task.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// Returns the folder beside the run in which a data set is prepared.
std::filesystem::path prepared_folder_of(const std::filesystem::path& data, const std::filesystem::path& run);

/// Prepares options.work where it is a data set that the task prepares without being told more, and puts the prepared
/// folder in its place; all ranks call it. Cases that are prepared already, from files of the same content and with the
/// same options, are kept. None: options.work is taken as it is. Errors: those of Task::prepare(); Stopped, after which
/// the same command goes on.
std::optional<PreparedFirst> prepare_first(TrainOptions& options, const Task& task, const RunResources& resources,
                                           Progress& progress);

}  // namespace voxshard
