#include "apps/terminal/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <string_view>

#include "io/files/unfinished_files.h"

namespace voxshard {
namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// The texts that the handler writes. They are complete before `announced` is set, never change afterwards and are never
// destroyed, since a signal may arrive while the program ends.
struct Words {
  std::string first, second, document_of_hup, document_of_int, document_of_term;
};
Words& words = *new Words;
bool saves = false;
std::atomic<bool> announced{false};
std::atomic<int> caught_signal{0};
std::atomic<bool> over{false}, ignored_one{false};  // work_is_over()

/// Writes without a buffer and without a lock, so that a signal handler may call it.
void write_to(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void end_at_once(int signal) {
  remove_unfinished_files();
  _exit(interrupted_exit_code(signal));
}

std::string_view document_of(int signal) {
  return signal == SIGHUP ? words.document_of_hup : signal == SIGINT ? words.document_of_int : words.document_of_term;
}

/// Writes nothing, since a write would raise the next SIGPIPE.
void on_broken_pipe(int) {
  int none = 0;
  const bool first = caught_signal.compare_exchange_strong(none, SIGPIPE);
  if (first && (!announced || !saves)) end_at_once(SIGPIPE);
}

void on_stop_signal(int signal) {
  if (over && !ignored_one.exchange(true)) return;
  const bool again = caught_signal.exchange(signal) != 0;
  if (!announced) end_at_once(signal);
  write_to(STDERR_FILENO, again ? words.second : words.first);
  if (!again && saves) return;
  if (!again) write_to(STDOUT_FILENO, document_of(signal));
  end_at_once(signal);
}

std::string document(int signal) {
  std::string text =
      "{\n  \"error\": {\n    \"kind\": \"interrupted\",\n    \"code\": \"E_STOPPED\",\n    \"message\": "
      "\"interrupted\",\n    \"exit_code\": ";
  text += std::to_string(interrupted_exit_code(signal));
  text += "\n  }\n}\n";
  return text;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_flags = SA_RESTART;
  for (const StopSignal& signal : kStopSignals) {
    struct sigaction before {};
    if (signal.may_be_ignored) sigaction(signal.number, nullptr, &before);
    if (signal.may_be_ignored && before.sa_handler == SIG_IGN) continue;
    action.sa_handler = signal.number == SIGPIPE ? on_broken_pipe : on_stop_signal;
    sigaction(signal.number, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a write then fails with EFBIG, and its error names the file
}

void on_stop(const StopNotice& notice) {
  const std::string begin = isatty(STDERR_FILENO) == 1 ? "\r\033[Kvoxshard: " : "voxshard: ";
  saves = !notice.saves.empty();
  if (!notice.quiet) {
    words.first = begin + (saves ? "stopping: " + notice.saves + " (once more: end at once)\n"
                                 : "interrupted: " + notice.leaves + "\n");
    words.second = begin + "ended at once\n";
  }
  if (notice.json) {
    words.document_of_hup = document(SIGHUP);
    words.document_of_int = document(SIGINT);
    words.document_of_term = document(SIGTERM);
  }
  announced = true;
}

void work_is_over() { over = true; }

int stop_signal() { return caught_signal; }

}  // namespace voxshard
