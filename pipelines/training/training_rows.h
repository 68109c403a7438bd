// The rows of a training: its settings besides those of the model and the task. The command line, config files, resumed
// runs, checkpoints and `explain` all read a setting from its row, so a new setting needs only a row here and its use.
//
//   settings.add(training_rows(options));            // "steps", "learning-rate", "clip-norm", ...
//   require_in_range(training_rows(options));        // kUsage: "{clip-norm} is nan; expected a number of 0 to 1e+38"
#pragma once

#include "pipelines/training/run_train.h"

namespace voxshard {

/// Returns the rows, bound to `options`.
std::vector<Setting> training_rows(TrainOptions& options);

/// Returns the settings that determine the trajectory, by their names in checkpoints, if they are not the default:
/// {"warmup_rate": 0.001}. Those of `always` come first and are always included.
nlohmann::ordered_json deciding_json(TrainOptions& options, const std::vector<std::string>& always);
nlohmann::ordered_json json_of(const SettingValue& value);
/// Returns the name of a setting in checkpoints: "warmup-rate" -> "warmup_rate".
std::string field_of(const Setting& row);

/// Converts epochs over `cases` training cases to steps: 2 epochs of 100 cases in batches of 64 are 4 steps. Errors:
/// kUsage above the largest number of steps.
void count_epochs(TrainOptions& options, std::int64_t cases);

}  // namespace voxshard
