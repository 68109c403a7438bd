// The list of what is left out while a batch goes on: whole when it is begun, and added to from then on.
#include "pipelines/engine/predicted_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/files/csv.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

const CaseFailure kUnread = {"a", "E_READ", "[input] a, \"torn\""}, kTooLarge = {"b", "E_SIZE", "[input] b"},
                  kUnreadToo = {"c", "E_READ", "[input] c"};

ino_t inode_of(const fs::path& file) {
  struct stat about {};
  EXPECT_EQ(::stat(file.c_str(), &about), 0) << file;
  return about.st_ino;
}

/// Returns what the list has when it is written at once.
std::string list_at_once(const std::vector<CaseFailure>& failures) {
  const ScratchFolder folder("quarantine_whole");
  write_quarantine(folder.path(), failures);
  return read_bytes(folder.path() / "quarantine.csv");
}

TEST(QuarantineListTest, RowsAreAddedAndNoneIsWrittenAgain) {
  const ScratchFolder folder("quarantine");
  const fs::path file = folder.path() / "quarantine.csv";
  folder.write("quarantine.csv", "case,code,message\nold,E_READ,x\ntor");  // of a call that was killed
  QuarantineList list(folder.path());
  list.write({kUnread});
  EXPECT_EQ(read_bytes(file), list_at_once({kUnread})) << "nothing of the old list survives";
  const ino_t number = inode_of(file);
  list.write({kUnread, kTooLarge, kUnreadToo});
  list.write({kUnread, kTooLarge, kUnreadToo});
  EXPECT_EQ(read_bytes(file), list_at_once({kUnread, kTooLarge, kUnreadToo}));
  EXPECT_EQ(inode_of(file), number) << "it was written anew";
}

TEST(QuarantineListTest, RowsThatAreOutOfDateLeaveTheFile) {
  const ScratchFolder folder("quarantine_dropped");
  QuarantineList list(folder.path());
  list.write({kUnread, kTooLarge});
  list.write({kTooLarge, kUnreadToo}, 1);
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kTooLarge, kUnreadToo}));
  list.write({kTooLarge, kUnreadToo, kUnread}, 1);
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kTooLarge, kUnreadToo, kUnread}));
}

TEST(QuarantineListTest, AFileThatCannotBeAddedToIsWrittenWhole) {
  const ScratchFolder folder("quarantine_gone");
  QuarantineList list(folder.path());
  list.write({});
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({}));
  fs::remove(folder.path() / "quarantine.csv");
  list.write({kUnread, kTooLarge});
  EXPECT_EQ(read_bytes(folder.path() / "quarantine.csv"), list_at_once({kUnread, kTooLarge}));
}

TEST(QuarantineListTest, ARowThatAKillCutShortIsNotRead) {
  const ScratchFolder folder("quarantine_torn");
  QuarantineList(folder.path()).write({kUnread, kTooLarge});
  const fs::path file = folder.path() / "quarantine.csv";
  fs::resize_file(file, fs::file_size(file) - 3);
  std::vector<std::string> read;
  read_csv(file, [&](const std::vector<std::string>& row) { read.push_back(row.at(0)); });
  EXPECT_EQ(read, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace voxshard
