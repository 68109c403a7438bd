#include "io/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "io/archive/xz_stream.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "libcore/base/text.h"

namespace voxshard {

struct ArchiveReader::Stream {
  Descriptor file;
  std::unique_ptr<XzStream> xz;  // libarchive's own decoder of .xz takes up to 1 GiB and has no setting
  archive* in = nullptr;
  archive_entry* entry = nullptr;
  ~Stream() { archive_read_free(in); }
  bool is_plain() const { return xz == nullptr && archive_filter_code(in, 0) == ARCHIVE_FILTER_NONE; }
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

/// Returns the length of the ending by which a file is an archive; 0: it is none.
std::size_t ending_bytes(const fs::path& path) {
  const std::string name = lower_case(path.filename().string());
  const auto at =
      std::ranges::find_if(kArchiveEndings, [&](std::string_view ending) { return name.ends_with(ending); });
  return at == kArchiveEndings.end() ? 0 : at->size();
}

constexpr std::size_t kBlock = std::size_t{1} << 18;
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";  // RFC 8878, 3.1.1

/// Returns the first bytes of a file.
std::string begin_of(const fs::path& path) {
  InputFile in(path);
  std::string begin(kXzMagic.size(), '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(in.gcount());
  return begin;
}

/// Gives libarchive the next unpacked bytes of an .xz file.
la_ssize_t read_xz(archive* in, void* stream, const void** bytes) {
  const auto piece = static_cast<XzStream*>(stream)->next();
  if (!piece) {
    archive_set_error(in, -1, "xz");
    return -1;
  }
  *bytes = piece->data();
  return static_cast<la_ssize_t>(piece->size());
}

}  // namespace

bool is_archive_name(const fs::path& path) { return ending_bytes(path) > 0; }

std::string archive_stem(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.size() - ending_bytes(path));
}

std::int64_t unpacking_bytes(const fs::path& path, const ArchiveLimits& limits) {
  constexpr std::int64_t kBuffers = std::int64_t{4} << 20;
  constexpr std::int64_t kZstdWindow = std::int64_t{1} << 27;  // ZSTD_WINDOWLOG_LIMIT_DEFAULT, libarchive's bound
  const std::string begin = begin_of(path);
  if (begin == kXzMagic) return kBuffers + limits.most_decoder_bytes;
  return kBuffers + (begin.starts_with(kZstdMagic) ? kZstdWindow + kBuffers : 0);
}

ArchiveReader::ArchiveReader(const fs::path& path, const ArchiveLimits& limits)
    : path_(path), limits_(limits), stream_(std::make_unique<Stream>()) {
  stream_->file = open_regular_file(path);
  std::error_code error;
  archive_bytes_ = static_cast<std::int64_t>(fs::file_size(path, error));
  archive* in = stream_->in = archive_read_new();
  if (in == nullptr) throw std::bad_alloc();
  archive_read_support_filter_gzip(in), archive_read_support_filter_bzip2(in);
  archive_read_support_filter_zstd(in);
  archive_read_support_format_tar(in);
  // The list at the end of a zip file is needed: without it a cut file would pass for a shorter one.
  archive_read_support_format_zip_seekable(in);
  if (begin_of(path) == kXzMagic)
    stream_->xz = std::make_unique<XzStream>(stream_->file.number(), limits.most_decoder_bytes);
  const int opened = stream_->xz != nullptr ? archive_read_open(in, stream_->xz.get(), nullptr, read_xz, nullptr)
                                            : archive_read_open_fd(in, stream_->file.number(), kBlock);
  if (opened != ARCHIVE_OK) refuse_damaged("is no zip or tar archive, or it is cut or damaged", "copy it again");
  // The innermost filter, which passes bytes on, counts too.
  if (archive_filter_count(in) > (stream_->xz != nullptr ? 1 : 2))
    refuse("is packed more than once", "unpack it, and give the folder");
}

ArchiveReader::~ArchiveReader() = default;

void ArchiveReader::refuse(const std::string& what, const std::string& action, const char* code) const {
  throw input_error(path_, what, action, code);
}

/// Refuses what libarchive could not read, which may be an .xz file beyond the memory of its decoder.
void ArchiveReader::refuse_damaged(const std::string& what, const std::string& action) const {
  if (stream_->xz != nullptr && stream_->xz->needed_bytes() > limits_.most_decoder_bytes)
    refuse("takes " + bytes_text(stream_->xz->needed_bytes()) + " of memory to unpack, more than the " +
               bytes_text(limits_.most_decoder_bytes) + " that its decoder may take",
           "pack it again with xz -9 or less, or unpack it and give the folder");
  refuse(what, action);
}

/// Refuses a file of a zip archive that is packed in a way whose decoder takes as much memory as the file asks for.
void ArchiveReader::require_bounded_method() const {
  const char* format = archive_format_name(stream_->in);  // "ZIP 6.3 (lzma)"
  for (const char* method : {"(lzma", "(xz", "(ppmd"})
    if (format != nullptr && std::string_view(format).find(method) != std::string_view::npos)
      refuse("is a zip file with files that are packed by LZMA, XZ or PPMd, whose memory has no bound",
             "pack it again as zips are commonly packed (deflate), or unpack it and give the folder");
}

/// Passes over the rest of the current file. Of a compressed tar file libarchive unpacks it in one go, of any size: it
/// is read here in pieces, within the limits.
void ArchiveReader::skip_rest() {
  if (stream_->entry == nullptr || stream_->is_plain()) return;
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
    if (!is_whole(result)) refuse_damaged("is cut or damaged, or no zip or tar archive", "copy it again");
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
    if (kind.empty()) {
      require_bounded_method();
      return true;
    }
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
      refuse_damaged(archive_read_has_encrypted_entries(stream_->in) == 1
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
             "is it what it should be? Then raise {most-inflation}, or unpack it and give the folder", "E_SIZE");
  }
  return got;
}

/// A tar file that was cut between two of its files shows it by the block of zeros that it lacks.
void ArchiveReader::require_end() const {
  const bool plain_tar =
      (archive_format(stream_->in) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR && stream_->is_plain();
  if (!plain_tar) return;
  InputFile in(path_);
  std::array<char, 512> last{};
  in.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  const bool ends =
      in.read(last.data(), last.size()) && std::all_of(last.begin(), last.end(), [](char c) { return c == 0; });
  if (!ends) refuse("is cut: it lacks the mark at the end of a tar file", "copy it again");
}

}  // namespace voxshard
