// ISA-L unpacks gzip members and zlib streams, more than twice as fast as zlib, and compares their checksums.
//
//   PackedFile("volume.mha", Packing::kZlib, 412).read(buffer, 4096)
#include "io/volume/packed_file.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {

struct PackedFile::Stream {
  virtual ~Stream() = default;
  virtual std::int64_t read(char* to, std::int64_t most) = 0;
  virtual bool is_plain() const { return false; }
};

namespace {

constexpr unsigned kPackedBytes = 1 << 18;  // of the packed file that are held at a time

Error cut_stream(const std::filesystem::path& path, const char* kind) {
  return input_error(path, std::string("is truncated: its ") + kind + " stream ends too early",
                     "copy or export the file again");
}

Error damaged_stream(const std::filesystem::path& path, const char* kind, const char* text) {
  return input_error(path, std::string("has a damaged ") + kind + " stream (" + text + ")",
                     "copy or export the file again");
}

/// Returns what an error of ISA-L's inflate means.
const char* inflate_problem(int code) {
  switch (code) {
    case ISAL_INCORRECT_CHECKSUM:
      return "its checksum is another one";
    case ISAL_INVALID_WRAPPER:
      return "its header is not valid";
    case ISAL_UNSUPPORTED_METHOD:
      return "it is not compressed by deflate";
    default:
      return "its data are not valid";
  }
}

Error seek_failed(const std::filesystem::path& path) {
  return input_error(path, "is truncated: its voxels begin behind its end", "copy or export the file again");
}

}  // namespace

struct PackedFile::PlainStream : PackedFile::Stream {
  PlainStream(std::filesystem::path name, std::int64_t begin) : path(std::move(name)), file(path) {
    if (!file) throw input_error(path, file.problem(), "check the path and its permissions");
    if (begin > file.bytes() || !file.seekg(begin)) throw seek_failed(path);
  }
  std::int64_t read(char* to, std::int64_t most) override {
    file.read(to, most);
    if (file.bad()) throw input_error(path, "cannot be read", "check the disk");
    return file.gcount();
  }
  bool is_plain() const override { return true; }

  std::filesystem::path path;
  InputFile file;
};

/// Members of a gzip file one behind another, or one stream of zlib's or gzip's form.
struct PackedFile::DeflateStream : PackedFile::Stream {
  DeflateStream(std::filesystem::path name, Packing packing, std::int64_t begin)
      : plain(std::move(name), begin),
        packed(std::make_unique_for_overwrite<char[]>(kKeptBytes + kPackedBytes)),
        many(packing != Packing::kZlib) {
    fill();
    gzip = has_gzip_magic();
    start_member();
  }

  /// Returns true where the next bytes begin a gzip member.
  bool has_gzip_magic() const { return state->avail_in >= 2 && state->next_in[0] == 0x1f && state->next_in[1] == 0x8b; }

  std::int64_t read(char* to, std::int64_t most) override {
    std::int64_t done = 0;
    while (done < most && !ended) {
      if (state->avail_in == 0) fill();
      const bool at_end = state->avail_in == 0;
      const auto want = static_cast<std::uint32_t>(std::min<std::int64_t>(most - done, 1 << 30));
      state->next_out = reinterpret_cast<std::uint8_t*>(to + done);
      state->avail_out = want;
      const int code = isal_inflate(state.get());
      const std::int64_t got = want - state->avail_out;
      done += got;
      if (code < 0 || code == ISAL_NEED_DICT) throw damaged_stream(plain.path, kind(), inflate_problem(code));
      if (state->block_state == ISAL_BLOCK_FINISH)
        next_member();
      else if (at_end && got == 0)
        throw cut_stream(plain.path, kind());
    }
    return done;
  }

  const char* kind() const { return gzip ? "gzip" : "zlib"; }

  /// Puts the next bytes of the file behind those that were not taken yet. The last bytes that were taken stay before
  /// them: ISA-L hands back what it has taken too many.
  void fill() {
    char* const next = packed.get() + kKeptBytes;
    const std::uint32_t left = state->avail_in;
    char* const old = state->next_in == nullptr ? next : reinterpret_cast<char*>(state->next_in);
    const auto kept = std::min<std::int64_t>(kKeptBytes - left, old - packed.get());
    std::memmove(next - left - kept, old - kept, static_cast<std::size_t>(left + kept));
    state->next_in = reinterpret_cast<std::uint8_t*>(next - left);
    state->avail_in = left + static_cast<std::uint32_t>(plain.read(next, kPackedBytes));
  }

  void start_member() {
    std::uint8_t* const next = state->next_in;
    const std::uint32_t left = state->avail_in;
    isal_inflate_init(state.get());
    state->crc_flag = gzip ? ISAL_GZIP : ISAL_ZLIB;  // it reads the header and compares the checksum
    state->next_in = next, state->avail_in = left;
  }

  /// Goes on with the next gzip member. What follows and is none is left unread, as gzip and zlib leave it.
  void next_member() {
    if (many && state->avail_in < 2) fill();
    if (many && has_gzip_magic())
      start_member();
    else
      ended = true;
  }

  static constexpr std::int64_t kKeptBytes = 64;  // more than the eight bytes that ISA-L holds as bits
  PlainStream plain;
  std::unique_ptr<char[]> packed;
  std::unique_ptr<inflate_state> state = std::make_unique<inflate_state>();
  bool many = false, gzip = false, ended = false;
};

PackedFile::PackedFile(const std::filesystem::path& path, Packing packing, std::int64_t begin) {
  if (packing == Packing::kPlain) {
    stream_ = std::make_unique<PlainStream>(path, begin);
    return;
  }
  auto packed = std::make_unique<DeflateStream>(path, packing, begin);
  if (packing == Packing::kGzipOrPlain && !packed->gzip)
    stream_ = std::make_unique<PlainStream>(path, begin);
  else if (packing == Packing::kGzip && !packed->gzip)
    throw input_error(path, "is not compressed although its header or name says so", "export it again");
  else
    stream_ = std::move(packed);
}
PackedFile::~PackedFile() = default;
PackedFile::PackedFile(PackedFile&&) noexcept = default;
std::int64_t PackedFile::read(char* to, std::int64_t most) { return stream_->read(to, most); }
bool PackedFile::is_plain() const { return stream_->is_plain(); }

void require_volume_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw input_error(path, "does not exist", "check the path");
  if (!std::filesystem::is_regular_file(path, error))
    throw input_error(path, "is not a file", "give a volume's file, not a folder");
  if (std::filesystem::file_size(path, error) == 0)
    throw input_error(path, "is empty (0 bytes)", "copy or export the file again");
}

}  // namespace voxshard
