// An inbox returns what has been quiet for long enough, once, and moves what is finished without replacing anything; it
// is one process's alone, says why an entry failed, and deletes what is older than it is told.
#include "io/inbox/inbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>

#include "io/files/config_file.h"
#include "io/inbox/repeated_entry.h"
#include "libcore/base/error.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace {
std::function<void(const std::filesystem::path&)> on_sync;  // gets each file or folder before it is synced
}  // namespace

/// Stands in for that of the C library in this program.
extern "C" int fsync(int file) {
  if (on_sync) on_sync(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)));
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class AnInbox : public testing::Test {
 protected:
  AnInbox() { fs::create_directories(path("in")); }
  fs::path path(const std::string& name) const { return fs::path(folder_ / name); }
  void write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(path(name).parent_path());
    std::ofstream(path(name)) << text;
  }
  Inbox inbox(double quiet_s = 0) const {
    return Inbox({.folder = path("in"), .done = path("done"), .quiet_s = quiet_s});
  }
  /// True when /dev/shm is on another file system than the inbox.
  bool has_two_file_systems() const {
    struct stat here {
    }, there{};
    return ::stat(path("in").c_str(), &here) == 0 && ::stat("/dev/shm", &there) == 0 && here.st_dev != there.st_dev;
  }
  /// Returns what is synced while `act` runs, as long as `source` is there.
  static std::set<fs::path> synced_before(const fs::path& source, const std::function<void()>& act) {
    std::set<fs::path> synced;
    on_sync = [&](const fs::path& one) {
      if (fs::exists(source)) synced.insert(one);
    };
    act();
    on_sync = nullptr;
    return synced;
  }
  ScratchFolder folder_{"inbox"};
};

TEST_F(AnInbox, ReturnsFilesAndFoldersOnceByName) {
  Inbox inbox = this->inbox();
  EXPECT_THAT(inbox.arrived(), IsEmpty());
  write("in/b.nii"), write("in/series/deep/1.dcm"), write("in/.b.nii.partial");
  fs::create_symlink(path("in/b.nii"), path("in/link.nii"));
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/b.nii"), path("in/series")));
  EXPECT_THAT(inbox.arrived(), IsEmpty());
  write("in/a.nii");
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/a.nii")));
  write("in/series/deep/2.dcm");
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/series"))) << "another slice came";
}

TEST_F(AnInbox, WhatChangedJustNowIsNotComplete) {
  Inbox inbox = this->inbox(3600);
  write("in/a.nii"), write("in/series/1.dcm");
  const struct timespec old[2] = {{1000, 0}, {1000, 0}};  // a copy that keeps the time of its source
  utimensat(AT_FDCWD, path("in/a.nii").c_str(), old, 0);
  EXPECT_THAT(inbox.arrived(), IsEmpty());
}

TEST_F(AnInbox, FinishedEntriesMoveAndReplaceNothing) {
  Inbox inbox = this->inbox();
  for (const char* text : {"first", "second", "third"}) {
    write("in/a.nii", text);
    inbox.finish(path("in/a.nii"));
  }
  write("in/series/1.dcm", "bad");
  EXPECT_EQ(inbox.finish(path("in/series"), FailureReason{"E_GAP", "lacks a slice"}), path("done/failed/series"));
  EXPECT_EQ(read_bytes(path("done/a.nii")), "first");
  EXPECT_EQ(read_bytes(path("done/a.nii.2")), "second");
  EXPECT_EQ(read_bytes(path("done/a.nii.3")), "third");
  EXPECT_EQ(read_bytes(path("done/failed/series/1.dcm")), "bad");
  EXPECT_EQ(read_json(path("done/failed/series.reason.json")),
            (nlohmann::json{{"code", "E_GAP"}, {"text", "lacks a slice"}}));
  EXPECT_FALSE(fs::exists(path("done/a.nii.reason.json")));
  EXPECT_THAT(inbox.arrived(), IsEmpty());
}

