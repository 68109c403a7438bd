#include "io/dicom/jpeg2000.h"

#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace voxshard {
namespace {

/// A stream in memory that OpenJPEG reads.
struct MemoryStream {
  std::string_view bytes;
  std::size_t at = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    const std::size_t taken = std::min<std::size_t>(count, stream.bytes.size() - stream.at);
    if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);  // the end
    std::memcpy(to, stream.bytes.data() + stream.at, taken);
    stream.at += taken;
    return taken;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    if (count < 0 || static_cast<std::size_t>(count) > stream.bytes.size() - stream.at) return -1;
    stream.at += static_cast<std::size_t>(count);
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    if (to < 0 || static_cast<std::size_t>(to) > stream.bytes.size()) return OPJ_FALSE;
    stream.at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }
};

template <auto kDestroy>
struct Destroy {
  void operator()(auto* object) const { kDestroy(object); }
};

/// Returns the number of `count` bytes from `at` on, the highest byte first.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(at, count)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

/// Returns the codestream of a JP2 file (ISO/IEC 15444-1, I.4 and I.5), and other bytes as they are. Empty for a file
/// without a codestream, and for one with a palette: its samples are no grey values.
std::string_view codestream_of(std::string_view file) {
  constexpr std::string_view kJp2("\x00\x00\x00\x0cjP  \r\n\x87\n", 12);
  constexpr std::size_t kHeader = 8, kLongHeader = 16;
  if (!file.starts_with(kJp2)) return file;
  while (file.size() >= kLongHeader) {
    const std::string_view type = file.substr(4, 4);
    std::uint64_t length = number_at(file, 0, 4);
    const std::size_t header = length == 1 ? kLongHeader : kHeader;
    if (length == 1) length = number_at(file, kHeader, 8);
    if (length == 0) length = file.size();  // the last box
    if (length < header) return {};
    if (type == "jp2c") return file.substr(header, length - header);
    if (length > file.size()) return {};
    if (type == "jp2h" && file.substr(0, length).find("pclr") != std::string_view::npos) return {};
    file.remove_prefix(length);
  }
  return {};
}

/// What a codestream says at its begin.
struct SizeSegment {
  Jpeg2000Image image;  // without samples
  std::size_t tiles = 0;
};

/// Returns what the marker segment SIZ says, with which a codestream begins (ISO/IEC 15444-1, A.5.1). None for one that
/// is damaged or has more tiles than an image of 4096 x 4096 in tiles of 64 x 64: OpenJPEG takes some kilobytes for
/// each while it reads the header.
std::optional<SizeSegment> size_segment(std::string_view stream) {
  constexpr std::string_view kSocAndSiz("\xff\x4f\xff\x51", 4);
  constexpr std::size_t kEnd = 8, kBegin = 16, kTile = 24, kTileBegin = 32, kComponents = 40, kPrecision = 42,
                        kStep = 43, kWithOneComponent = 45;  // offsets of the numbers
  constexpr std::uint64_t kMostTiles = 4096;
  if (stream.size() < kWithOneComponent || !stream.starts_with(kSocAndSiz)) return std::nullopt;
  const auto rounded_up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  std::array<std::int64_t, 2> extent{};  // columns, rows
  std::uint64_t tiles = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto of_axis = [&](std::size_t offset) { return number_at(stream, offset + 4 * axis, 4); };
    const std::uint64_t begin = of_axis(kBegin), end = of_axis(kEnd), tile = of_axis(kTile),
                        tile_begin = of_axis(kTileBegin), step = number_at(stream, kStep + axis, 1);
    if (begin >= end || tile == 0 || tile_begin > begin || step == 0) return std::nullopt;
    extent[axis] = static_cast<std::int64_t>(rounded_up(end, step) - rounded_up(begin, step));
    tiles *= rounded_up(end - tile_begin, tile);  // of 32 bits each
  }
  if (tiles > kMostTiles) return std::nullopt;
  const std::uint64_t precision = number_at(stream, kPrecision, 1);
  const Jpeg2000Image image{.columns = extent[0],
                            .rows = extent[1],
                            .components = static_cast<std::int64_t>(number_at(stream, kComponents, 2)),
                            .bits = static_cast<int>(precision & 0x7f) + 1,
                            .is_signed = precision >= 0x80,
                            .samples = {}};
  return SizeSegment{.image = image, .tiles = tiles};
}

