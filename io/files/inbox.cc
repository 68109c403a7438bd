#include "io/files/inbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 32;
constexpr std::int64_t kMostFiles = 1'000'000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;

/// Returns when the system last changed a file or its name, in ns since 1970, which no program can set back; none for
/// what is gone, or is neither a file nor a folder.
std::optional<std::int64_t> changed_ns(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return std::nullopt;
  return found.st_ctim.tv_sec * kNanoseconds + found.st_ctim.tv_nsec;
}

/// Returns the time of the last change of a file, or of a folder and all that is in it; none as in changed_ns(), and
/// for a folder that is too deep or too full.
std::optional<std::int64_t> last_change_ns(const fs::path& entry) {
  std::optional<std::int64_t> last = changed_ns(entry);
  std::error_code error;
  if (!last || !fs::is_directory(entry, error)) return last;
  std::int64_t files = 0;
  for (fs::recursive_directory_iterator it(entry, error), end; !error && it != end; it.increment(error)) {
    if (it.depth() >= kMostDepth || ++files > kMostFiles) return std::nullopt;
    if (const auto changed = changed_ns(it->path())) last = std::max(*last, *changed);
  }
  return error ? std::nullopt : last;
}

std::int64_t now_ns() {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNanoseconds + now.tv_nsec;
}

/// Renames `from`, or copies and removes it where `to` is on another file system. Errors: as std::error_code.
std::error_code move_entry(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error != std::errc::cross_device_link) return error;
  const fs::path half = to.parent_path() / ("." + to.filename().string() + ".arriving");
  fs::remove_all(half, error);
  fs::copy(from, half, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (!error) fs::rename(half, to, error);
  if (!error) fs::remove_all(from, error);
  return error;
}

}  // namespace

Inbox::Inbox(InboxFolders folders) : folders_(std::move(folders)) {
  std::error_code error;
  if (!fs::is_directory(folders_.folder, error))
    throw Error(ErrorKind::kInput, "[watch] " + folders_.folder.string() +
                                       " is no folder; make it, or give the folder that inputs arrive in");
  require_outside(folders_.done, {folders_.folder}, "{done}");
  require_outside(folders_.folder, {folders_.done}, "{done}");
  make_output_folder(folders_.done / "failed");
}

std::vector<fs::path> Inbox::arrived() {
  const auto quiet_ns = static_cast<std::int64_t>(folders_.quiet_s * static_cast<double>(kNanoseconds));
  std::map<std::string, std::int64_t> complete;
  std::error_code error;
  for (fs::directory_iterator it(folders_.folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".")) continue;
    const auto changed = last_change_ns(it->path());
    if (changed && now_ns() - *changed >= quiet_ns) complete[name] = *changed;
  }
  if (error)
    throw Error(ErrorKind::kInput, "[watch] " + folders_.folder.string() + " cannot be read: " + error.message() +
                                       "; is it still mounted?");
  std::vector<fs::path> fresh;
  for (const auto& [name, changed] : complete)
    if (const auto known = returned_.find(name); known == returned_.end() || known->second != changed)
      fresh.push_back(folders_.folder / name);
  returned_ = std::move(complete);
  return fresh;
}

fs::path Inbox::finish(const fs::path& entry, bool good) {
  const fs::path folder = good ? folders_.done : folders_.done / "failed";
  fs::path to = folder / entry.filename();
  std::error_code error;
  for (int copy = 2; fs::symlink_status(to, error).type() != fs::file_type::not_found; ++copy)
    to = folder / (entry.filename().string() + "." + std::to_string(copy));
  if (const std::error_code failed = move_entry(entry, to))
    throw Error(ErrorKind::kOutput, "[watch] a finished input cannot be moved to " + folder.string() + ": " +
                                        failed.message() + "; check that the folder is writable and has space");
  return to;
}

}  // namespace voxshard
