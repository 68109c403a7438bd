#include "io/archive/unpacked_archive.h"

#include <array>
#include <deque>
#include <mutex>
#include <span>

#include "io/files/content_hash.h"
#include "io/files/file_error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPiece = std::int64_t{1} << 20;
constexpr std::int64_t kRoomToLeave = std::int64_t{256} << 20;  // bytes that stay free in TMPDIR

/// Errors: kInput when TMPDIR has no room for so many bytes more.
void require_room(const fs::path& archive, const fs::path& folder, std::int64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || static_cast<double>(space.available) >= static_cast<double>(bytes) + static_cast<double>(kRoomToLeave))
    return;
  throw input_error(archive,
                    "takes " + bytes_text(bytes) + " more to unpack, and " + folder.parent_path().string() + " has " +
                        bytes_text(static_cast<std::int64_t>(space.available)) + " left",
                    "free space there, or set TMPDIR to a folder with more", "E_ARCHIVE");
}

/// Numbers the folders of an archive, so that files of one folder stay together.
class FolderNumbers {
 public:
  std::string of(const std::string& name) {
    const std::size_t end = name.find_last_of("/\\");
    return std::to_string(
        numbers_.try_emplace(name.substr(0, end == std::string::npos ? 0 : end), numbers_.size() + 1).first->second);
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

std::shared_ptr<UnpackedArchive> unpack(const fs::path& path, const WantedFile& wanted, const ArchiveLimits& limits) {
  ArchiveReader in(path, limits);
  auto unpacked = std::make_shared<UnpackedArchive>(path);
  const fs::path& folder = unpacked->folder.path();
  FolderNumbers folders;
  std::vector<char> piece(static_cast<std::size_t>(kPiece));
  std::int64_t unwanted = 0;
  for (std::int64_t number = 1; in.next(); ++number) {
    constexpr std::int64_t kBegin = 140;
    std::int64_t got = in.read(piece.data(), kBegin);
    const auto ending = wanted(in.name(), {piece.data(), static_cast<std::size_t>(got)});
    if (!ending) {
      ++unwanted;
      continue;
    }
    const fs::path name = fs::path(folders.of(in.name())) / (std::to_string(number) + *ending);
    require_room(path, folder, in.bytes().value_or(0));
    OutputStream out(unpacked->folder.make_file(name));
    ContentHash hash;
    for (std::int64_t since_look = 0; got > 0; got = in.read(piece.data(), kPiece)) {
      hash.add(std::string_view(piece.data(), static_cast<std::size_t>(got)));
      out.write(piece.data(), got);
      if ((since_look += got) < 64 * kPiece) continue;
      since_look = 0;
      require_room(path, folder, kPiece);
    }
    out.close();
    if (!out)
      throw output_error(folder.parent_path(), "a file of an archive cannot be unpacked there",
                         "free space there, or set TMPDIR");
    std::error_code error;
    unpacked->bytes += static_cast<std::int64_t>(fs::file_size(folder / name, error));
    unpacked->files.push_back({.path = folder / name, .ending = *ending, .hash = hash.text()});
  }
  unpacked->left_out = in.left_out();
  if (unwanted > 0) unpacked->left_out["file of another kind"] += unwanted;
  return unpacked;
}

/// An archive as it was when it was unpacked.
struct Seen {
  fs::path path;
  std::uintmax_t bytes = 0;
  fs::file_time_type changed;
  bool operator==(const Seen&) const = default;
};

using Unpacked = std::shared_ptr<const UnpackedArchive>;

/// The archives that are unpacked: those that somebody holds, and the last ones that were asked for.
class UnpackedArchives {
 public:
  Unpacked find(const Seen& seen) {
    std::erase_if(alive_, [](const auto& one) { return one.second.expired(); });
    for (const auto& [known, unpacked] : alive_)
      if (known == seen)
        if (Unpacked found = unpacked.lock()) {
          keep(std::move(found));
          return kept_.front();
        }
    return nullptr;
  }
  void add(const Seen& seen, Unpacked unpacked) {
    alive_.emplace_back(seen, unpacked);
    keep(std::move(unpacked));
  }
  /// Makes room for one more: lets go of the oldest ones, and of all where the disk has little room.
  void make_room() {
    constexpr std::uintmax_t kComfortable = std::uintmax_t{4} << 30;
    while (kept_.size() >= kMost) kept_.pop_back();
    std::error_code error;
    const fs::space_info space = fs::space(fs::temp_directory_path(error), error);
    if (!error && space.available < kComfortable) kept_.clear();
  }

 private:
  static constexpr std::size_t kMost = 16;
  static constexpr std::int64_t kMostBytes = std::int64_t{8} << 30;
  void keep(Unpacked unpacked) {
    std::erase(kept_, unpacked);
    kept_.push_front(std::move(unpacked));
    std::int64_t bytes = 0;
    std::size_t count = 0;
    for (; count < kept_.size() && (count == 0 || bytes + kept_[count]->bytes <= kMostBytes); ++count)
      bytes += kept_[count]->bytes;
    kept_.resize(std::min(count, kMost));
  }
  std::vector<std::pair<Seen, std::weak_ptr<const UnpackedArchive>>> alive_;
  std::deque<Unpacked> kept_;  // the one that was asked for last comes first
};

}  // namespace

std::shared_ptr<const UnpackedArchive> unpack_archive(const fs::path& path, const WantedFile& wanted,
                                                      const ArchiveLimits& limits) {
  static std::mutex mutex;
  static UnpackedArchives archives;
  std::error_code error;
  const Seen seen{path, fs::file_size(path, error), fs::last_write_time(path, error)};
  const std::lock_guard lock(mutex);
  if (Unpacked known = archives.find(seen)) return known;
  archives.make_room();
  Unpacked unpacked = unpack(path, wanted, limits);
  archives.add(seen, unpacked);
  return unpacked;
}

}  // namespace voxshard
