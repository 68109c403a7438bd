// An audit file for tests, with a clock and a caller that the test gives.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/audit/audit_chain.h"
#include "io/audit/audit_log.h"
#include "io/audit/sha256.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard::test {

class AuditScene : public testing::Test {
 protected:
  std::string path() const { return folder_ / "audit.jsonl"; }
  std::string bytes() const { return read_bytes(path()); }
  AuditChain chain(const std::string& end = "") const { return check_audit_chain(path(), {.hash = end}); }

  AuditSurroundings surroundings() {
    return {.utc_time = [this] { return time_; },
            .uid = 990,
            .user = "voxshard",
            .system_log = [this](const std::string& text) { system_log_.push_back(text); }};
  }
  AuditLog log() { return AuditLog(path(), surroundings()); }

  static AuditCase one(const std::string& id) {
    return {.command = "predict",
            .version = "0.2.0",
            .model = sha256("model"),
            .id = id,
            .outcome = "predicted",
            .input = sha256(id),
            .outputs = {sha256("label map of " + id)}};
  }

  /// Writes a file of so many lines and returns them, with their line ends.
  std::vector<std::string> write_lines(int count) {
    AuditLog log = this->log();
    for (int i = 0; i < count; ++i) log.append(one("case_" + std::to_string(i)));
    return lines();
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    const std::string all = bytes();
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find('\n', at), all.size() - 1) + 1;
      lines.push_back(all.substr(at, end - at));
      at = end;
    }
    return lines;
  }

  void write(const std::vector<std::string>& lines) const {
    std::string all;
    for (const std::string& line : lines) all += line;
    folder_.write("audit.jsonl", all);
  }

  /// Expects that the first line that is wrong is this one, and what is wrong with it.
  void expect_broken(std::int64_t line, AuditBreak what, const std::string& end = "") const {
    const AuditChain found = chain(end);
    ASSERT_TRUE(found.broken.has_value()) << bytes();
    EXPECT_EQ(found.broken->line, line) << found.broken->text;
    EXPECT_STREQ(audit_break_name(found.broken->what), audit_break_name(what)) << found.broken->text;
  }
  void expect_whole(std::int64_t lines) const {
    const AuditChain found = chain();
    EXPECT_FALSE(found.broken.has_value()) << found.broken->line << " " << found.broken->text;
    EXPECT_EQ(found.lines, lines);
  }

  const ScratchFolder folder_{"audit"};
  std::string time_ = "2026-11-26T14:37:32Z";
  std::vector<std::string> system_log_;
};

}  // namespace voxshard::test