TEST_F(AnInbox, FoldersOneInTheOtherAndMissingOnesAreRefused) {
  expect_error(ErrorKind::kUsage, "one in the other", [&] { Inbox({.folder = path("in"), .done = path("in/done")}); });
  expect_error(ErrorKind::kUsage, "one in the other", [&] { Inbox({.folder = path("in"), .done = folder_.path()}); });
  expect_error(ErrorKind::kInput, "is no folder", [&] { Inbox({.folder = path("none"), .done = path("done")}); });
  Inbox inbox = this->inbox();
  fs::remove_all(path("in"));
  expect_error(ErrorKind::kInput, "cannot be read", [&] { inbox.arrived(); });
}

TEST_F(AnInbox, AnEntryThatCannotBeMovedStays) {
  Inbox inbox = this->inbox();
  write("in/a.nii");
  fs::remove_all(path("done"));
  expect_error(ErrorKind::kOutput, "cannot be moved", [&] { inbox.finish(path("in/a.nii")); });
  EXPECT_TRUE(fs::exists(path("in/a.nii")));
}

TEST_F(AnInbox, AnEntryThatChangedSinceItWasReturnedStaysAndArrivesAgain) {
  Inbox inbox = this->inbox();
  write("in/series/1.dcm");
  ASSERT_THAT(inbox.arrived(), ElementsAre(path("in/series")));
  write("in/series/2.dcm");
  EXPECT_EQ(inbox.finish(path("in/series")), std::nullopt) << "a slice came late";
  EXPECT_FALSE(fs::exists(path("done/series")));
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/series")));
  EXPECT_EQ(inbox.finish(path("in/series")), path("done/series"));
}

TEST_F(AnInbox, AFolderThatCannotBeLookedIntoIsCountedAndStopsNoOther) {
  Inbox inbox = this->inbox();
  std::string deep = "in/deep";
  for (int i = 0; i < 40; ++i) deep += "/a";
  write(deep + "/1.dcm"), write("in/b.nii");
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/b.nii")));
  EXPECT_EQ(inbox.closed(), 0u) << "a file may have gone just now";
  EXPECT_THAT(inbox.arrived(), IsEmpty());
  EXPECT_EQ(inbox.closed(), 1u);
  fs::remove_all(path("in/deep"));
  inbox.arrived();
  EXPECT_EQ(inbox.closed(), 0u);
}

TEST_F(AnInbox, AnEntryThatSomebodyTookAwayIsNoErrorOfTheOthers) {
  Inbox inbox = this->inbox();
  write("in/a.nii"), write("in/b.nii");
  ASSERT_EQ(inbox.arrived().size(), 2u);
  fs::remove(path("in/a.nii"));
  EXPECT_EQ(inbox.finish(path("in/a.nii"), FailureReason{"E_READ", "is gone"}), std::nullopt);
  EXPECT_TRUE(fs::is_empty(path("done/failed"))) << "no reason of nothing";
  EXPECT_EQ(inbox.finish(path("in/b.nii")), path("done/b.nii"));
}

