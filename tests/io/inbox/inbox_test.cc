// An inbox returns what has been quiet for long enough, once, and moves what is finished without replacing anything.
#include "io/files/inbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "libcore/base/error.h"
#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

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
    inbox.finish(path("in/a.nii"), true);
  }
  write("in/series/1.dcm", "bad");
  EXPECT_EQ(inbox.finish(path("in/series"), false), path("done/failed/series"));
  EXPECT_EQ(read_bytes(path("done/a.nii")), "first");
  EXPECT_EQ(read_bytes(path("done/a.nii.2")), "second");
  EXPECT_EQ(read_bytes(path("done/a.nii.3")), "third");
  EXPECT_EQ(read_bytes(path("done/failed/series/1.dcm")), "bad");
  EXPECT_TRUE(fs::is_empty(path("in")));
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
  expect_error(ErrorKind::kOutput, "cannot be moved", [&] { inbox.finish(path("in/a.nii"), true); });
  EXPECT_TRUE(fs::exists(path("in/a.nii")));
}

}  // namespace
}  // namespace voxshard
