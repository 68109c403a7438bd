// Dice of a model on whole prepared volumes, for validation while it trains.
#pragma once

#include "libcore/runtime/session.h"
#include "pipelines/runs/report.h"
#include "pipelines/tasks/segmentation/prepared_dataset.h"

namespace voxshard {

/// Mean Dice per class but the background over `cases` (NaN where a class is in none of them), on the prepared grid.
std::vector<double> validation_dice(Session& session, const PreparedDataset& dataset,
                                    const std::vector<std::size_t>& cases, std::int64_t multiple, Progress& progress);

}  // namespace voxshard
