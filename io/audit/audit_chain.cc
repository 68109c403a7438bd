#include "io/audit/audit_chain.h"

#include "io/audit/audit_line.h"
#include "io/audit/sha256.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

/// A writer counts at most so many bytes of torn lines (audit_log.cc).
constexpr std::size_t kMostTornBytes = 4 * kMostAuditLineBytes;

struct RawLine {
  std::string bytes;      // without the line end
  bool ends = true;       // false: the file ends in it
  bool too_long = false;  // `bytes` is only its beginning
};

/// Reads line by line; of longer ones than an audit file has only the beginning is kept.
class RawLines {
 public:
  explicit RawLines(const std::filesystem::path& path) : in_(path) {
    if (!in_) throw input_error(path, in_.problem(), "check the path and its permissions");
  }

  std::optional<RawLine> next() {
    RawLine line;
    char buffer[4096];
    bool any = false;
    while (in_.getline(buffer, sizeof buffer) || in_.gcount() > 0) {
      any = true;
      const bool ends = in_.good();  // neither cut by the end of the file nor by that of the buffer
      const auto bytes = static_cast<std::size_t>(ends ? in_.gcount() - 1 : in_.gcount());
      line.too_long = line.too_long || line.bytes.size() + bytes >= kMostAuditLineBytes;
      if (!line.too_long) line.bytes.append(buffer, bytes);
      if (ends) return line;
      if (in_.eof() || in_.bad()) break;
      in_.clear();  // the buffer was full: the line goes on
    }
    if (!any) return std::nullopt;
    line.ends = false;
    return line;
  }

 private:
  InputFile in_;
};

class ChainCheck {
 public:
  ChainCheck(const std::filesystem::path& path, const AuditEnd& end) : path_(path), end_(end.hash), lines_(path) {}

  AuditChain run() {
    while (!chain_.broken) {
      const auto raw = lines_.next();
      if (!raw) break;
      ++at_;
      take(*raw);
    }
    if (!chain_.broken && !gap_.empty()) breaks(gap_line_, AuditBreak::kCut, "it is not whole, and nothing follows it");
    if (!chain_.broken && !end_.empty() && !end_seen_)
      breaks(at_ + 1, AuditBreak::kCut,
             "no line has the hash that the file should hold: its end was cut off, or it is another file");
    if (chain_.lines > 0) chain_.last_hash = previous_;
    return std::move(chain_);
  }

 private:
  void breaks(std::int64_t line, AuditBreak what, std::string text) {
    chain_.broken = BrokenLine{.line = line, .what = what, .text = std::move(text)};
  }

  void take(const RawLine& raw) {
    if (at_ == 1 && !begins_like_audit(raw.bytes) && !has_audit_end(raw.bytes))
      throw input_error(path_, "is no audit file of voxshard", "give the file of {audit}");
    const auto link = raw.too_long ? std::nullopt : audit_link(raw.bytes);
    const std::int64_t first = gap_.empty() ? at_ : gap_line_;
    if (link) {
      follow(*link);
      if (!chain_.broken && !raw.ends)
        breaks(at_, AuditBreak::kCut, "it lacks its line end: a crash, or it was cut off");
    } else if (raw.too_long || has_audit_end(raw.bytes) || gap_.size() + raw.bytes.size() >= kMostTornBytes) {
      breaks(first, AuditBreak::kChanged, "its bytes are not those that its hash was made of");
    } else if (!raw.ends) {
      breaks(first, AuditBreak::kCut, "the file ends in the middle of it: a crash, or its end was cut off");
    } else {
      wait_for_word(raw.bytes);
    }
  }

  /// Keeps a line that may have been torn: the next one must say so.
  void wait_for_word(const std::string& bytes) {
    if (gap_.empty()) gap_line_ = at_;
    gap_ += bytes + "\n";
    ++gap_lines_;
  }

  void follow(const AuditLink& link) {
    const bool noted = link.after_torn && link.after_torn->bytes == static_cast<std::int64_t>(gap_.size()) &&
                       link.after_torn->hash == sha256(gap_);
    if (!gap_.empty() && !noted)
      return breaks(gap_line_, AuditBreak::kChanged, "it is not whole, and the next one does not tell of a crash");
    if (gap_.empty() && link.after_torn)
      return breaks(at_, AuditBreak::kMissing, "before it stood a line that a crash had cut, and it is gone");
    const std::string number = std::to_string(link.number), expected = std::to_string(expected_);
    if (link.number < expected_)
      return breaks(at_, AuditBreak::kDoubled, "number " + number + " was there before; expected " + expected);
    if (link.number > expected_) return out_of_place(link);
    if (link.previous != previous_) {
      if (expected_ == 1) return breaks(at_, AuditBreak::kChanged, "it is numbered 1 and refers to a line before it");
      return breaks(last_line_, AuditBreak::kChanged, "line " + std::to_string(at_) + " holds another hash of it");
    }
    chain_.torn += gap_lines_;
    gap_.clear(), gap_lines_ = 0;
    if (link.time < time_ && ++chain_.clock_back == 1) chain_.first_back = at_;
    time_ = link.time, previous_ = link.hash, last_line_ = at_;
    ++chain_.lines, ++expected_;
    if (end_seen_) ++chain_.behind_end;
    end_seen_ = end_seen_ || link.hash == end_;
  }

  /// Tells whether the line that belongs here stands further down.
  void out_of_place(const AuditLink& link) {
    const std::int64_t here = at_;
    const std::string number = std::to_string(link.number), expected = std::to_string(expected_);
    for (auto raw = lines_.next(); raw; raw = lines_.next()) {
      ++at_;
      const auto other = raw->too_long ? std::nullopt : audit_link(raw->bytes);
      if (other && other->number == expected_ && other->previous == previous_)
        return breaks(here, AuditBreak::kMoved,
                      "it is number " + number + ", and number " + expected + " stands in line " + std::to_string(at_));
    }
    breaks(
        here, AuditBreak::kMissing,
        "it is number " + number + "; " +
            (link.number == expected_ + 1 ? "number " + expected + " is"
                                          : "numbers " + expected + " to " + std::to_string(link.number - 1) + " are") +
            " missing before it");
  }

  const std::filesystem::path& path_;
  std::string end_;
  RawLines lines_;
  AuditChain chain_;
  std::int64_t at_ = 0;  // line, from 1
  std::int64_t expected_ = 1, last_line_ = 0;
  std::string previous_ = kNoAuditHash, time_;
  std::string gap_;  // lines that may have been torn, with their line ends
  std::int64_t gap_line_ = 0, gap_lines_ = 0;
  bool end_seen_ = false;
};

}  // namespace

const char* audit_break_name(AuditBreak what) {
  constexpr const char* kNames[] = {"changed", "missing", "doubled", "moved", "cut"};
  return kNames[static_cast<int>(what)];
}

AuditChain check_audit_chain(const std::filesystem::path& path, const AuditEnd& end) {
  return ChainCheck(path, end).run();
}

}  // namespace voxshard
