#include "io/inbox/repeated_entry.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "io/inbox/retention.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the paths of the files of a folder below it; none where it holds links or other things than files and
/// folders, is deeper than 32 folders or has more than a million files.
std::optional<std::set<fs::path>> files_of_entry(const fs::path& entry) {
  constexpr int kDeepest = 32;
  constexpr std::size_t kMost = 1'000'000;
  std::set<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(entry, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    const fs::file_status status = it->symlink_status(unknown);
    if (it.depth() >= kDeepest || files.size() >= kMost) return std::nullopt;
    if (fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status)) return std::nullopt;
    const std::string name = it->path().filename().string();
    const bool is_half_copied = name.starts_with(".") && name.ends_with(kArriving);
    if (!is_half_copied) files.insert(it->path().lexically_relative(entry));
  }
  return error ? std::nullopt : std::optional(std::move(files));
}

bool are_equal(const fs::path& a, const fs::path& b) {
  InputFile one(a), other(b);
  if (!one) throw input_error(a, one.problem(), "check its permissions");
  if (!other) throw input_error(b, other.problem(), "check its permissions");
  if (one.bytes() != other.bytes()) return false;
  constexpr std::size_t kPiece = 1 << 18;
  std::vector<char> left(kPiece), right(kPiece);
  while (one && other) {
    one.read(left.data(), kPiece), other.read(right.data(), kPiece);
    if (one.gcount() != other.gcount() || !std::equal(left.begin(), left.begin() + one.gcount(), right.begin()))
      return false;
  }
  return one.eof() && other.eof();
}

Error not_joined(const fs::path& entry, const std::error_code& error) {
  return Error(ErrorKind::kOutput,
               "[watch] what came again cannot be joined with its earlier files: " + entry.string() + ": " +
                   error.message() + "; check that both folders are writable and have space");
}

/// Moves a file to a name that is free; where a file has come to have it, that one stays, and `from` too. Not a rename,
/// which would replace: a second name, or a copy on another file system that is on the disk, then the first name goes.
///   file  below the entry, whose folders may be new
void move_to_free_name(const fs::path& from, const fs::path& entry, const fs::path& file) {
  const fs::path to = entry / file;
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error == std::errc::file_exists) return;
  if (error) {  // another file system, or one without hard links
    const fs::path half = to.parent_path() / ("." + to.filename().string() + kArriving);
    fs::remove(half, error);  // of a process that was killed; a link of that name is not followed
    if (!error) fs::copy_file(from, half, error);
    if (!error) error = sync_tree(half);
    if (error) throw not_joined(from, error);
    if (fs::exists(fs::symlink_status(to))) {
      fs::remove(half, error);
      return;
    }
    fs::rename(half, to, error);
    for (fs::path folder = file.parent_path(); !error; folder = folder.parent_path()) {
      error = sync_folder(entry / folder);
      if (folder.empty()) break;
    }
  }
  if (!error) fs::remove(from, error);
  if (error) throw not_joined(from, error);
}

}  // namespace

Repetition compare_entries(const fs::path& again, const fs::path& earlier) {
  const auto now = files_of_entry(again), before = files_of_entry(earlier);
  if (!now || !before) return {.is_plain = false};
  Repetition found{.files = now->size()};
  for (const fs::path& file : *now)
    found.changed += !before->contains(file) || !are_equal(again / file, earlier / file);
  for (const fs::path& file : *before) found.missing += !now->contains(file);
  return found;
}

void remove_repeated(const fs::path& again, const fs::path& earlier) {
  std::error_code error;
  const auto now = files_of_entry(again);
  if (!now) return;
  for (const fs::path& file : *now)
    if (fs::exists(earlier / file, error) && are_equal(again / file, earlier / file)) {
      fs::remove(again / file, error);
      if (error) throw not_joined(again / file, error);
    }
  std::vector<fs::path> folders;
  for (fs::recursive_directory_iterator it(again, error), end; !error && it != end; it.increment(error))
    if (fs::is_directory(it->symlink_status())) folders.push_back(it->path());
  std::ranges::sort(folders, std::greater<>());  // those in others come first
  folders.push_back(again);
  for (const fs::path& folder : folders) fs::remove(folder, error);  // one that is not empty stays
}

void join_entries(const fs::path& again, const fs::path& earlier) {
  const auto before = files_of_entry(earlier);
  if (!before) throw not_joined(earlier, std::make_error_code(std::errc::not_supported));
  std::error_code error;
  for (const fs::path& file : *before) {
    const fs::path to = again / file;
    if (fs::exists(fs::symlink_status(to))) continue;
    fs::create_directories(to.parent_path(), error);
    if (error) throw not_joined(to, error);
    move_to_free_name(earlier / file, again, file);
  }
  const fs::path superseded = earlier.parent_path() / ("." + earlier.filename().string() + kExpired);
  fs::remove(earlier.string() + kReasonEnding, error);
  fs::remove_all(superseded, error);
  fs::rename(earlier, superseded, error);
  if (error) throw not_joined(earlier, error);
  fs::remove_all(superseded, error);
}

}  // namespace voxshard
