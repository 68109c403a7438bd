// A line of an audit file: one case of one call, as a JSON object that ends with a hash of itself.
//
//   {"number":17,"time":"2026-11-26T14:37:32Z","uid":990,"user":"voxshard","command":"predict","version":"0.2.0",
//    "model":"9f86...","case":"case_0003","outcome":"failed","code":"E_GAP","input":"60303ae2...","outputs":[],
//    "previous":"2c26...","hash":"fcde..."}
//
// on one line. `hash` is the SHA-256 of the bytes of the line before `,"hash":`; `previous` is the hash of the line
// before, 64 zeros in the first line. So each line fixes all lines before it, byte by byte. A line that a crash cut
// short stays where it is; the next line then says so (`after_torn`). Names of cases are those of the outputs; no
// paths, no other names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

/// Bytes of the longest line, its line end included; longer ids of cases are cut to kMostAuditIdBytes.
inline constexpr std::size_t kMostAuditLineBytes = std::size_t{1} << 16, kMostAuditIdBytes = 4096;
/// `previous` of the first line.
inline constexpr const char* kNoAuditHash = "0000000000000000000000000000000000000000000000000000000000000000";

/// The facts about one case.
struct AuditCase {
  std::string command;               // "predict"
  std::string version;               // of the program
  std::string model;                 // files_sha256() of the checkpoints
  std::string id;                    // as in the outputs
  std::string outcome;               // "predicted", "kept" or "failed"
  std::string code;                  // why it failed; else empty
  std::string input;                 // files_sha256() of its files; empty: they could not be read
  std::vector<std::string> outputs;  // file_sha256() of each
};

/// The rest that a crash left of a line, its line end included.
struct TornLine {
  std::int64_t bytes = 0;
  std::string hash;  // sha256()
};

/// The place of a line in the chain, and who wrote it when.
struct AuditPlace {
  std::int64_t number = 1;
  std::string time;  // UTC, "2026-11-26T14:37:32Z"
  std::uint32_t uid = 0;
  std::string user;  // name of the uid; empty: it has none
  std::string previous = kNoAuditHash;
  std::optional<TornLine> after_torn = std::nullopt;
};

/// Returns the line without its line end. Errors: kInternal when it would be longer than kMostAuditLineBytes.
std::string audit_line(const AuditCase& said, const AuditPlace& place);

/// The place of a line in the chain, as it says itself.
struct AuditLink {
  std::int64_t number = 0;
  std::string time, previous, hash;
  std::optional<TornLine> after_torn;
};

/// Reads a line without its line end. None when it is no line of an audit file or its hash is not that of its bytes.
std::optional<AuditLink> audit_link(std::string_view line);

/// True for a line that ends like a whole one: what a crash cut does not.
bool has_audit_end(std::string_view line);

/// True where a file that begins so may be an audit file.
bool begins_like_audit(std::string_view bytes);

}  // namespace voxshard
