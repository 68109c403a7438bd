#include "pipelines/model_runs/run_metrics.h"

#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "io/files/json_lines.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {
namespace {

constexpr std::int64_t kReadBytes = std::int64_t{4} << 20;
constexpr std::size_t kPaceSteps = 50;  // short enough to follow a machine that becomes slower

/// Reads a number, or null as NaN; false for anything else.
bool read_number(const nlohmann::json& line, const char* key, double& value) {
  const auto found = line.find(key);
  if (found == line.end() || !(found->is_number() || found->is_null())) return false;
  value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->get<double>();
  return true;
}

/// Reads a duration, or a time since 1970; false for anything else.
bool read_seconds(const nlohmann::json& line, const char* key, double& value) {
  constexpr double kMost = 1e11;  // sums and products of such numbers stay finite
  return read_number(line, key, value) && value >= 0 && value <= kMost;
}

bool read_step(const nlohmann::json& line, std::int64_t& step) {
  const auto found = line.find("step");
  if (found == line.end() || !found->is_number_integer()) return false;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return false;
  step = found->get<std::int64_t>();
  return step > 0;
}

}  // namespace

nlohmann::ordered_json to_json(const StepMetrics& m) {
  return {{"step", m.step},
          {"loss", json_number(m.loss)},
          {"gradient_norm", json_number(m.gradient_norm)},
          {"learning_rate", json_number(m.learning_rate)},
          {"seconds", m.seconds},
          {"time", m.time_s}};
}

nlohmann::ordered_json to_json(const ValidationMetrics& m) {
  nlohmann::ordered_json by_class = nlohmann::ordered_json::array();
  for (const double score : m.by_class) by_class.push_back(json_number(score));
  nlohmann::ordered_json line = {
      {"step", m.step}, {"validation", m.metric}, {"score", json_number(m.score)}, {"by_class", by_class}};
  if (m.averaged) line["averaged"] = json_number(*m.averaged);
  line["seconds"] = m.seconds, line["time"] = m.time_s;
  return line;
}

std::optional<StepMetrics> step_metrics(const nlohmann::json& line) {
  StepMetrics m;
  const bool whole = read_step(line, m.step) && read_number(line, "loss", m.loss) &&
                     read_number(line, "gradient_norm", m.gradient_norm) &&
                     read_number(line, "learning_rate", m.learning_rate) && read_seconds(line, "seconds", m.seconds) &&
                     read_seconds(line, "time", m.time_s);
  return whole ? std::optional(m) : std::nullopt;
}

std::optional<ValidationMetrics> validation_metrics(const nlohmann::json& line) {
  ValidationMetrics m;
  constexpr std::size_t kMostNameBytes = 64;
  const auto metric = line.find("validation"), by_class = line.find("by_class");
  if (metric == line.end() || !metric->is_string() || by_class == line.end() || !by_class->is_array())
    return std::nullopt;
  m.metric = metric->get<std::string>();
  if (m.metric.size() > kMostNameBytes) return std::nullopt;
  for (const nlohmann::json& score : *by_class) {
    if (!score.is_number() && !score.is_null()) return std::nullopt;
    m.by_class.push_back(score.is_null() ? std::numeric_limits<double>::quiet_NaN() : score.get<double>());
  }
  if (double averaged = 0; line.contains("averaged")) {
    if (!read_number(line, "averaged", averaged)) return std::nullopt;
    m.averaged = averaged;
  }
  const bool whole = read_step(line, m.step) && read_number(line, "score", m.score) &&
                     read_seconds(line, "seconds", m.seconds) && read_seconds(line, "time", m.time_s);
  return whole ? std::optional(std::move(m)) : std::nullopt;
}

std::optional<double> RecentMetrics::seconds_of(std::int64_t steps) const {
  if (!last) return std::nullopt;
  return static_cast<double>(steps) * (step_s + validation_s);
}

RecentMetrics read_recent_metrics(const std::filesystem::path& run) {
  const std::filesystem::path file = run / kMetricsName;
  RecentMetrics recent;
  if (std::error_code unseen; !std::filesystem::exists(file, unseen)) return recent;
  JsonLines lines(file, {.last_bytes = kReadBytes});
  std::deque<double> pace;
  std::int64_t steps = 0, others = 0;
  while (const auto line = lines.next()) {
    if (auto validation = validation_metrics(*line)) {
      recent.validation_s += validation->seconds;
      recent.validation = std::move(validation);
    } else if (const auto step = step_metrics(*line)) {
      recent.last = step, ++steps;
      pace.push_back(step->seconds);
      if (pace.size() > kPaceSteps) pace.pop_front();
    } else {
      ++others;
    }
  }
  recent.damaged = lines.damaged() + others, recent.torn = lines.torn();
  if (steps == 0) return recent;
  recent.validation_s /= static_cast<double>(steps);
  recent.step_s = std::accumulate(pace.begin(), pace.end(), 0.0) / static_cast<double>(pace.size());
  return recent;
}

}  // namespace voxshard
