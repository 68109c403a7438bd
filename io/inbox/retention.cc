#include "io/inbox/retention.h"

#include <sys/stat.h>

#include <string>
#include <system_error>
#include <vector>

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr double kDayNs = 86400e9;

/// Returns the days since an entry was moved to where it is; negative for one from the future, and for what is neither
/// a file nor a folder.
double days_since_move(const fs::path& entry, std::int64_t now_ns) {
  struct stat found {};
  if (::lstat(entry.c_str(), &found) != 0 || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return -1;
  const double moved_ns = static_cast<double>(found.st_ctim.tv_sec) * 1e9 + static_cast<double>(found.st_ctim.tv_nsec);
  return (static_cast<double>(now_ns) - moved_ns) / kDayNs;
}

std::vector<fs::path> entries_in(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  return entries;
}

/// Deletes an entry in two steps, so that a kill leaves none that has lost only some of its files.
bool delete_entry(const fs::path& entry) {
  const fs::path expired = entry.parent_path() / ("." + entry.filename().string() + kExpired);
  std::error_code error;
  fs::remove_all(expired, error);
  fs::rename(entry, expired, error);
  if (error) return false;
  fs::remove_all(expired, error);
  std::error_code none;
  fs::remove(entry.string() + kReasonEnding, none);
  return !error;
}

}  // namespace

std::size_t delete_old_entries(const fs::path& done, double keep_days, std::int64_t now_ns) {
  std::size_t deleted = 0;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(done / "failed", error))) return 0;  // no folder of finished inputs
  for (const fs::path& folder : {done, done / "failed"}) remove_half_deleted(folder);
  for (const fs::path& folder : {done, done / "failed"}) {
    for (const fs::path& entry : entries_in(folder)) {
      const std::string name = entry.filename().string();
      const bool is_folder_of_failed = folder == done && name == "failed";
      const bool is_reason = name.ends_with(kReasonEnding);
      const fs::path reasoned = is_reason ? folder / name.substr(0, name.rfind(kReasonEnding)) : fs::path();
      if (is_folder_of_failed || (is_reason && fs::exists(fs::symlink_status(reasoned, error)))) continue;
      const bool is_half_copied = name.starts_with(".") && name.ends_with(kArriving);
      if ((name.starts_with(".") && !is_half_copied) || !(days_since_move(entry, now_ns) > keep_days)) continue;
      deleted += delete_entry(entry) && !is_reason && !is_half_copied;
    }
  }
  return deleted;
}

void remove_half_deleted(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& entry : entries_in(folder)) {
    const std::string name = entry.filename().string();
    if (name.starts_with(".") && name.ends_with(kExpired)) fs::remove_all(entry, error);
  }
}

}  // namespace voxshard
