// The writer of audit files: who may read them, what a crash leaves, several writers, and what is not written to.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/io/audit/audit_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using AuditLogTest = test::AuditScene;
using testing::HasSubstr;

TEST_F(AuditLogTest, ANewFileIsReadByItsOwnerAlone) {
  const mode_t before = ::umask(0);
  write_lines(1);
  ::umask(before);
  struct stat about {};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(AuditLogTest, ALineSaysWhoCalledWhenAndWhatCameOfIt) {
  AuditCase failed = one("case_0003");
  failed.outcome = "failed", failed.code = "E_GAP", failed.outputs.clear();
  log().append(failed);
  EXPECT_THAT(
      bytes(),
      HasSubstr("{\"number\":1,\"time\":\"2026-11-26T14:37:32Z\",\"uid\":990,\"user\":\"voxshard\","
                "\"command\":\"predict\",\"version\":\"0.2.0\",\"model\":\"" +
                sha256("model") + "\",\"case\":\"case_0003\",\"outcome\":\"failed\",\"code\":\"E_GAP\",\"input\":\"" +
                sha256("case_0003") + "\",\"outputs\":[],\"previous\":\"" + kNoAuditHash + "\",\"hash\":\""));
  const AuditSurroundings real = system_surroundings();
  EXPECT_EQ(real.uid, ::getuid());
  EXPECT_EQ(real.utc_time().size(), time_.size());
  EXPECT_GT(real.utc_time(), "2026-01-01T00:00:00Z");
}

TEST_F(AuditLogTest, ALineThatACrashCutStaysAndTheNextOneTellsOfIt) {
  const auto l = write_lines(3);
  for (const std::size_t left : {std::size_t{1}, std::size_t{100}, l[2].size() - 2}) {
    write({l[0], l[1], l[2].substr(0, left)});
    expect_broken(3, AuditBreak::kCut);
    AuditLog log = this->log();
    log.append(one("after"));
    EXPECT_EQ(log.number(), 3);
    EXPECT_EQ(log.torn_bytes(), static_cast<std::int64_t>(left) + 1);
    expect_whole(3);
    EXPECT_EQ(chain().torn, 1);
    EXPECT_TRUE(bytes().starts_with(l[0] + l[1] + l[2].substr(0, left) + "\n"));
    const auto told = lines();
    write({told[0], told[1], told[3]}), expect_broken(3, AuditBreak::kMissing);
    write({told[0], told[1], "x" + told[2], told[3]}), expect_broken(3, AuditBreak::kChanged);
  }
}

TEST_F(AuditLogTest, ALineThatLacksOnlyItsEndCounts) {
  const auto l = write_lines(2);
  write({l[0], l[1].substr(0, l[1].size() - 1)});
  AuditLog log = this->log();
  log.append(one("after"));
  EXPECT_EQ(log.number(), 3);
  EXPECT_EQ(log.torn_bytes(), 0);
  expect_whole(3);
}

TEST_F(AuditLogTest, TheFirstLineMayBeCutAndTwoCrashesMayFollowOneAnother) {
  const auto l = write_lines(1);
  write({l[0].substr(0, 5)});
  write_lines(1);
  expect_whole(1);
  write({l[0], l[0].substr(0, 30) + "\n", l[0].substr(0, 20)});
  write_lines(1);
  expect_whole(2);
  EXPECT_EQ(chain().torn, 2);
}

TEST_F(AuditLogTest, SeveralWritersMakeOneChain) {
  constexpr int kWriters = 4, kLines = 10;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      AuditSurroundings around = surroundings();
      around.system_log = [](const std::string&) {};
      AuditLog log(path(), around);
      for (int i = 0; i < kLines; ++i) log.append(one(std::to_string(w) + "_" + std::to_string(i)));
    });
  for (std::thread& writer : writers) writer.join();
  expect_whole(kWriters * kLines);
}

TEST_F(AuditLogTest, WhatIsNoAuditFileIsLeftAsItIs) {
  const auto refused = [&](const std::string& piece) {
    const std::string before = bytes();
    expect_error(ErrorKind::kOutput, piece, [&] { log(); });
    EXPECT_EQ(bytes(), before);
  };
  write({"notes\n"}), refused("is no audit file");
  write({});
  const auto l = write_lines(2);
  std::string changed = l[1];
  changed[30] ^= 1;
  write({l[0], changed}), refused("its last line was changed");
  fs::rename(path(), folder_ / "real.jsonl");
  fs::create_symlink(folder_ / "real.jsonl", path());
  refused("it is a link");
  fs::remove(path());
  fs::create_hard_link(folder_ / "real.jsonl", path());
  refused("several names");
  fs::remove(path());
  fs::create_directory(path());
  expect_error(ErrorKind::kOutput, "audit.jsonl", [&] { log(); });
  fs::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  expect_error(ErrorKind::kOutput, "audit.jsonl", [&] { log(); });
}

TEST_F(AuditLogTest, ALineThatDoesNotFitOnTheDiskLeavesTheFileAsItWas) {
  write_lines(2);
  const std::string before = bytes();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{before.size() + 50, before.size() + 50};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      log().append(one("too_much"));
    } catch (const Error& e) {
      ::_exit(e.kind() == ErrorKind::kOutput ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bytes(), before);
  expect_whole(2);
}

TEST_F(AuditLogTest, BehindTheLargestNumberNothingIsWritten) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  write({audit_line(one("last"), {.number = kLargest, .time = time_, .previous = sha256("before")}) + "\n"});
  const std::string before = bytes();
  AuditLog log = this->log();
  expect_error(ErrorKind::kOutput, "no number may follow", [&] { log.append(one("further")); });
  EXPECT_EQ(bytes(), before);
  EXPECT_TRUE(system_log_.empty());
}

TEST_F(AuditLogTest, NamesOfAnyLengthAndBytesFitIntoALine) {
  AuditLog log = this->log();
  for (const std::string& id : {std::string(100'000, '"'), std::string(5000, '\xff'), std::string("a\nb\0c", 5)})
    log.append(one(id));
  expect_whole(3);
}

}  // namespace
}  // namespace voxshard
