#include "io/datasets/idx.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "io/files/now_reading.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopy = "copy or download the file again";
constexpr unsigned char kUnsignedByte = 0x08;
constexpr std::int64_t kMostInflation = 1032;  // deflate's maximum: 2 bits give 258 bytes, 4 x 258 a byte
constexpr unsigned kPiece = 1 << 20;

struct CloseGz {
  void operator()(gzFile file) const { gzclose_r(file); }
};

/// A plain or gzipped file, read from its beginning.
class IdxFile {
 public:
  explicit IdxFile(const fs::path& path) : path_(path), reading_(path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw input_error(path, "does not exist", "check the path", "E_MISSING");
    if (!fs::is_regular_file(path, error)) throw input_error(path, "is not a file", "give an IDX file");
    file_bytes_ = static_cast<std::int64_t>(fs::file_size(path, error));
    gz_.reset(gzdopen(open_regular_file(path).release(), "rb"));
    if (gz_ == nullptr) throw std::bad_alloc();
  }

  Shape header(int axes) {
    unsigned char magic[4] = {};
    exactly(magic, sizeof magic, "its header");
    if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte)
      throw input_error(path_, "is no IDX file of unsigned bytes (it does not begin with 00 00 08)",
                        "give MNIST's files");
    if (magic[3] != axes)
      throw input_error(path_,
                        "is an IDX file of " + std::to_string(magic[3]) + " axes; expected " + std::to_string(axes),
                        axes == 1 ? "give the file of labels" : "give the file of images", "E_SHAPE");
    Shape extents;
    std::int64_t bytes = 1;
    for (int a = 0; a < axes; ++a) {
      unsigned char raw[4] = {};
      exactly(raw, sizeof raw, "its header");
      const std::int64_t extent = std::int64_t{raw[0]} << 24 | raw[1] << 16 | raw[2] << 8 | raw[3];
      extents.push_back(extent);
      if (extent > 0 && bytes > kMostIdxBytes / extent)
        throw input_error(path_, "promises more than " + std::to_string(kMostIdxBytes) + " bytes", kCopy, "E_SIZE");
      bytes *= extent;
    }
    const std::int64_t room = gzdirect(gz_.get()) != 0 ? file_bytes_ : file_bytes_ * kMostInflation;
    if (bytes > room)
      throw input_error(path_,
                        "promises " + std::to_string(bytes) + " bytes, more than its " + std::to_string(file_bytes_) +
                            " bytes can hold",
                        kCopy, "E_SIZE");
    return extents;
  }

  Tensor rest(const Shape& extents) {
    Tensor bytes(DType::kU8, extents);
    for (std::int64_t at = 0; at < bytes.count();) {
      const auto piece = static_cast<unsigned>(std::min<std::int64_t>(kPiece, bytes.count() - at));
      exactly(bytes.as<unsigned char>() + at, piece, "the array that its header promises");
      at += piece;
    }
    unsigned char more = 0;
    if (read(&more, 1) != 0)
      throw input_error(path_, "goes on behind the array that its header promises", kCopy, "E_SIZE");
    return bytes;
  }

 private:
  int read(unsigned char* to, unsigned count) {
    const int got = gzread(gz_.get(), to, count);
    int code = Z_OK;
    const char* text = gzerror(gz_.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      throw input_error(path_,
                        code == Z_BUF_ERROR ? std::string("is cut off: its gzip stream ends too early")
                                            : std::string("has a damaged gzip stream (") + text + ")",
                        kCopy);
    return got;
  }

  void exactly(unsigned char* to, unsigned count, const std::string& what) {
    if (read(to, count) != static_cast<int>(count)) throw input_error(path_, "is cut off within " + what, kCopy);
  }

  const fs::path& path_;
  NowReading reading_;
  std::unique_ptr<gzFile_s, CloseGz> gz_;
  std::int64_t file_bytes_ = 0;
};

/// Returns the first usual name that exists.
std::optional<fs::path> first_file(const fs::path& folder, const std::string& part, const std::string& what,
                                   const std::string& axes) {
  std::error_code error;
  for (const char* dash : {"-", "."})
    for (const char* ending : {"", ".gz"})
      if (const fs::path path = folder / (part + "-" + what + dash + axes + "-ubyte" + ending);
          fs::is_regular_file(path, error))
        return path;
  return std::nullopt;
}

}  // namespace

std::optional<IdxPair> find_idx(const fs::path& folder, IdxPart part) {
  const std::string name = part == IdxPart::kTrain ? "train" : "t10k";
  const auto images = first_file(folder, name, "images", "idx3");
  if (!images) return std::nullopt;
  const auto labels = first_file(folder, name, "labels", "idx1");
  if (!labels)
    throw input_error(*images, "lies there without " + name + "-labels-idx1-ubyte", "copy the labels beside the images",
                      "E_MISSING");
  return IdxPair{*images, *labels};
}

Shape read_idx_extents(const fs::path& path, int axes) { return IdxFile(path).header(axes); }

Tensor read_idx(const fs::path& path, int axes) {
  IdxFile file(path);
  const Shape extents = file.header(axes);
  return file.rest(extents);
}

IdxImages read_idx_images(const IdxPair& pair) {
  const Shape images = read_idx_extents(pair.images, 3), labels = read_idx_extents(pair.labels, 1);
  if (images[0] != labels[0])
    throw input_error(pair.labels,
                      "holds " + std::to_string(labels[0]) + " labels for the " + std::to_string(images[0]) +
                          " images of " + pair.images.filename().string(),
                      "give files of one part of one data set", "E_SHAPE");
  if (element_count(images) == 0) throw input_error(pair.images, "holds no pixel", kCopy, "E_SHAPE");
  if (images[1] > kMostIdxSide || images[2] > kMostIdxSide)
    throw input_error(pair.images,
                      "has images of " + std::to_string(images[1]) + " x " + std::to_string(images[2]) +
                          " pixels; sides of at most " + std::to_string(kMostIdxSide) + " are read",
                      kCopy, "E_SHAPE");
  IdxImages result{.pixels = read_idx(pair.images, 3)};
  const Tensor said = read_idx(pair.labels, 1);
  result.labels.assign(said.as<std::uint8_t>(), said.as<std::uint8_t>() + said.count());
  if (result.pixels.shape()[0] != std::ssize(result.labels))
    throw input_error(pair.images, "changed while it was read", "try again", "E_SHAPE");
  return result;
}

void write_idx(const fs::path& path, const Tensor& bytes) {
  ensure(bytes.dtype() == DType::kU8 && bytes.shape().axes() >= 1 && bytes.shape().axes() <= 4,
         "an IDX file holds unsigned bytes of 1 to 4 axes");
  std::string head = {0, 0, static_cast<char>(kUnsignedByte), static_cast<char>(bytes.shape().axes())};
  for (const std::int64_t extent : bytes.shape()) {
    ensure(extent < std::int64_t{1} << 32, "an extent of an IDX file has 32 bits");
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(extent >> shift & 0xff);
  }
  write_file_atomically(path, [&](std::ostream& out) {
    out.write(head.data(), std::ssize(head));
    out.write(reinterpret_cast<const char*>(bytes.data()), bytes.count());
  });
}

}  // namespace voxshard
