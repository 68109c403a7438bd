// The rows of a training: a user may say these settings beyond those of the model and the task. A row is all that the
// command line, config files, runs that go on, checkpoints and `explain` know of a setting: a new one is its row here
// and its use.
//
//   settings.add(training_rows(options));            // "steps", "learning-rate", "clip-norm", ...
//   require_in_range(training_rows(options));        // kUsage: "{clip-norm} is nan; expected a number of 0 to 1e+38"
#pragma once

#include "pipelines/training/run_train.h"

namespace voxshard {

/// Bound to `options`.
std::vector<Setting> training_rows(TrainOptions& options);

/// Returns the settings that decide the trajectory, by their names in checkpoints, where they are not the default:
/// {"warmup_rate": 0.001}. Those of `always` come first and in any case.
nlohmann::ordered_json deciding_json(TrainOptions& options, const std::vector<std::string>& always);
nlohmann::ordered_json json_of(const SettingValue& value);
/// "warmup-rate" -> "warmup_rate", the name in checkpoints.
std::string field_of(const Setting& row);

/// Makes steps of what is said in passes over so many training cases: 2 epochs of 100 cases in batches of 64 are 4
/// steps. Errors: kUsage for more steps than there may be.
void count_epochs(TrainOptions& options, std::int64_t cases);

}  // namespace voxshard