/// True for a codestream whose tile-parts follow one another to its end and are of fewer tiles than there are: OpenJPEG
/// decodes it, and the pixels of the tiles that are missing are 0 (ISO/IEC 15444-1, A.4.2).
bool lacks_tiles(std::string_view stream, std::size_t tiles) {
  constexpr std::string_view kStartOfTile("\xff\x90", 2), kEndOfCodestream("\xff\xd9", 2);
  constexpr std::size_t kTileIndex = 4, kTileBytes = 6, kLeastBytes = 14;
  std::vector<bool> found(tiles);
  stream.remove_prefix(2);  // its first marker has no segment
  while (stream.size() >= kLeastBytes && !stream.starts_with(kStartOfTile))
    stream.remove_prefix(std::min(stream.size(), 2 + number_at(stream, 2, 2)));
  while (stream.size() >= kLeastBytes && stream.starts_with(kStartOfTile)) {
    const std::uint64_t tile = number_at(stream, kTileIndex, 2), bytes = number_at(stream, kTileBytes, 4);
    if (tile < tiles) found[tile] = true;
    if (bytes == 0) return std::ranges::count(found, false) > 0;     // it reaches to the end
    if (bytes < kLeastBytes || bytes > stream.size()) return false;  // damaged, which OpenJPEG notices
    stream.remove_prefix(bytes);
  }
  return stream.starts_with(kEndOfCodestream) && std::ranges::count(found, false) > 0;
}

}  // namespace

std::optional<Jpeg2000Image> decode_jpeg2000(std::string_view file,
                                             const std::function<void(const Jpeg2000Image&)>& check) {
  const std::string_view stream = codestream_of(file);
  std::optional<SizeSegment> size = size_segment(stream);
  if (!size) return std::nullopt;
  Jpeg2000Image& result = size->image;
  check(result);
  if (lacks_tiles(stream, size->tiles)) return std::nullopt;
  MemoryStream memory{stream};
  const std::unique_ptr<opj_stream_t, Destroy<opj_stream_destroy>> source(
      opj_stream_create(std::size_t{1} << 16, OPJ_TRUE));
  const std::unique_ptr<opj_codec_t, Destroy<opj_destroy_codec>> codec(opj_create_decompress(OPJ_CODEC_J2K));
  if (!source || !codec) throw std::bad_alloc();
  opj_stream_set_user_data(source.get(), &memory, nullptr);
  opj_stream_set_user_data_length(source.get(), stream.size());
  opj_stream_set_read_function(source.get(), MemoryStream::read);
  opj_stream_set_skip_function(source.get(), MemoryStream::skip);
  opj_stream_set_seek_function(source.get(), MemoryStream::seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read = nullptr;
  const bool begun = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
                     opj_read_header(source.get(), codec.get(), &read) == OPJ_TRUE;
  const std::unique_ptr<opj_image_t, Destroy<opj_image_destroy>> image(read);
  if (!begun || !image || opj_decode(codec.get(), source.get(), image.get()) != OPJ_TRUE ||
      opj_end_decompress(codec.get(), source.get()) != OPJ_TRUE || image->numcomps < 1)
    return std::nullopt;
  const opj_image_comp_t& grey = image->comps[0];
  if (grey.data == nullptr || grey.w != result.columns || grey.h != result.rows) return std::nullopt;
  result.samples.assign(grey.data, grey.data + result.columns * result.rows);
  return std::move(result);
}

}  // namespace voxshard
