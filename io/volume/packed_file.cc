// zlib's gzread for gzip, inflate for zlib streams.
//
//   PackedFile("volume.mha", Packing::kZlib, 412).read(buffer, 4096)
#include "io/volume/packed_file.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>

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
  return input_error(path,
                     std::string("has a damaged ") + kind + " stream (" + (text && *text ? text : "read error") + ")",
                     "copy or export the file again");
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

struct PackedFile::GzipStream : PackedFile::Stream {
  GzipStream(std::filesystem::path name, Packing packing, std::int64_t begin) : path(std::move(name)) {
    Descriptor file = open_regular_file(path);
    if (::lseek(file.number(), begin, SEEK_SET) != begin) throw seek_failed(path);
    gz = gzdopen(file.release(), "rb");
    if (gz == nullptr) throw std::bad_alloc();
    gzbuffer(gz, kPackedBytes);
    if (packing == Packing::kGzip && gzdirect(gz) != 0) {
      gzclose_r(gz);
      throw input_error(path, "is not compressed although its header or name says so", "export it again");
    }
  }
  ~GzipStream() override { gzclose_r(gz); }

  std::int64_t read(char* to, std::int64_t most) override {
    std::int64_t done = 0;
    while (done < most) {
      const auto want = static_cast<unsigned>(std::min<std::int64_t>(most - done, 1 << 30));
      const int got = gzread(gz, to + done, want);
      if (got <= 0) {  // an unexpected end is noted as soon as zlib has seen it, before all bytes are handed out
        int code = Z_OK;
        const char* text = gzerror(gz, &code);
        if (code == Z_BUF_ERROR) throw cut_stream(path, "gzip");
        if (got < 0 || code != Z_OK) throw damaged_stream(path, "gzip", text);
        break;
      }
      done += got;
    }
    return done;
  }
  bool is_plain() const override { return gzdirect(gz) != 0; }

  std::filesystem::path path;
  gzFile gz = nullptr;
};

struct PackedFile::ZlibStream : PackedFile::Stream {
  ZlibStream(std::filesystem::path name, std::int64_t begin)
      : plain(std::move(name), begin), packed(std::make_unique<char[]>(kPackedBytes)) {
    if (inflateInit2(&state, 15 + 32) != Z_OK) throw std::bad_alloc();  // 32: zlib's or gzip's head, as the bytes say
  }
  ~ZlibStream() override { inflateEnd(&state); }

  std::int64_t read(char* to, std::int64_t most) override {
    std::int64_t done = 0;
    while (done < most && !ended) {
      if (state.avail_in == 0) {
        state.next_in = reinterpret_cast<Bytef*>(packed.get());
        state.avail_in = static_cast<uInt>(plain.read(packed.get(), kPackedBytes));
        if (state.avail_in == 0) throw cut_stream(plain.path, "zlib");
      }
      const auto want = static_cast<uInt>(std::min<std::int64_t>(most - done, 1 << 30));
      state.next_out = reinterpret_cast<Bytef*>(to + done);
      state.avail_out = want;
      const int code = inflate(&state, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        throw damaged_stream(plain.path, "zlib", state.msg);
      done += want - state.avail_out;
      ended = code == Z_STREAM_END;
    }
    return done;
  }

  PlainStream plain;
  std::unique_ptr<char[]> packed;
  z_stream state{};
  bool ended = false;
};

PackedFile::PackedFile(const std::filesystem::path& path, Packing packing, std::int64_t begin) {
  if (packing == Packing::kPlain)
    stream_ = std::make_unique<PlainStream>(path, begin);
  else if (packing == Packing::kZlib)
    stream_ = std::make_unique<ZlibStream>(path, begin);
  else
    stream_ = std::make_unique<GzipStream>(path, packing, begin);
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
