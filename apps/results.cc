#include "apps/results.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "apps/terminal/exit_code.h"
#include "apps/terminal/flags.h"
#include "apps/terminal/shell.h"
#include "apps/terminal/stop_signals.h"
#include "apps/words/short_help.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "libcore/ranks/mpi.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// True once something was printed on standard output: a program prints one document.
bool has_printed = false;

/// Prints `text`; returns false when the reader is gone (SIGPIPE). Errors: kOutput.
bool print(const std::string& text) {
  work_is_over();
  has_printed = true;
  errno = 0;
  std::cout << text << std::flush;
  if (!std::cout && stop_signal() == SIGPIPE) return false;
  if (!std::cout)
    throw Error(ErrorKind::kOutput, std::string("[output] cannot write to standard output: ") +
                                        std::strerror(errno == 0 ? EIO : errno) +
                                        "; check where it leads and its space");
  return true;
}

/// Serialises JSON; escapes characters that control a terminal, which JSON parses as the same text.
std::string json_text(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (find_steering(text, 0, "\n") == std::string::npos) return text;
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// Prints the error as JSON, unless the result was printed before it, as when another rank fails at the very end.
/// Ignores a failure to write, since the exit code of the error is more useful.
void try_print_error(const char* kind, const char* code, const std::string& message, int exit_code) {
  work_is_over();
  if (has_printed) return;
  std::cout << json_text({{"error", {{"kind", kind}, {"code", code}, {"message", message}, {"exit_code", exit_code}}}})
            << std::flush;
}

/// Returns "memory by part: base 78.05 MiB, arenas 1.17 MiB" of a report with a memory plan; empty for others.
std::string memory_parts(const Json& report) {
  const auto memory = report.is_object() ? report.find("memory") : report.end();
  if (!report.is_object() || memory == report.end() || !memory->contains("planned")) return "";
  std::string text;
  for (const auto& [part, bytes] : memory->at("planned").items())
    text += (text.empty() ? "memory by part: " : ", ") + part + " " + bytes_text(bytes.get<std::int64_t>());
  return text.empty() ? "" : text + "\n";
}

/// Indents all lines but the first, so that a line break in a file name cannot forge a message of ours.
std::string indented(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.replace(at, 1, "\n  ");
  return text;
}

}  // namespace

int stop_exit_code() { return interrupted_exit_code(stop_signal() != 0 ? stop_signal() : SIGTERM); }

Outcome outcome(const TaskReport& report) {
  return {.json = report.json,
          .text = with_flags(report.text),
          .exit_code = report.partial ? kExitPartial : kExitOk,
          .interrupted = report.interrupted,
          .next = with_flags(report.next),
          .note = with_flags(std::string_view(report.note))};
}

int print_outcome(const Outcome& outcome, const Printing& how) {
  bool read = true;
  if (how.json)
    read = print(json_text(outcome.json));
  else
    read = print(plain_text(outcome.text + (how.verbose ? memory_parts(outcome.json) : "") + outcome.note +
                                (outcome.next.empty() ? "" : "next: voxshard " + shell_line(outcome.next) + "\n"),
                            "\n\t"));
  return outcome.interrupted || !read ? stop_exit_code() : outcome.exit_code;
}

int print_version(bool json) {
  if (json)
    print(json_text({{"name", "voxshard"},
                     {"version", VOXSHARD_VERSION},
                     {"compiler", "g++ " __VERSION__},
                     {"mpi", mpi_library()}}));
  else
    print("voxshard " VOXSHARD_VERSION "\n");
  return kExitOk;
}

int print_help(const CLI::App& root, const CLI::Success& help) {
  const auto chosen = root.get_subcommands();
  const bool all = help.get_name() == "CallForAllHelp";
  print(chosen.empty() ? root.help()
        : all          ? chosen[0]->help(root.get_name())
                       : short_help(*chosen[0], root.get_name()));
  return kExitOk;
}

int report_error(const Error& error, bool json) {
  const int code = exit_code(error.kind());
  const std::string message = plain_text(with_flags(error.what()), "\n\t");
  std::fprintf(stderr, "voxshard: %s\n", indented(message).c_str());
  if (json) try_print_error(kind_name(error.kind()), error.code(), message, code);
  return code;
}

int report_stop(bool json) {
  const int code = stop_exit_code();
  std::fprintf(stderr, "voxshard: interrupted\n");
  if (json) try_print_error("interrupted", "E_STOPPED", "interrupted", code);
  return code;
}

}  // namespace voxshard
