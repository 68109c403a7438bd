// Folders of temporary files: nobody else reads them, and nothing of them stays.
#include "io/files/private_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/files/unfinished_files.h"
#include "libcore/base/error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// TMPDIR is an empty folder while a test runs.
class PrivateFolderTest : public testing::Test {
 protected:
  static mode_t mode_of(const fs::path& path) {
    struct stat about {};
    ::stat(path.c_str(), &about);
    return about.st_mode & 07777;
  }
  static void write(const PrivateFolder& folder, const std::string& name) {
    OutputStream out(folder.make_file(name));
    out << "voxels";
    out.close();
    EXPECT_TRUE(out);
  }

  /// Makes a tree as a golden case has it, and one as deep as is removed: 300 files in each folder of a path.
  static void write_tree(const fs::path& folder) {
    for (const char* path : {"avx2/predictions", "1/2/3/4/5/6"}) {
      fs::create_directories(folder / path);
      for (fs::path at = path; !at.empty(); at = at.parent_path())
        for (int i = 0; i < 300; ++i) std::ofstream(folder / at / ("case_" + std::to_string(i))) << "voxels";
    }
  }

  ScratchTmpdir room_;
};

TEST_F(PrivateFolderTest, IsReadByThisUserAlone) {
  const PrivateFolder folder("study.zip");
  write(folder, "1/17");
  EXPECT_EQ(folder.path().parent_path(), room_.path());
  EXPECT_EQ(mode_of(folder.path()), 0700u);
  EXPECT_EQ(mode_of(folder.path() / "1/17"), 0600u);
  EXPECT_THROW(folder.make_file("1/17"), Error) << "a file is never written twice";
}

TEST_F(PrivateFolderTest, IsGoneAtTheEnd) {
  {
    const PrivateFolder folder("study.zip");
    for (int i = 0; i < 300; ++i) write(folder, std::to_string(i % 3) + "/" + std::to_string(i));
    EXPECT_EQ(room_.files(), 1u);
  }
  EXPECT_EQ(room_.files(), 0u);
}

TEST_F(PrivateFolderTest, IsRemovedByAProcessThatMustEndAtOnce) {
  const PrivateFolder folder("study.zip"), other("other.zip");
  for (int i = 0; i < 300; ++i) write(folder, std::to_string(i % 3) + "/" + std::to_string(i));
  EXPECT_EQ(room_.files(), 2u);
  remove_unfinished_files();
  EXPECT_EQ(room_.files(), 0u);
}

TEST_F(PrivateFolderTest, ThatOfAKilledProcessGoesWithTheNextOne) {
  const fs::path abandoned = room_.path() / "voxshard-private-abcdef", other = room_.path() / "voxshard-else";
  fs::create_directories(abandoned / "1"), fs::create_directories(other);
  std::ofstream(abandoned / "1" / "17") << "voxels";
  const PrivateFolder living("study.zip");
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(other));
  const PrivateFolder next("other.zip");
  EXPECT_TRUE(fs::exists(living.path())) << "its process lives";
}

TEST_F(PrivateFolderTest, FoldersInFoldersAreGoneInEachOfTheseWays) {
  {
    const PrivateFolder folder("run/golden");
    write_tree(folder.path());
  }
  EXPECT_EQ(room_.files(), 0u) << "at the end";
  {
    const PrivateFolder folder("run/golden");
    write_tree(folder.path());
    remove_unfinished_files();
    EXPECT_EQ(room_.files(), 0u) << "of a process that must end at once";
  }
  write_tree(room_.path() / "voxshard-private-abcdef");
  const PrivateFolder next("run/golden");
  EXPECT_EQ(room_.files(), 1u) << "of a killed process, by the next one";
}

TEST_F(PrivateFolderTest, WhatCannotBeRemovedIsLeftAndNotTriedForEver) {
  {
    const PrivateFolder folder("run/golden");
    fs::create_directories(folder.path() / "1/2/3/4/5/6/too_deep");
    std::ofstream(folder.path() / "1/2/17") << "voxels";
  }
  ASSERT_EQ(room_.files(), 1u);
  const fs::path left = fs::directory_iterator(room_.path())->path();
  EXPECT_TRUE(fs::exists(left / "1/2/3/4/5/6/too_deep"));
  EXPECT_FALSE(fs::exists(left / "1/2/17"));
}

TEST_F(PrivateFolderTest, ItsPathsHaveTheNameOfWhatTheyStandFor) {
  const PrivateFolder folder("in/study.zip");
  EXPECT_EQ(path_outside(folder.path() / "1/17"), "in/study.zip/1/17");
  EXPECT_EQ(path_outside("/tmp/else"), "/tmp/else");
  const std::string inside = folder.path().string();
  EXPECT_EQ(folder.text_outside("[input] " + inside + "/1: bad; see " + inside),
            "[input] in/study.zip/1: bad; see in/study.zip");
}

TEST_F(PrivateFolderTest, WithoutAFileDescriptorThereIsAReasonAndNothingStays) {
  const Descriptor lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_GE(lowest.number(), 0);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(lowest.number());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THROW(PrivateFolder("study.zip"), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(room_.files(), 0u);
}

TEST_F(PrivateFolderTest, WithoutATmpdirThereIsAReason) {
  ::setenv("TMPDIR", "/nowhere", 1);
  EXPECT_THROW(PrivateFolder("study.zip"), Error);
}

}  // namespace
}  // namespace voxshard
