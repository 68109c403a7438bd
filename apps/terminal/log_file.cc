#include "apps/terminal/log_file.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/terminal/flags.h"
#include "io/files/json_lines.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the time now as "2026-11-25T01:30:02.114Z".
std::string now_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(ms % 1000));
  return text;
}

Json line_text(std::string_view line) { return plain_text(with_flags(line)); }

}  // namespace

LogFile::LogFile(std::filesystem::path file, Progress& shown, const std::string& command)
    : file_(std::move(file)), shown_(shown) {
  append_json_line(file_,
                   {{"time", now_text()}, {"event", "start"}, {"command", command}, {"version", VOXSHARD_VERSION}});
}

void LogFile::write(const char* event, const Json& about) {
  Json line = {{"time", now_text()}, {"event", event}};
  line.update(about);
  bool failed = false;
  {
    const std::lock_guard lock(mutex_);
    if (fails_) return;
    try {
      append_json_line(file_, line);
    } catch (const Error& e) {
      fails_ = failed = true;
    }
  }
  if (failed) shown_.warn("the file of {log} cannot be written any more; the command goes on without it");
}

void LogFile::update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) {
  shown_.update(stage, done, total, text);
  {
    const std::lock_guard lock(mutex_);
    const double now = watch_.seconds();
    const bool last = total > 0 && done >= total;
    if (stage == stage_ && !last && now - last_s_ < kLine_s) return;
    stage_ = stage, last_s_ = now;
  }
  write("progress", {{"stage", stage}, {"done", done}, {"total", total}, {"text", line_text(text)}});
}

void LogFile::log(std::string_view line) {
  shown_.log(line);
  write("log", {{"text", line_text(line)}});
}

void LogFile::warn(std::string_view line) {
  shown_.warn(line);
  write("warn", {{"text", line_text(line)}});
}

void LogFile::end(int exit_code) { write("end", {{"exit_code", exit_code}, {"seconds", watch_.seconds()}}); }

void LogFile::error(const std::string& code, std::string_view text, int exit_code) {
  write("error", {{"code", code}, {"text", line_text(text)}, {"exit_code", exit_code}, {"seconds", watch_.seconds()}});
}

}  // namespace voxshard
