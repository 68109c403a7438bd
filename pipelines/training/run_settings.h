// `train --resume RUN`: a run is its own configuration. What was said to `train` is kept in RUN/run.json, and said
// again by the layer of the run.
//
//   take_settings_of_run(train);        // train.options.run: learning-rate is 4e-3 from here on, where nobody says
//   otherwise
#pragma once

#include "pipelines/training/train_settings.h"

namespace voxshard {

/// Says what RUN/run.json keeps. The data folder is replaced always; steps and epochs that are given replace each
/// other. Errors: kInput when there is no run.json; kCheckpoint when it does not keep options, or ones that there are
/// not.
void take_settings_of_run(TrainSettings& train);

/// Returns what was chosen when the run in this folder began, by RUN/run.json; no list at all when there is no run.
/// Errors: kInput, kCheckpoint when run.json is broken.
std::optional<std::vector<Choice>> choices_of_run(const std::filesystem::path& run);

}  // namespace voxshard
