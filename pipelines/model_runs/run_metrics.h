// RUN/metrics.jsonl: what a training measured, one JSON object a line, written as it happens: a line for each step and
// one for each validation. `status` and other programs read it while the training runs; TensorBoard's event file beside
// it has the same numbers.
//
//   {"step":6,"loss":2.23,"gradient_norm":1.05,"learning_rate":0.0053,"seconds":0.007,"time":1764060286.12}
//   {"step":6,"validation":"dice","score":0.153,"by_class":[0.4,null],"seconds":0.02,"time":1764060286.14}
//
// A run that goes on truncates it to the step of its checkpoint, so that the same run has the same lines, but for
// "seconds" and "time".
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace voxshard {

inline constexpr const char* kMetricsName = "metrics.jsonl";

struct StepMetrics {
  std::int64_t step = 0;  // steps done
  double loss = 0, gradient_norm = 0, learning_rate = 0;
  double seconds = 0;  // that the step took
  double time_s = 0;   // when it was done, since 1970, by the clock of the machine
};

struct ValidationMetrics {
  std::int64_t step = 0;                // steps done before it
  std::string metric;                   // "dice"
  double score = 0;                     // of the weights after that step
  std::vector<double> by_class;         // without a background; NaN where the samples have none
  std::optional<double> averaged = {};  // the score of the averaged weights, where the run keeps an average
  double seconds = 0, time_s = 0;       // as of a step
};

/// Numbers that are not finite become null.
nlohmann::ordered_json to_json(const StepMetrics& metrics);
nlohmann::ordered_json to_json(const ValidationMetrics& metrics);
/// Return the numbers of a line; none when it is of the other kind, or of neither. Null becomes NaN.
std::optional<StepMetrics> step_metrics(const nlohmann::json& line);
std::optional<ValidationMetrics> validation_metrics(const nlohmann::json& line);

/// The end of a run's metrics.
struct RecentMetrics {
  std::optional<StepMetrics> last;              // the last step
  std::optional<ValidationMetrics> validation;  // the last one
  double step_s = 0;                            // mean of the last steps, at most 50; 0: there are none
  double validation_s = 0;                      // seconds of validation for each step, over all that was read
  std::int64_t damaged = 0;                     // lines that are neither
  bool torn = false;                            // the last line is not whole, as after a kill, or while it is written

  /// Returns the time that `steps` more of them take, validations included; none where nothing is known.
  std::optional<double> seconds_of(std::int64_t steps) const;
};

/// Reads the last 4 MiB, some 20,000 steps, of a run's metrics.jsonl, up to the last whole line; empty when there is no
/// such file. Errors: kInput when it cannot be read, or is another file.
RecentMetrics read_recent_metrics(const std::filesystem::path& run);

}  // namespace voxshard
