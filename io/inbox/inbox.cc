#include "io/inbox/inbox.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "io/files/atomic_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "io/inbox/retention.h"
#include "io/output/output_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 32;
constexpr std::int64_t kMostFiles = 1'000'000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kHourNs = 3600 * kNanoseconds;

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

std::int64_t ns_of(clockid_t clock) {
  struct timespec now {};
  clock_gettime(clock, &now);
  return now.tv_sec * kNanoseconds + now.tv_nsec;
}

/// Renames `from`, or copies and removes it where `to` is on another file system: once the copy is on the disk, for
/// after a power cut one of both must be whole. It gets a hidden name first, because a kill while it is removed must
/// not leave a part of it that arrives again. Errors: as std::error_code.
std::error_code move_entry(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error != std::errc::cross_device_link) return error;
  const fs::path half = to.parent_path() / ("." + to.filename().string() + kArriving);
  fs::remove_all(half, error);
  fs::copy(from, half, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (!error) error = sync_tree(half);
  if (!error) fs::rename(half, to, error);
  if (!error) error = sync_folder(to.parent_path());
  if (error) return error;
  const fs::path removed = from.parent_path() / ("." + finished_name(from) + kExpired);
  fs::remove_all(removed, error);
  fs::rename(from, removed, error);
  if (!error) fs::remove_all(removed, error);
  return error;
}

/// Refuses to delete old entries from a folder that holds files and is no folder of an inbox: one has "failed" in it.
void require_folder_of_inbox(const fs::path& done) {
  std::error_code error;
  if (!fs::exists(done, error) || fs::is_empty(done, error) || fs::is_directory(done / "failed", error)) return;
  throw Error(ErrorKind::kUsage, "[watch] {done} " + done.string() +
                                     " holds files that were not received, and the rules say that old ones there are "
                                     "deleted (keep_days); give a folder that is new or empty");
}

}  // namespace

InboxClock system_clock() {
  return {.wall_ns = [] { return ns_of(CLOCK_REALTIME); }, .steady_ns = [] { return ns_of(CLOCK_MONOTONIC); }};
}

fs::path reason_file_of(const fs::path& entry) {
  return entry.parent_path() / (entry.filename().string() + kReasonEnding);
}

std::string finished_name(const fs::path& entry) {
  constexpr std::size_t kMostBytes = 230, kKeptBytes = 180;  // of the 255 of a file system
  const std::string name = entry.filename().string();
  return name.size() <= kMostBytes ? name : name.substr(0, kKeptBytes) + "." + content_hash(std::string_view(name));
}

InboxEntries InboxEntries::of(const fs::path& folder) {
  InboxEntries entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(".")) continue;
    std::error_code unseen;
    if (const auto changed = last_change_ns(it->path()))
      entries.changed_ns[name] = *changed;
    else if (fs::is_directory(it->symlink_status(unseen)))
      entries.closed.insert(name);
  }
  if (error)
    throw Error(ErrorKind::kInput,
                "[watch] " + folder.string() + " cannot be read: " + error.message() + "; is it still mounted?");
  return entries;
}

Inbox::Inbox(InboxFolders folders, InboxClock clock) : folders_(std::move(folders)), clock_(std::move(clock)) {
  std::error_code error;
  if (!fs::is_directory(folders_.folder, error))
    throw Error(ErrorKind::kInput, "[watch] " + folders_.folder.string() +
                                       " is no folder; make it, or give the folder that inputs arrive in");
  require_outside(folders_.done, {folders_.folder}, "{done}");
  require_outside(folders_.folder, {folders_.done}, "{done}");
  if (folders_.keep_days > 0) require_folder_of_inbox(folders_.done);
  lock_.emplace(FolderLock::writing(folders_.folder, "predict"));
  make_output_folder(folders_.done / "failed");
  for (const fs::path& folder : {folders_.folder, folders_.done, folders_.done / "failed"}) remove_half_deleted(folder);
}

Inbox::~Inbox() {
  if (lock_) lock_->remove();
}

std::vector<fs::path> Inbox::arrived() {
  const auto quiet_ns = static_cast<std::int64_t>(folders_.quiet_s * static_cast<double>(kNanoseconds));
  const std::int64_t wall_ns = clock_.wall_ns(), steady_ns = clock_.steady_ns();
  std::map<std::string, Seen> there;
  std::vector<fs::path> complete;
  InboxEntries now = InboxEntries::of(folders_.folder);
  closed_before_ = std::exchange(closed_, std::move(now.closed));
  for (const auto& [name, changed] : now.changed_ns) {
    Seen entry{.changed_ns = changed, .since_ns = steady_ns};
    if (const auto known = seen_.find(name); known != seen_.end() && known->second.changed_ns == changed)
      entry = known->second;
    const std::int64_t age_ns = wall_ns - changed;
    const bool is_quiet = (age_ns >= 0 ? age_ns : steady_ns - entry.since_ns) >= quiet_ns;
    if (is_quiet && !entry.returned) {
      entry.returned = true;
      complete.push_back(folders_.folder / name);
    }
    there[name] = entry;
  }
  seen_ = std::move(there);
  return complete;
}

std::size_t Inbox::closed() const {  // not of one call alone: a file may have gone while its folder was searched
  return static_cast<std::size_t>(
      std::ranges::count_if(closed_, [&](const std::string& name) { return closed_before_.contains(name); }));
}

std::optional<fs::path> Inbox::finish(const fs::path& entry, const std::optional<FailureReason>& failed) {
  std::error_code error;
  if (fs::symlink_status(entry, error).type() == fs::file_type::not_found) return std::nullopt;
  const auto seen = seen_.find(entry.filename().string());
  if (seen != seen_.end() && last_change_ns(entry).value_or(seen->second.changed_ns) != seen->second.changed_ns)
    return std::nullopt;
  const fs::path folder = failed ? folders_.done / "failed" : folders_.done;
  const std::string name = finished_name(entry);
  fs::path to = folder / name;
  for (int copy = 2; fs::symlink_status(to, error).type() != fs::file_type::not_found; ++copy)
    to = folder / (name + "." + std::to_string(copy));
  if (failed) {
    const nlohmann::ordered_json reason = {{"code", failed->code}, {"text", failed->text}};
    write_text_atomically(reason_file_of(to),
                          reason.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  if (const std::error_code problem = move_entry(entry, to))
    throw Error(ErrorKind::kOutput, "[watch] a finished input cannot be moved to " + folder.string() + ": " +
                                        problem.message() + "; check that the folder is writable and has space");
  return to;
}

std::size_t Inbox::expire() {
  const std::int64_t steady_ns = clock_.steady_ns();
  if (folders_.keep_days <= 0 || (expired_ns_ && steady_ns - *expired_ns_ < kHourNs)) return 0;
  expired_ns_ = steady_ns;
  return delete_old_entries(folders_.done, folders_.keep_days, clock_.wall_ns());
}

}  // namespace voxshard
