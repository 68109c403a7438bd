// A folder in which files and folders arrive while a command works through them: what has been quiet for a while is
// complete, and what is finished moves to another folder.
//
//   Inbox inbox({.folder = "incoming", .done = "done", .quiet_s = 10});
//   for (const fs::path& entry : inbox.arrived()) inbox.finish(entry, why_not(entry));   // done/a.nii.gz, or
//   done/failed/a.nii.gz beside done/failed/a.nii.gz.reason.json
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/output/folder_lock.h"

namespace voxshard {

/// What tells the time, in ns; tests set it back.
struct InboxClock {
  std::function<std::int64_t()> wall_ns;    // since 1970, as the times of files; may go back
  std::function<std::int64_t()> steady_ns;  // since any moment; never goes back
};
InboxClock system_clock();

struct InboxFolders {
  std::filesystem::path folder;  // where entries arrive
  std::filesystem::path done;    // where finished ones go; what failed goes to "failed" in it
  double quiet_s = 10;           // seconds without a change after which an entry is complete
  double keep_days = 0;          // days after which finished entries are deleted; 0: they are kept
};

/// Why an entry failed: a code (libcore/base/codes.h) and a text without values of headers.
struct FailureReason {
  std::string code, text;
};

/// The entries at the top of a folder as they are now: files and folders, but no links and nothing hidden.
struct InboxEntries {
  std::map<std::string, std::int64_t> changed_ns;  // by name: time of the last change of the entry or a file in it
  std::set<std::string> closed;                    // folders that cannot be looked into, or that are too deep or full
  /// Folders are searched to a depth of 32, and to a million files; those beyond are `closed`. Errors: kInput when
  /// the folder is gone or cannot be read.
  static InboxEntries of(const std::filesystem::path& folder);
};

class Inbox {
 public:
  /// Locks the folder against a second inbox on it, also of another process, and makes the folder of finished entries.
  /// Errors: kUsage when one of the folders lies in the other, or when entries are to be deleted (keep_days) from a
  /// folder with files that no inbox moved there; kInput when there is no folder to watch; kOutput, also when it is
  /// locked.
  explicit Inbox(InboxFolders folders, InboxClock clock = system_clock());
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Returns the entries that are complete, sorted by name: those in which no file has changed, arrived or been renamed
  /// for quiet_s seconds. Where the clock was set back, so that a change lies in the future, the seconds count from
  /// when it was first seen. An entry that was returned is left out until it changes. Errors: those of InboxEntries.
  std::vector<std::filesystem::path> arrived();
  /// Returns how many folders the last two calls of arrived() could not look into, so that they never arrive.
  std::size_t closed() const;

  /// Moves an entry to the folder of finished ones, after its reason is written where it failed; where its name is
  /// taken there, ".2", ".3" ... is put behind it. Returns its new place; none for an entry that has changed since it
  /// was returned, which stays and arrives again, and for one that somebody took away. Errors: kOutput; the entry then
  /// stays.
  std::optional<std::filesystem::path> finish(const std::filesystem::path& entry,
                                              const std::optional<FailureReason>& failed = std::nullopt);

  /// Deletes finished entries that are older than keep_days, at most once an hour (retention.h); returns how many.
  std::size_t expire();

 private:
  struct Seen {
    std::int64_t changed_ns = 0;  // time of the last change
    std::int64_t since_ns = 0;    // steady time when this was first seen
    bool returned = false;
  };
  InboxFolders folders_;
  InboxClock clock_;
  std::optional<FolderLock> lock_;
  std::map<std::string, Seen> seen_;  // entries that are there, by name
  std::set<std::string> closed_, closed_before_;
  std::optional<std::int64_t> expired_ns_;  // steady time of the last call that deleted
};

/// The name that an entry has among the finished ones: its own; of more than 230 bytes, which would leave no room for
/// what is put before and behind it, its beginning and its hash.
std::string finished_name(const std::filesystem::path& entry);

/// The file that says why an entry failed, beside it: "done/failed/a.nii.gz.reason.json".
std::filesystem::path reason_file_of(const std::filesystem::path& entry);

}  // namespace voxshard
