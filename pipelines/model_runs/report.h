// What the pipelines share: how they tell about progress without printing, how they name a case that failed, and the
// two files that every run leaves (run.json, quarantine.csv).
//
//   TaskReport r = run_prepare(request, progress);   // progress.update("prepare", 3, 12, "liver_03")
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/stop.h"

namespace voxshard {

/// Where a pipeline reports while it runs. Implemented in apps/ for people and in tests. Threads: calls may come from
/// any.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `done` of `total` pieces of `stage` are ready; total 0 when unknown. `text` says more ("loss 0.41", a case's
  /// name).
  virtual void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) = 0;
  /// One line for the log: a warning, a decision taken.
  virtual void log(std::string_view line) = 0;
  /// One line that is shown also to those who want no log: what is wrong with data or a run and would else pass unseen.
  virtual void warn(std::string_view line) { log(line); }
  /// True once the user asked to stop: drop the piece at hand, save what is whole, return with `interrupted`, or pass
  /// Stopped on where nothing is worth saving.
  virtual bool stop_requested() const { return false; }
  /// The same as a question to hand down. Must not outlive this.
  StopCheck stop_check() const {
    return [this] { return stop_requested(); };
  }
};

/// Says nothing and never stops.
class NoProgress : public Progress {
 public:
  void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
  void log(std::string_view) override {}
};

/// A case that cost itself, not the batch.
struct CaseFailure {
  std::string id;
  std::string code;     // that of the error: E_READ, E_SHAPE, E_CLASS, ...; libcore/base/codes.h has each with its
                        // meaning, and a test holds the list against the sources
  std::string message;  // what is wrong and what to do
};

/// An error in the midst of what several ranks do together: behind it no other case can be tried.
class EndsBatch : public Error {
 public:
  explicit EndsBatch(const Error& error) : Error(error) {}
};

/// Errors: Stopped once the user asked to stop.
inline void throw_if_stopped(const Progress& progress) {
  if (progress.stop_requested()) throw Stopped();
}

/// Runs `body`. What costs only case `id` comes back: an Error of one of `kinds`, or memory that the system refused
/// (kRefusedMemory); others pass, so do an EndsBatch and errors of other ranks. None when `body` came to its end.
std::optional<CaseFailure> failure_of(const std::string& id, std::initializer_list<ErrorKind> kinds,
                                      const std::function<void()>& body);
inline constexpr const char* kRefusedMemory = "E_MEMORY";

/// The same for errors of kind kInput, kConfig or kNoCase, into a list. Returns true when `body` came to its end.
bool in_case_boundary(const std::string& id, std::vector<CaseFailure>& failures, const std::function<void()>& body);

/// Writes DIR/quarantine.csv (id, code, message), also when there is no failure: an old list must not survive.
///   name  other than that, where the folder is not the command's own
void write_quarantine(const std::filesystem::path& folder, const std::vector<CaseFailure>& failures,
                      const std::string& name = "quarantine.csv");

nlohmann::ordered_json to_json(const std::vector<CaseFailure>& failures);
std::vector<CaseFailure> failures_from_json(const nlohmann::ordered_json& list);

/// The number; null where it is not finite: JSON has no NaN.
nlohmann::ordered_json json_number(double value);

/// Writes `value` with two spaces and a newline, whole or not at all.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& value);

}  // namespace voxshard