TEST_F(AnInbox, TheLongestNamesThatAFileSystemHasAreFinishedAndDeletedToo) {
  const std::string first = std::string(254, 'a') + "1", second = std::string(254, 'a') + "2";
  std::int64_t later_ns = 0;
  Inbox inbox({.folder = path("in"), .done = path("done"), .quiet_s = 0, .keep_days = 1},
              {.wall_ns = [&] { return system_clock().wall_ns() + later_ns; }, .steady_ns = [] { return 0; }});
  write("in/" + first + "/1.dcm"), write("in/" + second + "/1.dcm"), write("in/b.nii");
  EXPECT_EQ(finished_name("in/b.nii"), "b.nii");
  const auto good = inbox.finish(path("in/" + first));
  const auto bad = inbox.finish(path("in/" + second), FailureReason{"E_NAME", "has more than 200 bytes"});
  ASSERT_TRUE(good && bad);
  EXPECT_EQ(*good, path("done/" + finished_name(first)));
  EXPECT_NE(finished_name(first), finished_name(second)) << "names that differ at their end alone";
  EXPECT_TRUE(fs::exists(reason_file_of(*bad)));
  later_ns = 2 * 86400 * std::int64_t{1'000'000'000};
  EXPECT_EQ(inbox.expire(), 2u);
  EXPECT_TRUE(fs::is_empty(path("done/failed")));
}

TEST_F(AnInbox, WhatWasCopiedToAnotherFileSystemGoesUnderAHiddenName) {
  write("in/.study.expired/2.dcm");  // a kill while it was removed, after it was copied
  {
    const Inbox inbox = this->inbox();
    EXPECT_FALSE(fs::exists(path("in/.study.expired")));
  }
  if (!has_two_file_systems()) GTEST_SKIP() << "one file system";
  const ScratchFolder other("inbox_done", "/dev/shm");
  Inbox inbox({.folder = path("in"), .done = other.path() / "done", .quiet_s = 0});
  write("in/study/deep/1.dcm", "slice");
  EXPECT_EQ(inbox.finish(path("in/study")), other.path() / "done/study");
  EXPECT_EQ(read_bytes(other.path() / "done/study/deep/1.dcm"), "slice");
  EXPECT_FALSE(fs::exists(path("in/study")) || fs::exists(path("in/.study.expired")));
}

TEST_F(AnInbox, WhatIsCopiedToAnotherFileSystemIsOnItsDiskBeforeItGoes) {
  if (!has_two_file_systems()) GTEST_SKIP() << "one file system";
  const ScratchFolder other("inbox_synced", "/dev/shm");
  const fs::path done = fs::canonical(other.path()) / "done", half = done / ".study.arriving";
  Inbox inbox({.folder = path("in"), .done = done, .quiet_s = 0});
  write("in/study/deep/1.dcm", "slice"), write("in/study/2.dcm");
  const auto synced = synced_before(path("in/study/deep/1.dcm"), [&] { inbox.finish(path("in/study")); });
  for (const fs::path& one : {half / "deep/1.dcm", half / "deep", half / "2.dcm", half, done})
    EXPECT_TRUE(synced.contains(one)) << one << ": a power cut would lose it";
  EXPECT_EQ(read_bytes(done / "study/deep/1.dcm"), "slice");
}

TEST_F(AnInbox, WhatIsJoinedFromAnotherFileSystemIsOnTheDiskBeforeItGoesThere) {
  if (!has_two_file_systems()) GTEST_SKIP() << "one file system";
  const ScratchFolder other("inbox_joined", "/dev/shm");
  const fs::path earlier = other.path() / "study", again = fs::canonical(path("in")) / "study";
  write("in/study/2.dcm");
  fs::create_directories(earlier / "deep");
  std::ofstream(earlier / "deep/1.dcm") << "slice";
  std::ofstream(other.path() / "target") << "precious";
  write("in/study/deep/2.dcm");
  fs::create_symlink(other.path() / "target", again / "deep/.1.dcm.arriving");
  const auto synced = synced_before(earlier / "deep/1.dcm", [&] { join_entries(again, earlier); });
  for (const fs::path& one : {again / "deep/.1.dcm.arriving", again / "deep", again})
    EXPECT_TRUE(synced.contains(one)) << one << ": a power cut would lose it";
  EXPECT_EQ(read_bytes(again / "deep/1.dcm"), "slice");
  EXPECT_EQ(read_bytes(other.path() / "target"), "precious") << "a link that was planted is not written through";
}

TEST_F(AnInbox, IsThatOfOneProcessAtATime) {
  {
    const Inbox first = this->inbox();
    expect_error(ErrorKind::kOutput, "is in use by another voxshard", [&] { this->inbox(); });
  }
  EXPECT_TRUE(fs::is_empty(path("in"))) << "no lock is left";
  std::ofstream(path("in/.voxshard.lock")) << "999999999 predict gone";  // of a process that was killed
  Inbox second = this->inbox();
  EXPECT_THAT(second.arrived(), IsEmpty());
}

/// A clock that a test moves; it begins at the system's time, because files have that.
struct TestClock {
  static constexpr std::int64_t kSecond = 1'000'000'000, kDay = 86400 * kSecond;
  std::int64_t wall_ns = system_clock().wall_ns(), steady_ns = 0;
  InboxClock of() {
    return {.wall_ns = [this] { return wall_ns; }, .steady_ns = [this] { return steady_ns; }};
  }
};

TEST_F(AnInbox, AClockThatGoesBackDelaysAnEntryByTheQuietSecondsAlone) {
  TestClock clock;
  clock.wall_ns -= TestClock::kDay;
  Inbox inbox({.folder = path("in"), .done = path("done"), .quiet_s = 10}, clock.of());
  write("in/a.nii");
  EXPECT_THAT(inbox.arrived(), IsEmpty());
  clock.steady_ns += 9 * TestClock::kSecond;
  EXPECT_THAT(inbox.arrived(), IsEmpty());
  clock.steady_ns += 2 * TestClock::kSecond;
  EXPECT_THAT(inbox.arrived(), ElementsAre(path("in/a.nii")));
  EXPECT_THAT(inbox.arrived(), IsEmpty());
}

class AnInboxThatKeeps : public AnInbox {
 protected:
  InboxFolders folders(double days) const {
    return {.folder = path("in"), .done = path("done"), .quiet_s = 0, .keep_days = days};
  }
  TestClock clock_;
};

TEST_F(AnInboxThatKeeps, DeletesWhatIsOlderWithItsReasonAndNothingElse) {
  write("outside/precious"), write("in/study/1.dcm"), write("in/bad/1.dcm");
  Inbox inbox(folders(7), clock_.of());
  inbox.finish(path("in/study")), inbox.finish(path("in/bad"), FailureReason{"E_READ", "x"});
  fs::create_directory_symlink(path("outside"), path("done/link"));
  EXPECT_EQ(inbox.expire(), 0u) << "just moved";
  clock_.wall_ns += 8 * TestClock::kDay;
  EXPECT_EQ(inbox.expire(), 0u) << "an hour has not passed since it was looked at";
  clock_.steady_ns += 3601 * TestClock::kSecond;
  EXPECT_EQ(inbox.expire(), 2u);
  EXPECT_FALSE(fs::exists(path("done/study")));
  EXPECT_TRUE(fs::is_empty(path("done/failed"))) << "the reason too";
  EXPECT_TRUE(fs::is_symlink(path("done/link")));
  EXPECT_TRUE(fs::exists(path("outside/precious")));
}

TEST_F(AnInboxThatKeeps, DeletesNothingWhenTheClockGoesBackOrNoDaysAreGiven) {
  write("in/study/1.dcm");
  {
    Inbox inbox(folders(7), clock_.of());
    inbox.finish(path("in/study"));
    clock_.wall_ns -= 1000 * TestClock::kDay;
    EXPECT_EQ(inbox.expire(), 0u);
  }
  clock_.wall_ns += 2000 * TestClock::kDay;
  Inbox inbox(folders(0), clock_.of());
  EXPECT_EQ(inbox.expire(), 0u);
  EXPECT_TRUE(fs::exists(path("done/study/1.dcm")));
}

TEST_F(AnInboxThatKeeps, GoesOnWhereAKillLeftAnEntryHalfDeleted) {
  fs::create_directories(path("done/failed"));
  write("done/.study.expired/2.dcm"), write("done/failed/.bad.expired/1.dcm");
  const Inbox inbox(folders(0), clock_.of());
  EXPECT_FALSE(fs::exists(path("done/.study.expired")));
  EXPECT_TRUE(fs::is_empty(path("done/failed")));
}

TEST_F(AnInboxThatKeeps, RefusesAFolderWithFilesThatWereNotReceived) {
  write("done/thesis.txt");
  expect_error(ErrorKind::kUsage, "were not received", [&] { Inbox(folders(7), clock_.of()); });
  EXPECT_FALSE(fs::exists(path("in/.voxshard.lock")));
  EXPECT_NO_THROW(Inbox(folders(0), clock_.of()));
}

}  // namespace
}  // namespace voxshard
