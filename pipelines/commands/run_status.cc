#include "pipelines/commands/run_status.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "io/files/config_file.h"
#include "io/files/file_error.h"
#include "io/output/folder_lock.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/run_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the whole number at this place, which is 0 or more; none where there is another value, or nothing.
std::optional<std::int64_t> count_at(const nlohmann::json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (!json.is_object() || found == json.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();  // of a number beyond it: negative
  return value >= 0 ? std::optional(value) : std::nullopt;
}

/// Returns the seconds since a file changed; none where there is no such file.
std::optional<double> age_of(const fs::path& file) {
  std::error_code error;
  const auto changed = fs::last_write_time(file, error);
  if (error) return std::nullopt;
  return std::max(0.0, std::chrono::duration<double>(fs::file_time_type::clock::now() - changed).count());
}

/// Takes step and best score of the newest checkpoint, from the description beside it.
void read_checkpoint(StatusReport& report) {
  const auto file = newest_description(report.run / "checkpoints");
  if (!file) return;
  const nlohmann::json about = read_json(*file);
  report.checkpoint_step = count_at(about, "step");
  const auto best = about.is_object() ? about.find("best_score") : about.end();
  if (about.is_object() && best != about.end() && best->is_number() && best->get<double>() >= 0)
    report.best_score = best->get<double>();
}

void judge(StatusReport& report, const nlohmann::json& results, const FolderWriter& writer) {
  report.process = writer.process, report.command = writer.command, report.host = writer.host;
  const auto say = [&](RunState state, const char* by) { report.state = state, report.judged_by = by; };
  if (writer.lock == FolderWriter::Lock::kHeld) return say(RunState::kRunning, "lock");
  if (results.is_object()) {
    const auto interrupted = results.find("interrupted");
    const bool stopped = interrupted != results.end() && interrupted->is_boolean() && interrupted->get<bool>();
    return say(stopped ? RunState::kStopped : RunState::kFinished, "report");
  }
  const bool nobody = writer.process == 0 || writer.on_this_host;
  if (writer.lock == FolderWriter::Lock::kFree && nobody) return say(RunState::kDead, "lock");
  const bool lately = report.age_s && *report.age_s <= longest_silence_s(report.recent);
  say(lately ? RunState::kRunning : RunState::kSilent, "age");
}

std::string seconds_text(double seconds) {
  return seconds < 10 ? fixed_text(seconds, seconds < 0.1 ? 4 : 2) + " s" : duration_text(seconds);
}

std::string state_text(const StatusReport& r) {
  const std::string by_age = r.judged_by == std::string_view("age")
                                 ? ", judged by the age of its last line alone: its lock cannot be seen from here"
                                 : "";
  switch (r.state) {
    case RunState::kFinished:
      return "finished";
    case RunState::kRunning:
      return "running" + by_age;
    case RunState::kStopped:
      return "stopped, everything saved";
    case RunState::kDead:
      return r.process > 0 ? "dead: it was killed, and no process holds the folder"
                           : "dead: it ended by an error, without its results";
    case RunState::kSilent:
      return "silent" + by_age + "; it may be dead";
  }
  return "";
}

std::string validation_text(const StatusReport& r) {
  const ValidationMetrics& v = *r.recent.validation;
  std::string text = "validation " + v.metric + " " + fixed_text(v.score) + " at step " + std::to_string(v.step);
  if (v.averaged) text += ", of the averaged weights " + fixed_text(*v.averaged);
  if (r.best_score)
    text += "; best " + fixed_text(*r.best_score) + " until the checkpoint of step " +
            std::to_string(r.checkpoint_step.value_or(0));
  return text + "\n";
}

}  // namespace

const char* state_name(RunState state) {
  switch (state) {
    case RunState::kFinished:
      return "finished";
    case RunState::kRunning:
      return "running";
    case RunState::kStopped:
      return "stopped";
    case RunState::kDead:
      return "dead";
    case RunState::kSilent:
      return "silent";
  }
  return "";
}

