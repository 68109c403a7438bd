#include "io/records/record_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <regex>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"
#include "io/records/crc32c.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "records are little-endian, as this machine");

constexpr std::size_t kHead = 12;  // length and its checksum

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool is_head(std::string_view bytes) {
  return bytes.size() >= kHead && number_at<std::uint32_t>(bytes, 8) == masked_crc32c(bytes.substr(0, 8));
}

template <class T>
std::string bytes_of(T number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Returns the length of a record and the checksum of the length.
std::string head_of(std::string_view record) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(record.size()));
  return length + bytes_of(masked_crc32c(length));
}

std::string beginning_of(const fs::path& path) {
  InputFile in(path);
  if (!in) throw input_error(path, in.problem(), "give a regular file, and check the path and its permissions");
  std::string bytes(kHead, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(in.gcount());
  return bytes;
}

/// Returns the name without the ending; none when it has none. "x.tfrecord-00000-of-00010" keeps its shard.
std::optional<std::string> stem_of(const std::string& name) {
  static const std::regex kEnding(R"((.+?)\.tfrecords?(-\d{5}-of-\d{5})?(\.gz)?)", std::regex::icase);
  static const std::regex kShard(R"(.+-\d{5}-of-\d{5})");
  std::smatch match;
  if (name.size() > 255) return std::nullopt;
  if (std::regex_match(name, match, kEnding)) return match[1].str() + match[2].str();
  if (std::regex_match(name, kShard)) return name;
  return std::nullopt;
}

}  // namespace

/// The source of bytes: the file itself, or zlib's output. (zlib alone would take a plain file whose first record has
/// 35615 bytes for gzip, because that length begins with gzip's magic number.)
struct RecordReader::Source {
  std::optional<InputFile> plain;
  gzFile gzip = nullptr;
  std::int64_t plain_bytes = -1;  // size of a plain file; -1: gzip
  std::int64_t file_bytes = 0;    // on the disk

  ~Source() {
    if (gzip != nullptr) gzclose_r(gzip);
  }
  /// Reads bytes and returns their number, fewer at the end; -1 when the file is damaged.
  std::int64_t read(char* data, std::int64_t bytes) {
    if (gzip == nullptr) {
      plain->read(data, bytes);
      return plain->bad() ? -1 : plain->gcount();
    }
    const int got = gzread(gzip, data, static_cast<unsigned>(bytes));
    int error = Z_OK;
    gzerror(gzip, &error);
    return got < 0 || (error != Z_OK && error != Z_STREAM_END && error != Z_BUF_ERROR) ? -1 : got;
  }
  /// Returns true when the file ended within zlib's data.
  bool cut_off() const {
    int error = Z_OK;
    if (gzip != nullptr) gzerror(gzip, &error);
    return error == Z_BUF_ERROR;
  }
};

RecordReader::RecordReader(const fs::path& path, const RecordLimits& limits)
    : path_(path), limits_(limits), source_(std::make_unique<Source>()) {
  limits_.most_bytes = std::min(limits.most_bytes, kMostRecordBytes);
  const std::string head = beginning_of(path);
  if (head.empty()) throw input_error(path, "is empty (0 bytes)", "copy it again");
  const bool gzip = !is_head(head) && head.starts_with("\x1f\x8b");
  if (!gzip && !is_head(head) && head.starts_with('\x78') && head.size() > 1 &&
      (0x7800 + static_cast<unsigned char>(head[1])) % 31 == 0)
    throw input_error(path, "is compressed with ZLIB", "write it again with GZIP or without compression", "E_FORMAT");
  source_->file_bytes = static_cast<std::int64_t>(fs::file_size(path));
  if (gzip) {
    source_->gzip = gzdopen(open_regular_file(path).release(), "rb");
    if (source_->gzip == nullptr) throw std::bad_alloc();
    gzbuffer(source_->gzip, 1U << 18);
  } else {
    source_->plain.emplace(path);
    source_->plain_bytes = source_->file_bytes;
  }
}

RecordReader::~RecordReader() = default;

void RecordReader::refuse(const char* code, const std::string& what, const std::string& action) {
  throw input_error(path_, "record " + std::to_string(number_) + " (at byte " + std::to_string(begin_) + ") " + what,
                    action, code);
}

void RecordReader::require_within_limits(std::uint64_t length) {
  const std::string has = "has " + std::to_string(length) + " bytes, more than ";
  if (length > static_cast<std::uint64_t>(limits_.most_bytes))
    refuse("E_SIZE", has + std::to_string(limits_.most_bytes) + " that are read here", "write smaller samples");
  const std::int64_t unpacked = at_ + static_cast<std::int64_t>(kHead + length);
  if (source_->gzip != nullptr && limits_.most_inflation > 0 && unpacked > limits_.free_inflation_bytes &&
      static_cast<double>(unpacked) > limits_.most_inflation * static_cast<double>(source_->file_bytes))
    refuse("E_SIZE",
           "ends at byte " + std::to_string(unpacked) + " of what the file unpacks to, more than " +
               fixed_text(limits_.most_inflation, 0) + " times its " + std::to_string(source_->file_bytes) + " bytes",
           "is it what it should be? Then write it without compression");
  if (limits_.memory_bytes > 0 && length > static_cast<std::uint64_t>(limits_.memory_bytes))
    refuse("E_BUDGET", has + std::to_string(limits_.memory_bytes) + " for which there is memory",
           "use fewer threads, or write smaller samples");
}

