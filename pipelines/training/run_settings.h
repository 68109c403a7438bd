// `train --resume RUN`: a run is its own configuration. The options given to `train` are kept in RUN/run.json and set
// again, in the layer of the run.
//
//   take_settings_of_run(train);        // of train.options.run: learning-rate is 4e-3 from here on, unless it was
//   given
#pragma once

#include "pipelines/training/train_settings.h"

namespace voxshard {

/// Sets the options kept in RUN/run.json. The data folder is always taken from it; given steps replace kept epochs and
/// vice versa. Errors: kInput when there is no run.json; kCheckpoint when it holds no options, or unknown ones.
void take_settings_of_run(TrainSettings& train);

/// Returns the settings chosen automatically when the run in this folder began, from RUN/run.json; nullopt when there
/// is no run. Errors: kInput, kCheckpoint when run.json is broken.
std::optional<std::vector<Choice>> choices_of_run(const std::filesystem::path& run);

}  // namespace voxshard
