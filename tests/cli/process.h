// Runs the command in the background, for tests that stop it. Nothing here waits for a fixed time: it waits for the
// command's output, and fails after two minutes without any.
//
//   Process p("train work -o run --steps 1000");
//   p.read_until("train 1/1000");
//   p.send(SIGTERM);
//   EXPECT_EQ(p.wait().exit_code, 143);
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "tests/cli/run_voxshard.h"

namespace voxshard {

class Process {
 public:
  /// `columns`: standard error is a terminal of that width; 0: it is a pipe. Standard output is a file. `program`: the
  /// words that start it.
  explicit Process(const std::string& arguments, unsigned short columns = 0,
                   const std::string& program = VOXSHARD_BINARY)
      : command_(program == VOXSHARD_BINARY ? command_of(arguments) : "") {
    int ends[2];
    if (columns > 0) {
      const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
      if (::openpty(&ends[0], &ends[1], nullptr, nullptr, &size) != 0) {
        std::perror("no terminal for the test; is /dev/pts mounted?");
        std::abort();
      }
    } else if (::pipe(ends) != 0) {
      std::abort();
    }
    const std::string command = "exec " + program + " " + arguments + " >" + (streams_ / "out");
    pid_ = ::fork();
    if (pid_ == 0) {
      for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM}) std::signal(signal, SIG_DFL);
      ::setpgid(0, 0);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]), ::close(ends[1]);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    ::close(ends[1]);
    errors_ = ends[0];
  }
  ~Process() {
    if (!ended_) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(errors_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }

  /// Reads until standard error contains `text`. False when the process ended, or was silent for two minutes, without
  /// it.
  bool read_until(const std::string& text) {
    while (seen_.find(text) == std::string::npos)
      if (!read_some()) return false;
    return true;
  }

  /// Waits until the process ends; after two minutes of silence it is killed, and the exit code is 137.
  CommandResult wait() {
    while (read_some()) {
    }
    pollfd ended{.fd = errors_, .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 0) == 0) ::kill(pid_, SIGKILL);  // standard error is open and silent
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            .out = file_text(streams_ / "out"),
            .err = seen_,
            .command = command_};
  }
  const std::string& seen() const { return seen_; }
  pid_t pid() const { return pid_; }

 private:
  bool read_some() {
    constexpr int kMostSilenceMs = 120'000;
    pollfd ready{.fd = errors_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kMostSilenceMs) <= 0) return false;
    char buffer[4096];
    const ssize_t bytes = ::read(errors_, buffer, sizeof buffer);
    if (bytes <= 0) return false;  // a terminal's other end gives an error
    seen_.append(buffer, static_cast<std::size_t>(bytes));
    return true;
  }

  std::string command_;
  Folder streams_{"process"};
  pid_t pid_ = 0;
  int errors_ = -1;
  bool ended_ = false;
  std::string seen_;
};

/// True when a file whose name begins with ".tmp." lies anywhere below the folder.
inline bool has_temporary_files(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().filename().string().starts_with(".tmp.")) return true;
  return false;
}

}  // namespace voxshard
