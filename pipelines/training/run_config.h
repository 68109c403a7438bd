// RUN/config.json: all settings that decide a run, as the config file of the same run:
//
//   voxshard train WORK {output} OTHER {config} RUN/config.json
//
// It holds what was given and what was chosen, and in place of what depends on the machine what came of it: the steps
// that fit into {time}, the planned cut, the precision. On the same processor it gives the same bytes, on another one
// the same up to rounding. Nothing is chosen again ({preset} reference). The data are not in it.
#pragma once

#include "pipelines/training/run_train.h"

namespace voxshard {

inline constexpr const char* kConfigFile = "config.json";

/// Returns {"train": {"steps": 110, "partition": "1x2x1x1x1", "learning-rate": "0.01", ...}}.
///   options  of a run whose steps and cut are fixed; `given` is not empty
nlohmann::ordered_json config_of_run(const TrainOptions& options);

}  // namespace voxshard
