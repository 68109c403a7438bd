// --log FILE: what a command says, as JSON lines that are appended while it runs, for jobs whose screen nobody sees.
//
//   {"time":"2026-11-25T01:30:02.114Z","event":"start","command":"predict","version":"0.2.0"}
//   {"time":"...","event":"log","text":"planned: 96.0 MiB per core, ..."}        also "warn"
//   {"time":"...","event":"progress","stage":"predict","done":3,"total":12,"text":"case_3"}
//   {"time":"...","event":"end","exit_code":8,"seconds":12.1}
//   {"time":"...","event":"error","code":"E_READ","text":"...","exit_code":3,"seconds":0.2}          in place of "end"
#pragma once

#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libcore/base/stopwatch.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Passes everything on to another progress, and appends it to a file. A file that cannot be written any more is said
/// once, and ends nothing. Threads: calls may come from any thread.
class LogFile : public Progress {
 public:
  /// Writes the line "start". Errors: kOutput when the file cannot be written.
  LogFile(std::filesystem::path file, Progress& shown, const std::string& command);

  void update(std::string_view stage, std::int64_t done, std::int64_t total, std::string_view text) override;
  void log(std::string_view line) override;
  void warn(std::string_view line) override;
  void batch_ended() override { shown_.batch_ended(); }
  bool stop_requested() const override { return shown_.stop_requested(); }

  /// Write the last line: of a command with a result, and of one that ended with an error.
  void end(int exit_code);
  void error(const std::string& code, std::string_view text, int exit_code);

 private:
  void write(const char* event, const nlohmann::ordered_json& about);

  static constexpr double kLine_s = 5;  // between two lines of the progress of a stage

  std::filesystem::path file_;
  Progress& shown_;
  Stopwatch watch_;
  std::mutex mutex_;
  std::string stage_;
  double last_s_ = 0;  // when the last line of its progress was written
  bool fails_ = false;
};

}  // namespace voxshard
