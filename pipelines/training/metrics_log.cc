#include "pipelines/training/metrics_log.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/json_lines.h"
#include "io/records/event_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostClassesOfEvents = 200;  // TensorBoard draws a chart for each

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

ScalarEvent event_of(const StepMetrics& m) {
  return {
      .time_s = m.time_s,
      .step = m.step,
      .values = {
          {"train/loss", m.loss}, {"train/gradient_norm", m.gradient_norm}, {"train/learning_rate", m.learning_rate}}};
}

ScalarEvent event_of(const ValidationMetrics& m) {
  const std::string tag = "validation/" + m.metric;
  ScalarEvent event{.time_s = m.time_s, .step = m.step, .values = {{tag, m.score}}};
  if (m.averaged) event.values.emplace_back(tag + "_averaged", *m.averaged);
  if (m.by_class.size() > kMostClassesOfEvents) return event;
  for (std::size_t i = 0; i < m.by_class.size(); ++i)
    event.values.emplace_back(tag + "_class_" + std::to_string(i + 1), m.by_class[i]);
  return event;
}

std::vector<fs::path> event_files(const fs::path& run) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(run, error), end; !error && it != end; it.increment(error))
    if (event_file_time(it->path().filename().string()) >= 0) files.push_back(it->path());
  return files;
}

void remove_files(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    std::error_code error;
    fs::remove(file, error);
    if (error) throw output_error(file, "it cannot be removed: " + error.message(), "check its permissions");
  }
}

void append_to(const fs::path& file, const std::string& bytes) {
  if (const int reason = append_to_file(file, bytes, false, true); reason != 0)
    throw output_error(file, std::strerror(reason), "check that the folder exists, is writable and has space");
}

/// Returns whether the line is of what the run did before it goes on, and puts its event into `event`.
bool is_kept(const nlohmann::json& line, const MetricsBegin& begin, std::string& event) {
  if (const auto validation = validation_metrics(line)) {
    event = event_record(event_of(*validation));
    return validation->step < begin.steps_done + (begin.validates_again ? 0 : 1);
  }
  const auto step = step_metrics(line);
  if (step) event = event_record(event_of(*step));
  return step && step->step <= begin.steps_done;
}

}  // namespace

MetricsLog::MetricsLog(fs::path run, const MetricsBegin& begin) : lines_(run / kMetricsName) {
  const std::vector<fs::path> earlier = event_files(run);
  double time_s = now_s();
  for (const fs::path& file : earlier)  // the new one comes after them, also where the clock was set back
    time_s = std::max(time_s, static_cast<double>(event_file_time(file.filename().string()) + 1));
  events_ = run / event_file_name(static_cast<std::int64_t>(time_s));
  if (std::error_code unseen; !fs::exists(lines_, unseen)) {
    append_to(events_, event_file_head(time_s));
    remove_files(earlier);
    return;
  }
  AtomicFile lines(lines_), events(events_);
  events.stream() << event_file_head(time_s);
  JsonLines before(lines_);
  std::string event;
  while (const auto line = before.next())
    if (is_kept(*line, begin, event)) lines.stream() << before.text() << "\n", events.stream() << event;
  lines.commit();
  events.commit();
  remove_files(earlier);
}

template <class Metrics>
void MetricsLog::append(Metrics metrics) {
  metrics.time_s = now_s();
  append_json_line(lines_, to_json(metrics));
  append_to(events_, event_record(event_of(metrics)));
}

void MetricsLog::add(StepMetrics metrics) { append(metrics); }
void MetricsLog::add(ValidationMetrics metrics) { append(std::move(metrics)); }

void MetricsLog::remove(const fs::path& run) {
  remove_files(event_files(run));
  remove_files({run / kMetricsName});
}

}  // namespace voxshard
