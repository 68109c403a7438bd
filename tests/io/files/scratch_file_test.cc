#include "io/files/scratch_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/expect_error.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

struct stat status_of(int file) {
  struct stat status = {};
  EXPECT_EQ(::fstat(file, &status), 0);
  return status;
}

TEST(ScratchFile, HasNoNameAndReservesItsRoomOnTheDisk) {
  const ScratchFolder folder("scratch");
  ScratchFile scratch(folder.path());
  const int file = scratch.with_room(1 << 20);
  EXPECT_EQ(status_of(file).st_size, 1 << 20);
  EXPECT_GE(status_of(file).st_blocks * 512, 1 << 20);
  EXPECT_EQ(status_of(file).st_nlink, 0u);
  EXPECT_EQ(status_of(file).st_mode & 0777, 0600u);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(ScratchFile, ForgetsWhatItHeldWhenRoomIsMadeAgain) {
  const ScratchFolder folder("scratch");
  ScratchFile scratch(folder.path());
  const int file = scratch.with_room(4096);
  ASSERT_EQ(::pwrite(file, "patient", 7, 100), 7);
  EXPECT_EQ(scratch.with_room(8192), file);
  char held[7] = {};
  ASSERT_EQ(::pread(file, held, 7, 100), 7);
  EXPECT_EQ(std::string(held, 7), std::string(7, '\0'));
}

TEST(ScratchFile, TheNearestFolderOfAnOutputIsTheFirstOneThatExists) {
  const ScratchFolder folder("scratch");
  EXPECT_EQ(nearest_folder(folder.path()), folder.path());
  EXPECT_EQ(nearest_folder(folder.path() / "out/cases"), folder.path());
  EXPECT_EQ(nearest_folder(folder.path() / "found.json"), folder.path());
  EXPECT_EQ(nearest_folder("no such folder"), std::filesystem::current_path());
}

TEST(ScratchFile, MoreThanTheDiskHoldsIsRefusedWithWhatIsFree) {
  const ScratchFolder folder("scratch");
  ScratchFile scratch(folder.path());
  expect_error(ErrorKind::kBudget, "give {scratch} a folder on another disk",
               [&] { scratch.with_room(std::int64_t{1} << 43); });
  EXPECT_GE(scratch.with_room(4096), 0) << "what was tried is given back";
}

/// Where files may not grow, a try would end with another error than that of the disk.
TEST(ScratchFile, MoreThanTheDiskHoldsIsNotTried) {
  const ScratchFolder folder("scratch");
  ScratchFile scratch(folder.path());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(ErrorKind::kBudget, " free; give {scratch} a folder on another disk",
               [&] { scratch.with_room(std::int64_t{1} << 43); });
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
}

TEST(ScratchFile, AFolderWhereNoFileCanBeMadeIsNamed) {
  const ScratchFolder folder("scratch");
  for (const std::filesystem::path& path : {std::filesystem::path("/proc"), folder.path() / "not mounted"})
    expect_error(ErrorKind::kOutput, "no file can be made in " + path.string(),
                 [&] { ScratchFile(path).with_room(4096); });
}

}  // namespace
}  // namespace voxshard