double longest_silence_s(const RecentMetrics& recent) {
  constexpr double kLeastS = 60, kSteps = 10, kValidations = 3;  // a loaded machine, a cache of the file system
  return kLeastS + kSteps * recent.step_s + kValidations * (recent.validation ? recent.validation->seconds : 0);
}

StatusReport run_status(const fs::path& run) {
  const FolderWriter writer = folder_writer(run);  // before the files: a run that ends meanwhile is no dead one
  const auto record = read_run_record(run);
  if (!record) throw input_error(run, "holds no run: it has no run.json", "give the folder that train writes to");
  StatusReport report{.run = run};
  report.recent = read_recent_metrics(run);
  report.age_s = age_of(run / kMetricsName);
  if (!report.age_s) report.age_s = age_of(run / "run.json");
  read_checkpoint(report);
  const auto results = record->find("report");
  const nlohmann::json none;
  const nlohmann::json& ended = results != record->end() ? *results : none;
  report.steps = count_at(record->at("training"), "steps").value_or(0);
  report.ranks = std::max<std::int64_t>(1, count_at(*record, kRanks).value_or(1));
  const std::int64_t noted = report.recent.last ? report.recent.last->step : 0;
  report.step = count_at(ended, "steps").value_or(std::max(noted, report.checkpoint_step.value_or(0)));
  report.steps = std::max(report.steps, report.step);
  judge(report, ended, writer);
  return report;
}

nlohmann::ordered_json to_json(const StatusReport& r) {
  const auto optional = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json = {{"run", r.run.string()},
                                 {"state", state_name(r.state)},
                                 {"judged_by", r.judged_by},
                                 {"rank", 0},
                                 {"ranks", r.ranks},
                                 {"step", r.step},
                                 {"steps", r.steps},
                                 {"seconds_per_step", r.recent.last ? json_number(r.recent.step_s) : nullptr},
                                 {"remaining_seconds", optional(r.remaining_s())},
                                 {"last_line_seconds_ago", optional(r.age_s)},
                                 {"checkpoint_step", optional(r.checkpoint_step)},
                                 {"best_score", optional(r.best_score)},
                                 {"last", r.recent.last ? to_json(*r.recent.last) : nullptr},
                                 {"validation", r.recent.validation ? to_json(*r.recent.validation) : nullptr},
                                 {"torn_line", r.recent.torn},
                                 {"damaged_lines", r.recent.damaged}};
  if (r.process > 0) json["writer"] = {{"process", r.process}, {"host", r.host}, {"command", r.command}};
  return json;
}

std::string to_text(const StatusReport& r) {
  std::string text = r.run.string() + ": " + state_text(r) + "\n";
  text += "step " + std::to_string(r.step) + " of " + std::to_string(r.steps);
  if (r.recent.last) text += ", " + seconds_text(r.recent.step_s) + " a step";
  if (const auto left = r.remaining_s(); left && r.step < r.steps) text += ", " + duration_text(*left) + " left";
  text += r.age_s ? "; the last line is " + duration_text(*r.age_s) + " old\n" : "\n";
  if (r.recent.last)
    text += "loss " + fixed_text(r.recent.last->loss, 4) + ", learning rate " +
            significant_text(r.recent.last->learning_rate, 3) + "\n";
  text += r.recent.validation ? validation_text(r) : "no validation yet\n";
  if (r.process > 0)
    text += "written by process " + std::to_string(r.process) + (r.host.empty() ? "" : " on " + r.host) +
            (r.command.empty() ? "" : ", " + r.command) + ", rank 0 of " + std::to_string(r.ranks) + "\n";
  else
    text += "written by rank 0 of " + std::to_string(r.ranks) + "\n";
  if (r.state != RunState::kFinished && r.state != RunState::kRunning)
    text += r.checkpoint_step ? "goes on from the checkpoint of step " + std::to_string(*r.checkpoint_step) + "\n"
                              : std::string("no checkpoint yet: it goes on from step 0\n");
  if (r.recent.damaged > 0)
    text += std::to_string(r.recent.damaged) + " lines of " + kMetricsName + " are damaged and left out\n";
  return text;
}

}  // namespace voxshard
