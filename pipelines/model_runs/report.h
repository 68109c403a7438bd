// Shared by the pipelines: progress reports without printing, the record of a failed case, and the two files that every
// run writes (run.json, quarantine.csv).
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

/// Receives progress reports from a running pipeline. Implemented in apps/ for people and in tests. Threads: calls may
/// come from any thread.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Reports that `done` of `total` pieces of `stage` are ready; total 0 when unknown. `text` has details ("loss 0.41",
  /// a case's name).
  virtual void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) = 0;
  /// Writes one line to the log: a warning, a decision taken.
  virtual void log(std::string_view line) = 0;
  /// Writes one line that is shown even when the log is off: a problem with data or a run that would otherwise go
  /// unnoticed.
  virtual void warn(std::string_view line) { log(line); }
  /// Notes that a batch of a command without an end, a watch, has ended: what was held back of its lines is written.
  virtual void batch_ended() {}
  /// True once the user asked to stop. The pipeline then drops the current piece, saves finished results and returns
  /// with `interrupted`, or lets Stopped pass when there is nothing to save.
  virtual bool stop_requested() const { return false; }
  /// Returns stop_requested() as a function to pass on. Must not outlive this.
  StopCheck stop_check() const {
    return [this] { return stop_requested(); };
  }
};

/// Reports nothing and never stops.
class NoProgress : public Progress {
 public:
  void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
  void log(std::string_view) override {}
};

/// A failed case; the rest of the batch goes on.
struct CaseFailure {
  std::string id;
  std::string code;     // error code: E_READ, E_SHAPE, E_CLASS, ...; libcore/base/codes.h lists each with its meaning,
                        // and a test compares the list with the sources
  std::string message;  // what is wrong and what to do
};

/// An error inside a collective operation of several ranks: no other case can be tried after it.
class EndsBatch : public Error {
 public:
  explicit EndsBatch(const Error& error) : Error(error) {}
};

/// Throws Stopped once the user asked to stop.
inline void throw_if_stopped(const Progress& progress) {
  if (progress.stop_requested()) throw Stopped();
}

/// Runs `body`. Returns an error that concerns only case `id`: an Error of one of `kinds`, or a failed allocation
/// (kRefusedMemory). The message of a refusal by a budget is without its table. Other errors pass, as do an EndsBatch
/// and errors of other ranks. None when `body` succeeded.
std::optional<CaseFailure> failure_of(const std::string& id, std::initializer_list<ErrorKind> kinds,
                                      const std::function<void()>& body);
inline constexpr const char* kRefusedMemory = "E_MEMORY";

/// The same for errors of kind kInput, kConfig or kNoCase, added to a list. Returns true when `body` succeeded.
bool in_case_boundary(const std::string& id, std::vector<CaseFailure>& failures, const std::function<void()>& body);

/// Returns the row of a failure in quarantine.csv.
std::string quarantine_row(const CaseFailure& failure);
/// Writes DIR/quarantine.csv (id, code, message), also when there is no failure: an old list must not survive.
///   name  another file name, where the folder is not the command's own
void write_quarantine(const std::filesystem::path& folder, const std::vector<CaseFailure>& failures,
                      const std::string& name = "quarantine.csv");

nlohmann::ordered_json to_json(const std::vector<CaseFailure>& failures);
std::vector<CaseFailure> failures_from_json(const nlohmann::ordered_json& list);

/// Returns the number; null when it is not finite, because JSON has no NaN.
nlohmann::ordered_json json_number(double value);

/// Writes `value` with an indent of two spaces and a newline, whole or not at all.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& value);

}  // namespace voxshard
