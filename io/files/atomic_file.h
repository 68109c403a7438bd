// Output files appear whole or not at all: bytes go to ".tmp.MACHINE-PID-RANDOM.NAME" in the same folder, are synced,
// and the file is then renamed onto its name.
//
//   write_file_atomically(path, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string_view>
#include <system_error>

#include "io/files/open_file.h"

namespace voxshard {

/// A file that will be renamed to its final name: `path` has the final folder and extensions (libraries choose a format
/// by them).
struct TemporaryFile {
  std::filesystem::path path;
  Descriptor file;  // open to write
};

/// Makes an empty file to be renamed to `path`. Nobody can put a file or a link in its way: its name holds 64 random
/// bits, and an existing file of that name is not opened. It is noted as unfinished (unfinished_files.h) until it is
/// committed or discarded.
///   only_owner  nobody but the owner may read it (mode 0600); else the umask decides
/// Errors: kOutput names the path and the reason.
TemporaryFile make_temporary_file(const std::filesystem::path& path, bool only_owner = false);
/// Returns true when a file has such a name, from this process or another; files left by killed processes may be
/// removed.
///   example: ".tmp.node1-1234-0123456789abcdef.image.nii"
bool is_temporary(const std::filesystem::path& path);
/// Syncs `temporary`, a file or a folder of synced files, renames it onto `path` and syncs the folder of that. Errors:
/// kOutput, also when the disk refuses to sync; the temporary file is then removed, and `path` is as it was (whole and
/// new when only the folder was not synced).
void commit_file(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// Waits until a file, or a folder with all that lies in it, is on the disk; links and devices are left out, and a file
/// system that cannot sync a folder is no error. Returns the first error; none when all is there.
std::error_code sync_tree(const std::filesystem::path& path);
/// The same for a folder alone: the names in it.
std::error_code sync_folder(const std::filesystem::path& folder);

/// Removes a temporary file that will not be committed.
void discard_file(const std::filesystem::path& temporary);

/// The name of an output that a stop cut short: "found.incomplete.json" for found.json, which is left as it is.
std::filesystem::path incomplete_path(const std::filesystem::path& path);
/// Removes the file that an earlier, interrupted call left under incomplete_path(); for an output that is now complete.
void remove_incomplete(const std::filesystem::path& path);

/// A file that is written piece by piece, in memory that does not grow; without commit() nothing is left behind.
///   AtomicFile out("found.json");
///   out.stream() << "[";
///   out.commit();
class AtomicFile {
 public:
  /// Errors: kOutput names the path and the reason.
  explicit AtomicFile(std::filesystem::path path, bool only_owner = false);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return out_; }
  /// Gives the file its final name, or incomplete_path() when `complete` is false. Errors: kOutput, also for an error
  /// while writing.
  void commit(bool complete = true);

 private:
  AtomicFile(std::filesystem::path path, TemporaryFile temporary);

  std::filesystem::path path_, temporary_;
  OutputStream out_;
};

/// Calls `body` with a binary stream and commits what it wrote. Errors: kOutput names the path and the reason.
void write_file_atomically(const std::filesystem::path& path, const std::function<void(std::ostream&)>& body);
void write_text_atomically(const std::filesystem::path& path, std::string_view text);
/// The same for a file that nobody but its owner may read: mode 0600 from its first byte on, whatever was there before.
void write_private_text(const std::filesystem::path& path, std::string_view text);

}  // namespace voxshard
