// Packs bytes as gzip members, one behind another, each of the next mebibyte: the same bytes on every processor, and
// what gzip, zlib and Python read as one file. libdeflate packs.
//
//   GzipWriter gzip(file.stream());
//   gzip.write(header, 352), gzip.write(voxels, count);
//   gzip.finish();
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

namespace voxshard {

class GzipWriter {
 public:
  static constexpr std::int64_t kMemberBytes = 1 << 20;  // unpacked

  /// `out` must outlive it; errors of writing stay in its state.
  explicit GzipWriter(std::ostream& out);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void write(const char* bytes, std::int64_t count);
  /// Writes what is left; a file without bytes has one empty member. Called once, last.
  void finish();

 private:
  void write_member();

  struct Compressor;
  std::ostream& out_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<char> member_, packed_;
  bool any_ = false;  // a member was written
};

}  // namespace voxshard
