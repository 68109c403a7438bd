// Appends lines to an audit file (audit_line.h). A line is written with one call to the system and is on the disk
// before append() returns. Several processes may write to one file in turn: each looks for the end of the chain under a
// lock.
//
//   AuditLog log("/var/log/voxshard/audit.jsonl");
//   log.append({.command = "predict", .id = "case_0003", .outcome = "predicted", ...});
//
// The system's log gets "audit /var/log/voxshard/audit.jsonl: 17 lines, last fcde..." with each line: an end that was
// cut off the file is seen there (check {audit-end}).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "io/audit/audit_line.h"
#include "io/files/open_file.h"

namespace voxshard {

/// The surroundings of an audit log: the clock, the caller, the system's log.
struct AuditSurroundings {
  std::function<std::string()> utc_time;  // "2026-11-26T14:37:32Z"
  std::uint32_t uid = 0;
  std::string user;
  std::function<void(const std::string& text)> system_log;
};
/// The real ones: the clock of the system, the user of this process, syslog with the facility "user".
AuditSurroundings system_surroundings();

class AuditLog {
 public:
  /// Opens the file; a new one has mode 0600. Errors: kOutput when it cannot be opened, is a link or has further names,
  /// or is no audit file, or its last line was changed.
  explicit AuditLog(std::filesystem::path path, AuditSurroundings surroundings = system_surroundings());

  /// Appends a line. What a crash left of a last line stays in the file and is counted in torn(). Errors: kOutput; the
  /// file is then as it was.
  void append(const AuditCase& said);

  /// The number of the last line, of whichever process.
  std::int64_t number() const { return number_; }
  /// How many bytes of torn lines append() has found.
  std::int64_t torn_bytes() const { return torn_bytes_; }

 private:
  struct End {
    AuditLink last;         // number 0: the file has no line yet
    std::string torn;       // behind it, with a line end
    bool torn_ends = true;  // false: that line end is not in the file yet
  };
  End find_end() const;
  std::string about(const std::string& what) const;

  std::filesystem::path path_;
  AuditSurroundings around_;
  Descriptor file_;
  std::int64_t number_ = 0, torn_bytes_ = 0;
};

}  // namespace voxshard
