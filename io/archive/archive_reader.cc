#include "io/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "libcore/base/text.h"

namespace voxshard {

struct ArchiveReader::Stream {
  Descriptor file;
  archive* in = nullptr;
  archive_entry* entry = nullptr;
  ~Stream() { archive_read_free(in); }
};

namespace {

namespace fs = std::filesystem;

/// Calls body(part) for the parts of a name between "/" and "\"; true when it is true of any.
template <class Body>
bool any_part(std::string_view name, Body body) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("/\\", begin), name.size());
    if (body(name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

/// Errors of libarchive are told by their place alone: its texts may hold names of the archive.
bool is_whole(int result) { return result == ARCHIVE_OK || result == ARCHIVE_WARN; }

}  // namespace

bool is_archive_name(const fs::path& path) {
  constexpr std::array kEndings = {".zip", ".tar",     ".tar.gz", ".tgz",     ".tar.xz",
                                   ".txz", ".tar.zst", ".tzst",   ".tar.bz2", ".tbz2"};
  const std::string name = lower_case(path.filename().string());
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return name.ends_with(ending); });
}

ArchiveReader::ArchiveReader(const fs::path& path, const ArchiveLimits& limits)
    : path_(path), limits_(limits), stream_(std::make_unique<Stream>()) {
  stream_->file = open_regular_file(path);
  std::error_code error;
  archive_bytes_ = static_cast<std::int64_t>(fs::file_size(path, error));
  archive* in = stream_->in = archive_read_new();
  if (in == nullptr) throw std::bad_alloc();
  archive_read_support_filter_gzip(in), archive_read_support_filter_xz(in);
  archive_read_support_filter_zstd(in), archive_read_support_filter_bzip2(in);
  archive_read_support_format_tar(in);
  // The list at the end of a zip file is needed: without it a cut file would pass for a shorter one.
  archive_read_support_format_zip_seekable(in);
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  if (archive_read_open_fd(in, stream_->file.number(), kBlock) != ARCHIVE_OK)
    refuse("is no zip or tar archive, or it is cut or damaged", "copy it again");
  if (archive_filter_count(in) > 2) refuse("is packed more than once", "unpack it, and give the folder");
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::refuse(const std::string& what, const std::string& action) const {
  throw input_error(path_, what, action, "E_ARCHIVE");
}

/// Passes over the rest of the current file. Of a compressed tar file libarchive unpacks it in one go, of any size: it
/// is read here in pieces, within the limits.
void ArchiveReader::skip_rest() {
  if (stream_->entry == nullptr || archive_filter_code(stream_->in, 0) == ARCHIVE_FILTER_NONE) return;
  constexpr std::int64_t kPiece = 1 << 16;
  const auto piece = std::make_unique<char[]>(kPiece);
  while (read(piece.get(), kPiece) == kPiece) {
  }
}

bool ArchiveReader::next() {
  for (;;) {
    skip_rest();
    const int result = archive_read_next_header(stream_->in, &stream_->entry);
    if (result == ARCHIVE_EOF) {
      require_end();
      return false;
    }
    if (!is_whole(result)) refuse("is cut or damaged, or no zip or tar archive", "copy it again");
    if (++entries_ > limits_.most_entries)
      refuse("holds more than " + std::to_string(limits_.most_entries) + " entries", "unpack it, and give the folder");
    const char* name = archive_entry_pathname(stream_->entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(stream_->entry);
    name_ = name == nullptr ? "" : name;
    if (name_.size() > limits_.most_name_bytes)
      refuse("has a name of " + std::to_string(name_.size()) + " bytes, more than " +
                 std::to_string(limits_.most_name_bytes),
             "pack it again with shorter names");
    if (archive_entry_is_encrypted(stream_->entry) == 1)
      refuse("is encrypted", "unpack it with its password, and give the folder");
    bytes_.reset();
    if (archive_entry_size_is_set(stream_->entry) != 0) bytes_ = archive_entry_size(stream_->entry);
    const bool is_link =
        archive_entry_hardlink(stream_->entry) != nullptr || archive_entry_symlink(stream_->entry) != nullptr;
    if (!is_link && archive_entry_filetype(stream_->entry) == AE_IFDIR) continue;
    const std::string kind = kind_left_out();
    if (kind.empty()) return true;
    ++left_out_[kind];
  }
}

std::string ArchiveReader::kind_left_out() const {
  archive_entry* entry = stream_->entry;
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr) return "link";
  if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != 0) return "device";
  const bool has_drive = name_.size() > 1 && name_[1] == ':';
  const bool is_absolute = name_.starts_with("/") || name_.starts_with("\\") || has_drive;
  if (is_absolute || any_part(name_, [](std::string_view part) { return part == ".."; })) return "unsafe name";
  // Also what archivers of other systems add: "__MACOSX/._IM1".
  if (any_part(name_, [](std::string_view part) { return part.size() > 1 && part.starts_with("."); }))
    return "hidden file";
  return is_archive_name(name_) ? "archive in it" : "";
}

std::int64_t ArchiveReader::read(char* to, std::int64_t most) {
  std::int64_t got = 0;
  while (got < most) {
    const auto count = archive_read_data(stream_->in, to + got, static_cast<std::size_t>(most - got));
    if (count < 0)
      refuse(archive_read_has_encrypted_entries(stream_->in) == 1
                 ? "is encrypted"
                 : "is cut or damaged, or packed in a way that is not read",
             "copy it again, or unpack it and give the folder");
    if (count == 0) break;
    got += count, unpacked_bytes_ += count;
    if (unpacked_bytes_ > limits_.most_bytes)
      refuse("unpacks to more than " + bytes_text(limits_.most_bytes), "unpack it, and give the folder");
    if (unpacked_bytes_ > limits_.free_bytes &&
        static_cast<double>(unpacked_bytes_) > limits_.most_inflation * static_cast<double>(archive_bytes_))
      refuse("unpacks to more than " + fixed_text(limits_.most_inflation, 0) + " times its size",
             "is it what it should be? Then unpack it, and give the folder");
  }
  return got;
}

/// A tar file that was cut between two of its files shows it by the block of zeros that it lacks.
void ArchiveReader::require_end() const {
  const bool plain_tar = (archive_format(stream_->in) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR &&
                         archive_filter_code(stream_->in, 0) == ARCHIVE_FILTER_NONE;
  if (!plain_tar) return;
  InputFile in(path_);
  std::array<char, 512> last{};
  in.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  const bool ends =
      in.read(last.data(), last.size()) && std::all_of(last.begin(), last.end(), [](char c) { return c == 0; });
  if (!ends) refuse("is cut: it lacks the mark at the end of a tar file", "copy it again");
}

}  // namespace voxshard
