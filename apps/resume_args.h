// `train --resume RUN`: a run is its own configuration. What a user said to `train` is kept in RUN/run.json, and said
// again to the options of the command line that do not say otherwise.
//
//   t.given = given_options(app);                 // {"": ["/data/work"], "learning-rate": ["4e-3"], ...}
//   take_options_of_run(app, "run");              // --learning-rate is 4e-3 from here on
#pragma once

#include <filesystem>

#include "pipelines/training/run_train.h"

namespace CLI {
class App;
}

namespace voxshard {

/// The type name of options that are paths; what they say is kept as absolute path.
inline constexpr const char* kPathType = "PATH";
/// Of options that name a device, which may be a file.
inline constexpr const char* kDeviceType = "DEVICE";

/// What was said to `app`, but for what concerns one call only (--resume, --restart, --accept-changes, --json, --quiet, --config,
/// --threads,
/// --trace and its options, -o).
GivenOptions given_options(const CLI::App& app);

/// Says to the options of `app` that were not given what RUN/run.json keeps. The data folder is replaced always.
/// Errors: kInput when there is no run.json; kCheckpoint when it does not keep options, or ones that there are not.
void take_options_of_run(CLI::App& app, const std::filesystem::path& run);

/// What was chosen when the run in this folder began, by RUN/run.json: nothing for one that began without a recipe; no list at
/// all when there is no run. Errors: kInput, kCheckpoint when run.json is broken.
std::optional<std::vector<Choice>> choices_of_run(const std::filesystem::path& run);

}  // namespace voxshard
