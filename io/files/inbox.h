// A folder in which files and folders arrive while a command works through them: what has been quiet for a while is
// complete, and what is finished moves to another folder.
//
//   Inbox inbox({.folder = "incoming", .done = "done", .quiet_s = 10});
//   for (const fs::path& entry : inbox.arrived()) inbox.finish(entry, predicted(entry));   // done/a.nii.gz, or
//   done/failed/a.nii.gz
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace voxshard {

struct InboxFolders {
  std::filesystem::path folder;  // where entries arrive
  std::filesystem::path done;    // where finished ones go; what failed goes to "failed" in it
  double quiet_s = 10;           // seconds without a change after which an entry is complete
};

class Inbox {
 public:
  /// Makes the folder of finished entries. Errors: kUsage when one of the folders lies in the other; kInput when there
  /// is no folder to watch; kOutput.
  explicit Inbox(InboxFolders folders);

  /// Returns the entries at the top of the folder that are complete, sorted by name: files and folders, but no links
  /// and nothing hidden, in which no file has changed, arrived or been renamed for quiet_s seconds. An entry that was
  /// returned is left out until it changes. Folders are searched to a depth of 32, and to a million files.
  /// Errors: kInput when the folder is gone or cannot be read.
  std::vector<std::filesystem::path> arrived();

  /// Moves an entry to the folder of finished ones; where its name is taken there, ".2", ".3" ... is put behind it.
  /// Returns its new place. Errors: kOutput; the entry then stays.
  std::filesystem::path finish(const std::filesystem::path& entry, bool good);

 private:
  InboxFolders folders_;
  std::map<std::string, std::int64_t> returned_;  // by name: time of the last change, in ns, as it was returned
};

}  // namespace voxshard
