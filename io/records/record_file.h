// TFRecord files, plain or gzip: for each record its length (u64), a checksum of the length, the bytes, a checksum of
// the bytes; all little-endian, checksums as io/records/crc32c.h.
//
//   RecordReader reader("instance-3-0.tfrecords");
//   while (auto record = reader.next()) parse_example(*record);      // E_CHECKSUM names file and record
//   RecordWriter writer("out.tfrecords", RecordCompression::kGzip);
//   writer.write(serialized(example));
//   writer.commit();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace voxshard {

/// What protobuf can hold in one message.
inline constexpr std::int64_t kMostRecordBytes = (std::int64_t{1} << 31) - 1;

/// How much of what a file promises is believed; all of it is asked of a record's head, before its bytes are read.
struct RecordLimits {
  std::int64_t most_bytes = kMostRecordBytes;  // of a record; never more than that
  std::int64_t memory_bytes = 0;               // that one record's bytes may take of this process; 0: no limit
  double most_inflation = 0;                   // bytes out of one byte of a gzip file; 0: no limit
  std::int64_t free_inflation_bytes = 0;       // unpacked, up to which that is not asked
};

/// Reads one record after the other. A length is believed when its checksum is right and the limit allows it; memory
/// then grows with the bytes that really come.
class RecordReader {
 public:
  /// Errors: kInput for a file that is missing, empty or compressed with ZLIB (E_FORMAT). One that begins in another
  /// way is refused by next().
  explicit RecordReader(const std::filesystem::path& path, const RecordLimits& limits = {});
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// The next record; none at the end. Errors: kInput "FILE: record 3 (at byte 1234) …": E_CHECKSUM when a checksum is
  /// not that of what was read, E_READ when the file is cut off or its gzip is damaged, E_SIZE beyond the
  /// limits (memory_bytes: E_BUDGET).
  std::optional<std::string> next();
  /// The number of the record that next() last handed out or refused; the first is 1.
  std::int64_t number() const { return number_; }
  /// Whether the file is at its end, or damaged so that the beginning of the next record is not known.
  bool ended() const { return ended_; }

 private:
  friend std::int64_t first_record_bytes(const std::filesystem::path& path);
  struct Source;
  void require_within_limits(std::uint64_t length);
  [[noreturn]] void refuse(const char* code, const std::string& what, const std::string& action);

  std::filesystem::path path_;
  RecordLimits limits_;
  std::int64_t number_ = 0, at_ = 0, begin_ = 0;
  bool ended_ = false;
  std::unique_ptr<Source> source_;
};

/// How long the first record says it is, unpacked; 0 when it is damaged or longer than any is read. Errors: as
/// RecordReader.
std::int64_t first_record_bytes(const std::filesystem::path& path);

enum class RecordCompression { kNone, kGzip };

/// Writes a file that appears whole on commit(), or not at all. The same records give the same bytes.
class RecordWriter {
 public:
  /// Errors: kOutput.
  RecordWriter(std::filesystem::path path, RecordCompression compression);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Errors: kOutput.
  void write(std::string_view record);
  void commit();

 private:
  void put(std::string_view bytes);

  std::filesystem::path path_, temporary_;
  void* file_ = nullptr;  // zlib's
};

/// Whether a name is one that TFRecord files have: .tfrecord, .tfrecords (also with .gz), x.tfrecord-00000-of-00010,
/// train-00000-of-00256.
bool is_record_name(const std::filesystem::path& path);
/// The name without such an ending: "instance-3-0", "x-00000-of-00010".
std::string record_stem(const std::filesystem::path& path);

}  // namespace voxshard
