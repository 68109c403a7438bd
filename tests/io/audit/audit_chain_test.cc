// The chain of an audit file: whatever is done to its lines afterwards, the first one that is wrong is named.
#include "tests/io/audit/audit_scene.h"

namespace voxshard {
namespace {

using AuditChainTest = test::AuditScene;

TEST_F(AuditChainTest, IsWholeAsItWasWritten) {
  const auto lines = write_lines(4);
  ASSERT_EQ(lines.size(), 4u);
  const AuditChain found = chain();
  EXPECT_FALSE(found.broken.has_value());
  EXPECT_EQ(found.lines, 4);
  EXPECT_EQ(found.last_hash, lines[3].substr(lines[3].size() - 67, 64));
  EXPECT_EQ(found.last_hash, sha256(lines[3].substr(0, lines[3].rfind(",\"hash\":"))));
  EXPECT_NE(lines[3].find("\"previous\":\"" + lines[2].substr(lines[2].size() - 67, 64)), std::string::npos);
}

TEST_F(AuditChainTest, AByteThatIsChangedAnywhereIsNamedByItsLine) {
  const auto lines = write_lines(3);
  const std::string whole = bytes();
  std::int64_t line = 1;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {static_cast<char>(whole[at] ^ 1), '\n', '"'}) {
      if (other == whole[at]) continue;
      std::string changed = whole;
      changed[at] = other;
      write({changed});
      const AuditChain found = chain();
      ASSERT_TRUE(found.broken.has_value()) << at;
      ASSERT_EQ(found.broken->line, line) << "byte " << at << ": " << found.broken->text;
      ASSERT_EQ(found.lines, line - 1);
    }
    line += whole[at] == '\n';
  }
}

TEST_F(AuditChainTest, LinesThatAreMissingDoubledMovedOrCutAreNamed) {
  const auto l = write_lines(5);
  expect_whole(5);
  write({l[0], l[2], l[3], l[4]}), expect_broken(2, AuditBreak::kMissing);
  write({l[1], l[2]}), expect_broken(1, AuditBreak::kMissing);
  write({l[0], l[4]}), expect_broken(2, AuditBreak::kMissing);
  write({l[0], l[1], l[1], l[2]}), expect_broken(3, AuditBreak::kDoubled);
  write({l[0], l[1], l[2], l[0], l[3]}), expect_broken(4, AuditBreak::kDoubled);
  write({l[0], l[2], l[1], l[3], l[4]}), expect_broken(2, AuditBreak::kMoved);
  write({l[0], l[1], l[3], l[4], l[2]}), expect_broken(3, AuditBreak::kMoved);
  write({l[1], l[0]}), expect_broken(1, AuditBreak::kMoved);
  write({l[0], l[1].substr(0, 40)}), expect_broken(2, AuditBreak::kCut);
  write({l[0], l[1].substr(0, l[1].size() - 1)}), expect_broken(2, AuditBreak::kCut);
  write({l[0], l[1].substr(0, 40) + "\n"}), expect_broken(2, AuditBreak::kCut);
  write({l[0], l[1].substr(0, 40) + "\n", l[1]}), expect_broken(2, AuditBreak::kChanged);
}

TEST_F(AuditChainTest, AnEndThatWasCutOffShowsByTheHashInTheSystemsLog) {
  const auto l = write_lines(3);
  const std::string last = chain().last_hash;
  ASSERT_EQ(system_log_.size(), 3u);
  EXPECT_EQ(system_log_.back(), "audit " + path() + ": 3 lines, last " + last);
  EXPECT_FALSE(chain(last).broken.has_value());
  write({l[0], l[1]});
  EXPECT_FALSE(chain().broken.has_value()) << "the chain alone does not show it";
  expect_broken(3, AuditBreak::kCut, last);
  write_lines(2);
  expect_broken(5, AuditBreak::kCut, last);
  write(l);
  const AuditChain behind = chain(l[0].substr(l[0].size() - 67, 64));
  EXPECT_FALSE(behind.broken.has_value());
  EXPECT_EQ(behind.behind_end, 2);
}

TEST_F(AuditChainTest, ALineThatIsReplacedByAnotherWithItsOwnHashIsNamed) {
  auto l = write_lines(3);
  const std::string previous = chain().last_hash;
  const std::string first = l[0].substr(l[0].size() - 67, 64);
  l[1] = audit_line(one("another"), {.number = 2, .time = time_, .uid = 990, .previous = first}) + "\n";
  write(l), expect_broken(2, AuditBreak::kChanged);
  l[0] = audit_line(one("another"), {.number = 1, .time = time_, .previous = first}) + "\n";
  write(l), expect_broken(1, AuditBreak::kChanged);
}

TEST_F(AuditChainTest, AClockThatGoesBackIsCounted) {
  write_lines(1);
  time_ = "2026-11-26T14:37:31Z";
  write_lines(1);
  time_ = "2026-11-27T00:00:00Z";
  write_lines(1);
  const AuditChain found = chain();
  EXPECT_FALSE(found.broken.has_value());
  EXPECT_EQ(found.clock_back, 1);
  EXPECT_EQ(found.first_back, 2);
}

TEST_F(AuditChainTest, OtherFilesAndHostileBytesAreRefusedWithinBounds) {
  expect_error(ErrorKind::kInput, "audit.jsonl", [&] { chain(); });
  write({});
  EXPECT_EQ(chain().lines, 0);
  expect_broken(1, AuditBreak::kCut, sha256(""));
  write({"{\"loss\": 1}\n"});
  expect_error(ErrorKind::kInput, "is no audit file", [&] { chain(); });
  write({"{\"number\":" + std::string(8'000'000, '1')});
  expect_broken(1, AuditBreak::kChanged);
  const auto hashed = [](const std::string& text) { return text + ",\"hash\":\"" + sha256(text) + "\"}\n"; };
  for (const char* text : {"{\"number\":1", "{\"number\":\"1\"", "{\"number\":-1", "{\"number\":1e3",
                           "{\"number\":[[[[1]]]]", "{\"number\":1,\"number\":1,\"previous\":\"\""}) {
    write({hashed(text)});
    expect_broken(1, AuditBreak::kChanged);
  }
  const std::string first = ",\"previous\":\"" + std::string(kNoAuditHash) + "\"";
  write({hashed("{\"number\":9223372036854775807" + first)}), expect_broken(1, AuditBreak::kChanged);
  write({hashed("{\"number\":9007199254740992" + first)}), expect_broken(1, AuditBreak::kMissing);
}

}  // namespace
}  // namespace voxshard
