#include "apps/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "apps/flags.h"

namespace voxshard {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

void on_stop_signal(int signal) {
  if (caught_signal != 0) _exit(128 + signal);
  caught_signal = signal;
}

std::string bar(std::int64_t done, std::int64_t total) {
  constexpr int kWidth = 24;
  const int filled =
      static_cast<int>(kWidth * std::clamp(done, std::int64_t{0}, total) / std::max(total, std::int64_t{1}));
  return "[" + std::string(filled, '=') + (filled < kWidth ? ">" : "") +
         std::string(std::max(0, kWidth - filled - 1), ' ') + "]";
}

}  // namespace

void catch_stop_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

int stop_signal() { return caught_signal; }

TerminalProgress::TerminalProgress(Options options) : options_(options), terminal_(isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() { finish(); }

void TerminalProgress::start_stage(std::string_view stage, std::int64_t done) {
  if (on_bar_line_) std::fputc('\n', stderr);
  on_bar_line_ = false;
  stage_ = stage;
  since_start_ = since_shown_ = {};
  first_done_ = most_done_ = std::max(done - 1, std::int64_t{0});
}

std::string TerminalProgress::rate_text(std::int64_t done, std::int64_t total) const {
  const double seconds = since_start_.seconds();
  const auto pieces = static_cast<double>(done - first_done_);
  if (pieces <= 0 || seconds < 0.2) return "";
  const double rate = pieces / seconds;
  char text[48];
  if (rate >= 1)
    std::snprintf(text, sizeof text, "  %.1f/s", rate);
  else
    std::snprintf(text, sizeof text, "  %.1f s each", 1 / rate);
  std::string result = text;
  if (total > done) result += "  " + duration_text(static_cast<double>(total - done) / rate) + " left";
  return result;
}

void TerminalProgress::update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) {
  if (options_.quiet) return;
  const std::lock_guard lock(mutex_);
  if (stage != stage_) start_stage(stage, done);
  if (done < most_done_) return;
  most_done_ = done;
  const bool last = total > 0 && done >= total;
  if (!last && since_shown_.seconds() < (terminal_ ? 0.1 : options_.line_seconds)) return;
  since_shown_ = {};
  const std::string count = total > 0 ? std::to_string(done) + "/" + std::to_string(total) : std::to_string(done);
  std::string line =
      stage_ + " " + (terminal_ && total > 0 ? bar(done, total) + " " : "") + count + rate_text(done, total);
  if (!text.empty()) line += "  " + std::string(text);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    on_bar_line_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

void TerminalProgress::log(std::string_view line) {
  if (options_.quiet) return;
  const std::string text = with_flags(line);
  const std::lock_guard lock(mutex_);
  std::fprintf(stderr, "%s%s\n", on_bar_line_ ? "\r\033[K" : "", text.c_str());
  on_bar_line_ = false;
}

bool TerminalProgress::stop_requested() const { return stop_signal() != 0; }

void TerminalProgress::finish() {
  const std::lock_guard lock(mutex_);
  if (on_bar_line_) std::fputc('\n', stderr);
  on_bar_line_ = false;
}

}  // namespace voxshard
