// Folders that were written before: read where nothing can be written, and refused where another version wrote them.
#include "io/output/folder_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "io/output/output_folder.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

/// Acts as another user during its lifetime if root runs the test, because permissions do not restrict root.
class AsPlainUser {
 public:
  AsPlainUser() {
    if (is_root_ && ::seteuid(65534) != 0) throw std::runtime_error("root cannot become another user");
  }
  ~AsPlainUser() {
    if (is_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool is_root_ = ::geteuid() == 0;
};

TEST(FolderLock, AFolderThatCannotBeWrittenIsRead) {
  const ScratchFolder scratch("locks");
  const fs::path folder = scratch.path() / "work", lock = folder / ".voxshard.lock";
  OutputFolder({.folder = folder, .command = "toy"}).start({.options = "a", .parts = {}});
  for (const bool with_lock_file : {true, false}) {
    if (!with_lock_file) fs::remove(lock);
    fs::permissions(folder, fs::perms(0555));
    {
      const AsPlainUser user;
      EXPECT_FALSE(std::ofstream(folder / "new").is_open()) << "nothing can be written";
      EXPECT_NO_THROW(FolderLock::reading(folder));
    }
    EXPECT_EQ(fs::exists(lock), with_lock_file);
    fs::permissions(folder, fs::perms::owner_all);
  }
}

TEST(FolderLock, AFolderOfAnotherVersionIsRefusedByNameAndStays) {
  const ScratchFolder scratch("version");
  const fs::path manifest = scratch.path() / kManifestName;
  const std::string rest = "\"command\":\"toy\",\"options\":\"a\"}\n";
  write_bytes(scratch.path() / "one.txt", "1");
  for (const auto& [format, refusal] : std::vector<std::pair<std::string, std::string>>{
           {"", "manifest.jsonl: names no format"},
           {"\"format\":\"voxshard 1\",",
            "manifest.jsonl: has the format \"voxshard 1\"; this program reads \"voxshard 2\" alone; remove the "
            "folder"},
           {"\"format\":\"\\u001b[2J\",", "manifest.jsonl: has an unknown format"},
           {"\"format\":2,", "manifest.jsonl: is damaged"}}) {
    write_bytes(manifest, "{" + format + rest);
    expect_error(ErrorKind::kInput, refusal,
                 [&] { OutputFolder folder({.folder = scratch.path(), .command = "toy"}); });
    EXPECT_EQ(read_bytes(manifest), "{" + format + rest);
    EXPECT_EQ(read_bytes(scratch.path() / "one.txt"), "1");
  }
}

/// Does `work` in another process and returns after it ended, by exit or by SIGKILL.
void in_another_process(const std::function<void()>& work, bool killed) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    if (killed) ::raise(SIGKILL);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFSIGNALED(status), killed);
}

TEST(FolderWriter, IsKnownWhileItWritesAndAfterItWasKilled) {
  const ScratchFolder scratch("writer");
  EXPECT_EQ(folder_writer(scratch.path()).lock, FolderWriter::Lock::kFree) << "there is no lock file";
  EXPECT_EQ(folder_writer(scratch.path()).process, 0);
  {
    const FolderLock lock = FolderLock::writing(scratch.path(), "toy");
    const FolderWriter writer = folder_writer(scratch.path());
    EXPECT_EQ(writer.lock, FolderWriter::Lock::kHeld);
    EXPECT_EQ(writer.process, ::getpid());
    EXPECT_EQ(writer.command, "toy");
    EXPECT_TRUE(writer.on_this_host);
  }
  EXPECT_EQ(folder_writer(scratch.path()).process, 0) << "it ended by itself";
  in_another_process([&] { new FolderLock(FolderLock::writing(scratch.path(), "toy")); }, true);
  const FolderWriter killed = folder_writer(scratch.path());
  EXPECT_EQ(killed.lock, FolderWriter::Lock::kFree);
  EXPECT_GT(killed.process, 0);
  EXPECT_TRUE(killed.on_this_host);
  const FolderLock next = FolderLock::writing(scratch.path(), "next");
  EXPECT_EQ(folder_writer(scratch.path()).process, ::getpid());
}

TEST(FolderWriter, ANoteOfAnotherHostIsNotOfThisOne) {
  const ScratchFolder scratch("writer_host");
  write_bytes(scratch.path() / ".voxshard.lock", "1234 train node.other-cluster\x1b[2J");
  const FolderWriter writer = folder_writer(scratch.path());
  EXPECT_EQ(writer.process, 1234);
  EXPECT_EQ(writer.command, "train");
  EXPECT_EQ(writer.host, "node.other-cluster");
  EXPECT_FALSE(writer.on_this_host);
  for (const char* note : {"", "-1 train x", "0 train x", "train", "99999999999999999999 train x"}) {
    write_bytes(scratch.path() / ".voxshard.lock", note);
    EXPECT_EQ(folder_writer(scratch.path()).process, 0) << note;
  }
}

TEST(FolderWriter, ReadersAreNone) {
  const ScratchFolder scratch("writer_reads");
  write_bytes(scratch.path() / ".voxshard.lock", "");
  const FolderLock lock = FolderLock::reading(scratch.path());
  EXPECT_EQ(folder_writer(scratch.path()).lock, FolderWriter::Lock::kFree);
}

}  // namespace
}  // namespace voxshard
