// Checks the chain of an audit file (audit_line.h) from its first line to its last, in memory that does not grow with
// it. The bytes are not trusted.
//
//   AuditChain chain = check_audit_chain("audit.jsonl", {.end = "fcde..."});
//   if (chain.broken) text = to_text(*chain.broken);       // "line 17 (number 17) was changed: ..."
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace voxshard {

/// The fault of the first line that is not as it was written.
enum class AuditBreak {
  kChanged,  // its bytes are not those of its hash, or the line behind it holds another hash of it
  kMissing,  // lines before it are gone
  kDoubled,  // its number was there before
  kMoved,    // the line that belongs in its place stands further down
  kCut,      // the file ends in the middle of it, or before it
};
/// "changed", "missing", ...
const char* audit_break_name(AuditBreak what);

struct BrokenLine {
  std::int64_t line = 0;  // from 1
  AuditBreak what = AuditBreak::kChanged;
  std::string text;  // a clause: "its bytes are not those that its hash was made of"
};

struct AuditChain {
  std::int64_t lines = 0;       // whole ones in their places, up to the broken one
  std::string last_hash;        // of these; empty: there is none
  std::int64_t torn = 0;        // lines that a crash cut, which the lines behind them tell of
  std::int64_t clock_back = 0;  // lines whose time is before that of the line before
  std::int64_t first_back = 0;  // the first such line
  std::int64_t behind_end = 0;  // lines behind the one of AuditEnd
  std::optional<BrokenLine> broken;
};

/// A hash that the chain must hold, as from the system's log; empty: any end will do.
struct AuditEnd {
  std::string hash;
};

/// Reads the file to the first broken line, and further only to see whether a line that is missing stands further down.
/// Errors: kInput when it cannot be read or does not begin like an audit file.
AuditChain check_audit_chain(const std::filesystem::path& path, const AuditEnd& end = {});

}  // namespace voxshard
