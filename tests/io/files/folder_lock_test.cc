// Folders that were written before: read where nothing can be written, and refused where another version wrote them.
#include "io/files/folder_lock.h"

#include <unistd.h>

#include "io/files/output_folder.h"
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

}  // namespace
}  // namespace voxshard
