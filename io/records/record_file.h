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

/// Largest record in bytes: protobuf's limit for one message.
inline constexpr std::int64_t kMostRecordBytes = (std::int64_t{1} << 31) - 1;

/// Limits on the lengths that a file claims; all are checked on a record's header, before its bytes are read.
struct RecordLimits {
  std::int64_t most_bytes = kMostRecordBytes;  // per record; kMostRecordBytes at most
  std::int64_t memory_bytes = 0;               // memory for the bytes of one record; 0: no limit
  double most_inflation = 0;                   // unpacked bytes per byte of a gzip file; 0: no limit
  std::int64_t free_inflation_bytes = 0;       // unpacked size up to which most_inflation is not checked
};

/// Reads one record after the other. A length is accepted when its checksum is right and the limits allow it; memory
/// then grows with the bytes that are actually read.
class RecordReader {
 public:
  /// Opens a file. Errors: kInput for a file that is missing, empty or compressed with ZLIB (E_FORMAT). Other files
  /// that are no TFRecord files are refused by next().
  explicit RecordReader(const std::filesystem::path& path, const RecordLimits& limits = {});
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// Returns the next record; none at the end. Errors: kInput "FILE: record 3 (at byte 1234) …": E_CHECKSUM when a
  /// checksum does not match, E_READ when the file is truncated or its gzip stream is damaged, E_SIZE beyond the limits
  /// (memory_bytes: E_BUDGET).
  std::optional<std::string> next();
  /// The number of the record that next() last returned or refused; the first is 1.
  std::int64_t number() const { return number_; }
  /// True when the file is at its end, or so damaged that the beginning of the next record is unknown.
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

/// Returns the unpacked length in the first record's header; 0 when it is damaged or above the limits. Errors: as
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

/// Returns a small record as it lies in a file that is not compressed: its length, bytes and checksums.
std::string framed_record(std::string_view record);

/// Returns true for the usual names of TFRecord files: .tfrecord, .tfrecords (also with .gz),
/// x.tfrecord-00000-of-00010, train-00000-of-00256.
bool is_record_name(const std::filesystem::path& path);
/// Returns the name without such an ending: "instance-3-0", "x-00000-of-00010".
std::string record_stem(const std::filesystem::path& path);

}  // namespace voxshard
