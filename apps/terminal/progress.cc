#include "apps/terminal/progress.h"

#include <unistd.h>

#include <cstdio>

#include "apps/terminal/flags.h"
#include "apps/terminal/screen_line.h"
#include "apps/terminal/stop_signals.h"
#include "libcore/base/plain_text.h"

namespace voxshard {

namespace {

/// Returns the code of a warning, "W_MASK", which begins it or follows a space; empty: it has none, or it costs an
/// input or an output, each of which is shown.
std::string_view code_of(std::string_view line) {
  if (line.starts_with("E_") || line.find(" E_") != std::string_view::npos || line.ends_with("[quarantined]") ||
      line.find(" W_OUTPUT ") != std::string_view::npos)
    return {};
  std::size_t at = line.starts_with("W_") ? 0 : line.find(" W_");
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + (line[at] == ' ' ? 1 : 0));
  const std::size_t end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return line.substr(0, end);
}

}  // namespace

bool WarningFold::shows(std::string_view line) {
  const std::string_view code = code_of(line);
  return code.empty() || seen_[std::string(code)]++ == 0;
}

std::vector<std::string> WarningFold::summary() {
  std::vector<std::string> lines;
  for (const auto& [code, count] : seen_)
    if (count > 1)
      lines.push_back(code + ": " + std::to_string(count - 1) + (count == 2 ? " more warning" : " more warnings") +
                      " like it; {log} FILE keeps all of them");
  seen_.clear();
  return lines;
}

std::string rate_text(const Pace& pace, std::int64_t total) {
  const auto each = pace.seconds_each();
  if (!each) return "";
  char text[48];
  if (*each <= 1)
    std::snprintf(text, sizeof text, "%.1f/s", 1 / *each);
  else
    std::snprintf(text, sizeof text, "%.1f s each", *each);
  std::string result = text;
  if (total > pace.done()) result += "  " + duration_text(static_cast<double>(total - pace.done()) * *each) + " left";
  return result;
}

TerminalProgress::TerminalProgress(Options options) : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() { finish(); }

void TerminalProgress::write_line(const std::string& line) {
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
  std::fflush(stderr);
  on_bar_line_ = terminal_;
}

void TerminalProgress::starting(std::string_view command, bool long_) {
  if (options_.quiet || (!terminal_ && !long_)) return;
  const std::lock_guard lock(mutex_);
  write_line(std::string(command) + " ...");
}

void TerminalProgress::update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) {
  if (options_.quiet) return;
  const std::lock_guard lock(mutex_);
  const bool other = stage != stage_;
  Pace& pace = paces_[std::string(stage)];
  if (done < pace.done()) {
    if (!other && done > pace.begun_at()) return;  // reports of several threads may arrive out of order
    pace = {};
  }
  if (other && on_bar_line_ && !stage_.empty()) std::fputc('\n', stderr);
  stage_ = stage;
  const double now = watch_.seconds();
  pace.update(now, done);
  const bool last = total > 0 && done >= total, begins = other && done == 0;
  const double since = last_shown_ ? now - *last_shown_ : options_.line_seconds;
  if (!last && !begins && !(terminal_ && other) && since < (terminal_ ? 0.1 : options_.line_seconds)) return;
  last_shown_ = now;
  const ProgressLine line{stage_, done, total, rate_text(pace, total), std::string(text)};
  write_line(terminal_ ? screen_line(line, terminal_columns()) : log_line(line));
}

void TerminalProgress::log(std::string_view line) {
  if (!options_.quiet) write_log(line);
}

void TerminalProgress::warn(std::string_view line) {
  if (terminal_) {
    const std::lock_guard lock(mutex_);
    if (!fold_.shows(line)) return;
  }
  write_log(line);
}

void TerminalProgress::batch_ended() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    lines = fold_.summary();
  }
  for (const std::string& line : lines) write_log(line);
}

void TerminalProgress::write_log(std::string_view line) {
  const std::string text = plain_text(with_flags(line), "\n\t");
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "%s%s\n", on_bar_line_ ? "\r\033[K" : "", text.c_str());
  on_bar_line_ = false;
}

bool TerminalProgress::stop_requested() const { return stop_signal() != 0; }

void TerminalProgress::finish() {
  const std::lock_guard lock(mutex_);
  if (on_bar_line_) std::fputs(stage_.empty() ? "\r\033[K" : "\n", stderr);
  on_bar_line_ = false;
  for (const std::string& line : fold_.summary()) std::fprintf(stderr, "%s\n", with_flags(line).c_str());
}

}  // namespace voxshard