std::optional<std::string> RecordReader::next() {
  constexpr const char* kAgain = "copy or download the file again";
  if (ended_) return std::nullopt;
  begin_ = at_;
  ended_ = true;  // until the beginning of the next record is known
  std::array<char, kHead> head{};
  const std::int64_t got = source_->read(head.data(), kHead);
  if (got == 0 && !source_->cut_off()) return std::nullopt;
  ++number_;
  if (got < 0) refuse("E_READ", "cannot be unpacked: the gzip data are damaged", kAgain);
  if (got < static_cast<std::int64_t>(kHead)) refuse("E_READ", "is cut off", kAgain);
  const std::string_view seen(head.data(), head.size());
  if (!is_head(seen))
    refuse("E_CHECKSUM",
           number_ == 1 ? "has a length with a wrong checksum: it is damaged, or this is no TFRecord file"
                        : "has a length with a wrong checksum; what follows it in the file cannot be found",
           kAgain);
  const auto length = number_at<std::uint64_t>(seen, 0);
  require_within_limits(length);
  const auto bytes = static_cast<std::int64_t>(length);
  at_ += static_cast<std::int64_t>(kHead);
  if (source_->plain_bytes >= 0 && bytes + 4 > source_->plain_bytes - at_) refuse("E_READ", "is cut off", kAgain);
  std::string record;
  for (std::int64_t have = 0; have < bytes + 4;) {
    constexpr std::int64_t kStep = std::int64_t{1} << 20;
    const std::int64_t want = std::min(bytes + 4 - have, std::max(kStep, have));
    record.resize(have + want);
    const std::int64_t part = source_->read(record.data() + have, want);
    if (part < 0) refuse("E_READ", "cannot be unpacked: the gzip data are damaged", kAgain);
    have += part;
    if (part < want) refuse("E_READ", "is cut off", kAgain);
  }
  at_ += bytes + 4;
  ended_ = false;
  const auto noted = number_at<std::uint32_t>(record, static_cast<std::size_t>(bytes));
  record.resize(bytes);
  if (noted != masked_crc32c(record))
    refuse("E_CHECKSUM", "is damaged: its bytes have another checksum than the file says", kAgain);
  return record;
}

std::int64_t first_record_bytes(const fs::path& path) {
  const RecordReader reader(path);
  std::array<char, kHead> head{};
  const std::string_view seen(head.data(), head.size());
  if (reader.source_->read(head.data(), kHead) != static_cast<std::int64_t>(kHead) || !is_head(seen)) return 0;
  const auto length = number_at<std::uint64_t>(seen, 0);
  return length > static_cast<std::uint64_t>(kMostRecordBytes) ? 0 : static_cast<std::int64_t>(length);
}

RecordWriter::RecordWriter(fs::path path, RecordCompression compression) : path_(std::move(path)) {
  TemporaryFile temporary = make_temporary_file(path_);
  temporary_ = std::move(temporary.path);
  file_ = gzdopen(temporary.file.release(), compression == RecordCompression::kGzip ? "wb6" : "wbT");
  if (file_ == nullptr) {
    discard_file(temporary_);
    throw std::bad_alloc();
  }
  gzbuffer(static_cast<gzFile>(file_), 1U << 18);
}

RecordWriter::~RecordWriter() {
  if (file_ == nullptr) return;
  gzclose_w(static_cast<gzFile>(file_));
  discard_file(temporary_);
}

void RecordWriter::put(std::string_view bytes) {
  constexpr std::size_t kStep = std::size_t{1} << 30;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kStep, bytes.size()))) {
    const auto count = static_cast<unsigned>(std::min(kStep, bytes.size()));
    errno = 0;
    if (gzwrite(static_cast<gzFile>(file_), bytes.data(), count) != static_cast<int>(count))
      throw output_error(path_, std::strerror(errno == 0 ? EIO : errno), "check its disk's space");
  }
}

void RecordWriter::write(std::string_view record) {
  put(head_of(record));
  put(record);
  put(bytes_of(masked_crc32c(record)));
}

void RecordWriter::commit() {
  errno = 0;
  const int closed = gzclose_w(static_cast<gzFile>(file_));
  file_ = nullptr;
  if (closed != Z_OK) {
    const int reason = errno == 0 ? EIO : errno;
    discard_file(temporary_);
    throw output_error(path_, std::strerror(reason), "check its disk's space");
  }
  commit_file(temporary_, path_);
}

std::string framed_record(std::string_view record) {
  return head_of(record).append(record) + bytes_of(masked_crc32c(record));
}

bool is_record_name(const fs::path& path) { return stem_of(path.filename().string()).has_value(); }

std::string record_stem(const fs::path& path) {
  const std::string name = path.filename().string();
  return stem_of(name).value_or(name);
}

}  // namespace voxshard
