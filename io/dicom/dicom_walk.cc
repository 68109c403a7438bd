#include <unistd.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <system_error>

#include "io/dicom/dicom_grid.h"
#include "io/dicom/dicom_series.h"
#include "io/files/file_error.h"
#include "libcore/base/error.h"

namespace voxshard {

namespace fs = std::filesystem;

void walk_folder(const fs::path& folder, const DicomWalk& walk,
                 const std::function<bool(const fs::directory_entry&)>& body) {
  std::error_code error;
  std::int64_t count = 0;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    const bool hidden = it->path().filename().string().starts_with(".");
    if (it->is_directory(unknown)) {
      const bool deep = it.depth() + 1 >= walk.deepest;
      if (hidden || deep) it.disable_recursion_pending();
      if (walk.not_entered != nullptr && !hidden && !it->is_symlink(unknown))
        *walk.not_entered += deep || ::access(it->path().c_str(), R_OK | X_OK) != 0;
      continue;
    }
    if (++count > walk.most_files)
      throw input_error(folder, "holds more than " + std::to_string(walk.most_files) + " files",
                        "give a folder within it");
    if (!hidden && it->is_regular_file(unknown) && !body(*it)) return;
  }
  if (error) throw input_error(folder, "cannot be read (" + error.message() + ")", "check its permissions");
}

namespace {

/// Files of a folder as they were when it was looked at. A folder whose listing is the same holds the same series.
struct Listing {
  struct Entry {
    fs::path path;
    std::uintmax_t bytes = 0;
    fs::file_time_type changed;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;  // sorted by path
  bool operator==(const Listing&) const = default;
};

Listing list_files(const fs::path& folder, const DicomWalk& walk) {
  Listing listing;
  walk_folder(folder, walk, [&](const fs::directory_entry& entry) {
    std::error_code error;
    listing.entries.push_back({entry.path(), entry.file_size(error), entry.last_write_time(error)});
    return true;
  });
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return listing;
}

/// Refuses a series beside which a DICOM file lies that cannot be read at all: its first or last slice may be missing,
/// which no distance shows.
void refuse_beside(DicomSeries& series, const std::vector<std::pair<fs::path, std::string>>& unreadable) {
  const auto beside = [&](const auto& file) {
    return std::any_of(series.files.begin(), series.files.end(),
                       [&](const DicomFile& own) { return own.path.parent_path() == file.first.parent_path(); });
  };
  const auto count = std::count_if(unreadable.begin(), unreadable.end(), beside);
  if (count == 0) return;
  series.beside = "may lack slices: beside it lie " + std::to_string(count) +
                  " DICOM files that cannot be read; copy them again, or move them away";
  if (series.problem.empty()) refuse_series(series, "E_READ", series.beside);
}

DicomFolder read_listed(const Listing& listing) {
  std::vector<DicomHeader> headers;
  std::vector<std::pair<fs::path, std::string>> unreadable;
  for (const Listing::Entry& entry : listing.entries) {
    if (!looks_like_dicom(entry.path)) continue;
    try {
      headers.push_back(read_dicom_header(entry.path));
    } catch (const Error& e) {
      unreadable.emplace_back(entry.path, e.what());
    }
  }
  DicomFolder found = sort_dicom_series(std::move(headers));
  for (DicomSeries& series : found.series) refuse_beside(series, unreadable);
  found.unreadable = std::move(unreadable);
  return found;
}

/// The folders that were looked at last. A command asks for the header, the plan, the files and the voxels of one
/// series in turn, and each time for its folder.
class RecentFolders {
 public:
  std::shared_ptr<const DicomFolder> find(const Listing& listing) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, found] : recent_)
      if (known == listing) return found;
    return nullptr;
  }
  /// The last one is kept whatever its size: without it a large folder would be parsed again for each of its series.
  void keep(Listing listing, std::shared_ptr<const DicomFolder> found) {
    const std::lock_guard lock(mutex_);
    recent_.emplace_front(std::move(listing), std::move(found));
    const auto files = [&] {
      std::size_t count = 0;
      for (const auto& [known, folder] : recent_) count += known.entries.size();
      return count;
    };
    while (recent_.size() > 1 && (recent_.size() > kMostFolders || files() > kMostFiles)) recent_.pop_back();
  }

 private:
  static constexpr std::size_t kMostFolders = 8, kMostFiles = 160'000;
  std::mutex mutex_;
  std::deque<std::pair<Listing, std::shared_ptr<const DicomFolder>>> recent_;
};

}  // namespace

std::shared_ptr<const DicomFolder> find_dicom_series(const fs::path& folder, const DicomWalk& walk) {
  static RecentFolders recent;
  Listing listing = list_files(folder, walk);
  if (auto known = recent.find(listing)) return known;
  auto found = std::make_shared<const DicomFolder>(read_listed(listing));
  recent.keep(std::move(listing), found);
  return found;
}

bool holds_dicom(const fs::path& folder, const DicomWalk& walk) {
  bool found = false;
  try {
    walk_folder(folder, walk,
                [&](const fs::directory_entry& entry) { return !(found = looks_like_dicom(entry.path())); });
  } catch (const Error&) {  // a folder that cannot be walked is reported by the command that reads it
  }
  return found;
}

}  // namespace voxshard
