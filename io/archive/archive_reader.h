// Reads the files of a zip or tar archive one after the other, within bounds, through libarchive. Names of an archive
// are texts to look at and never become paths.
//
//   ArchiveReader in("study.zip");
//   while (in.next())
//     if (in.name().ends_with(".dcm")) in.read(buffer, 132);
//
// Called by unpacked_archive.h.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace voxshard {

struct ArchiveLimits {
  std::int64_t most_entries = 200'000;  // files, folders and all else
  std::int64_t most_bytes = std::int64_t{64} << 30;
  double most_inflation = 250;  // unpacked bytes per byte of the archive; checked beyond free_bytes
  std::int64_t free_bytes = std::int64_t{1} << 30;
  std::size_t most_name_bytes = 4096;
  std::int64_t most_decoder_bytes = std::int64_t{96} << 20;  // memory of the decoder of .xz; xz -9 asks for 65 MiB
};

/// The endings of archives that are read; the row of archives in the table of formats names them too.
inline constexpr std::array<std::string_view, 10> kArchiveEndings = {
    ".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.bz2", ".tbz2"};

/// True for a name with one of these endings, in any case of letters.
bool is_archive_name(const std::filesystem::path& path);

/// Returns the name of an archive without that ending.
std::string archive_stem(const std::filesystem::path& path);

/// Returns the most memory that unpacking a file takes, by how its first bytes say that it is packed: the decoder's
/// window (zstd 128 MiB, xz the limit, else less than a MiB) and buffers.
std::int64_t unpacking_bytes(const std::filesystem::path& path, const ArchiveLimits& limits = {});

class ArchiveReader {
 public:
  /// Errors of all functions: kInput E_ARCHIVE: no such archive, encrypted, cut, damaged, packed more than once, packed
  /// in a way whose memory has no bound, or beyond the limits; E_SIZE beyond most_inflation.
  explicit ArchiveReader(const std::filesystem::path& path, const ArchiveLimits& limits = {});
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Goes to the next file that may be read; false at the end. What is passed over of a compressed tar file counts as
  /// unpacked. Hidden files, links, devices, archives in the archive,
  /// and files with absolute names or ".." in their names are counted and passed over.
  bool next();
  /// Returns the name of the current file, with "/" between its parts.
  const std::string& name() const { return name_; }
  /// Returns its unpacked size as the archive says it, where it says it.
  std::optional<std::int64_t> bytes() const { return bytes_; }
  /// Reads up to `most` bytes of it; fewer only at its end.
  std::int64_t read(char* to, std::int64_t most);
  /// Returns how many entries were passed over, by what they are.
  const std::map<std::string, std::int64_t>& left_out() const { return left_out_; }

 private:
  struct Stream;
  void skip_rest();
  /// Returns what an entry is that is passed over; empty for a file that may be read.
  std::string kind_left_out() const;
  [[noreturn]] void refuse(const std::string& what, const std::string& action, const char* code = "E_ARCHIVE") const;
  [[noreturn]] void refuse_damaged(const std::string& what, const std::string& action) const;
  void require_bounded_method() const;
  void require_end() const;

  std::filesystem::path path_;
  ArchiveLimits limits_;
  std::unique_ptr<Stream> stream_;
  std::string name_;
  std::optional<std::int64_t> bytes_;
  std::int64_t entries_ = 0, unpacked_bytes_ = 0, archive_bytes_ = 0;
  std::map<std::string, std::int64_t> left_out_;
};

}  // namespace voxshard
