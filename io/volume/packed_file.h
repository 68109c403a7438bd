// The bytes of a file that holds voxels, unpacked while they are read: plain, gzip or zlib. A stream that is cut or
// damaged is an error, never an early end.
//
//   PackedFile file("ct.nii.gz", Packing::kGzip);
//   std::int64_t got = file.read(buffer, 352);   // fewer only where the file ends
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace voxshard {

enum class Packing : std::uint8_t {
  kPlain,
  kGzip,         // one or more gzip members
  kGzipOrPlain,  // what the bytes say: .nii.gz files that are not compressed exist
  kZlib,         // one zlib or gzip stream, as in MetaImage
};

class PackedFile {
 public:
  /// Opens a file from byte `begin` of it on. Errors: kInput: it cannot be opened, or is not packed so.
  PackedFile(const std::filesystem::path& path, Packing packing, std::int64_t begin = 0);
  ~PackedFile();
  PackedFile(PackedFile&&) noexcept;

  /// Reads up to `most` unpacked bytes and returns their number, which is less only at the end of the file.
  /// Errors: kInput: the stream is cut or damaged.
  std::int64_t read(char* to, std::int64_t most);
  /// Returns true when bytes are stored as they are.
  bool is_plain() const;

 private:
  struct Stream;
  struct PlainStream;
  struct DeflateStream;
  std::unique_ptr<Stream> stream_;
};

/// Errors: kInput: `path` does not exist, is no regular file, or is empty.
void require_volume_file(const std::filesystem::path& path);

}  // namespace voxshard
