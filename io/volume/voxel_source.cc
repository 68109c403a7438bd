// A table of types on disk, and the pass over the bytes.
//
//   voxel_type_bytes(VoxelType::kI16)   // 2
#include "io/volume/voxel_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <type_traits>

#include "io/files/channel_address.h"

namespace voxshard {
namespace {

constexpr std::int64_t kPieceBytes = 1 << 18;  // a multiple of the size of every type

/// A packed stream that goes on for more than this many bytes behind its voxels is refused without reading on.
constexpr std::int64_t kMostSurplusBytes = 64 << 20;

struct VoxelTypeRow {
  const char* name;
  std::int64_t bytes;
};
constexpr VoxelTypeRow kVoxelTypes[] = {{"uint8", 1}, {"int8", 1},   {"uint16", 2}, {"int16", 2},   {"uint32", 4},
                                        {"int32", 4}, {"uint64", 8}, {"int64", 8},  {"float32", 4}, {"float64", 8}};

/// Calls body(T{}) with the type of the voxels.
template <class Body>
void with_voxel(VoxelType type, Body body) {
  const auto is = [&](VoxelType one, auto zero) { return one == type && (body(zero), true); };
  using enum VoxelType;
  static_cast<void>(is(kU8, std::uint8_t{}) || is(kI8, std::int8_t{}) || is(kU16, std::uint16_t{}) ||
                    is(kI16, std::int16_t{}) || is(kU32, std::uint32_t{}) || is(kI32, std::int32_t{}) ||
                    is(kU64, std::uint64_t{}) || is(kI64, std::int64_t{}) || is(kF32, 0.0F) || is(kF64, 0.0));
}

template <class T>
T voxel_at(const char* bytes, bool swap) {
  char raw[sizeof(T)];
  std::memcpy(raw, bytes, sizeof(T));
  if (swap) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

/// Voxels of one kind that cannot be used: how many, and the first.
struct BadVoxels {
  std::int64_t count = 0, first = -1;
  void add(std::int64_t index) {
    if (count++ == 0) first = index;
  }
};

void refuse(const BadVoxels& bad, const VolumeHeader& h, const std::string& what, const std::string& action,
            const char* code = "E_READ") {
  if (bad.count == 0) return;
  throw input_error(
      h.source.named,
      std::to_string(bad.count) + " voxels " + what + ", the first at " + voxel_name(h.info.geometry, bad.first),
      action, code);
}

Error too_short(const VoxelSource& s, std::int64_t have, std::int64_t promised) {
  return input_error(s.named,
                     "is truncated: it holds " + std::to_string(have) + " of the " + std::to_string(promised) +
                         " bytes that its header promises",
                     "copy or export the file again");
}

/// Reads and drops `bytes`; returns how many there were.
std::int64_t skip(PackedFile& file, char* piece, std::int64_t bytes) {
  std::int64_t done = 0;
  while (done < bytes) {
    const std::int64_t want = std::min(bytes - done, kPieceBytes), got = file.read(piece, want);
    done += got;
    if (got < want) break;
  }
  return done;
}

/// Calls body(index of the first voxel, bytes, number of voxels) for every piece of the voxels, then reads a packed
/// stream to its end, where its checksum is.
template <class Body>
void for_each_piece(const VolumeHeader& h, Body body) {
  const VoxelSource& s = h.source;
  const std::int64_t width = voxel_type_bytes(s.type), step = width * s.interleaved;
  const std::int64_t bytes = h.info.voxel_bytes < 0 ? -1 : h.info.voxel_bytes * s.interleaved;
  require_possible_bytes(s, h.info.voxel_bytes);
  PackedFile file(s.file, s.packing, s.begin);
  const auto piece = std::make_unique<char[]>(kPieceBytes);
  const std::int64_t promised = bytes < 0 ? std::int64_t{1} << 61 : bytes + s.skip_bytes + s.rest_bytes;
  std::int64_t have = skip(file, piece.get(), s.skip_bytes);
  if (have < s.skip_bytes) throw too_short(s, have, promised);
  static_assert(kMostChannels * 8 <= kPieceBytes, "a piece holds a voxel with all of its values");
  const std::int64_t most = kPieceBytes / step * step;
  for (std::int64_t done = 0; done < bytes || bytes < 0;) {
    const std::int64_t want = bytes < 0 ? most : std::min(bytes - done, most);
    const std::int64_t got = file.read(piece.get(), want);
    have += got;
    if (got < want) throw too_short(s, have, promised);
    if (step > width)
      for (std::int64_t i = 0; i < got / step; ++i)
        std::memmove(piece.get() + i * width, piece.get() + i * step + s.which * width,
                     static_cast<std::size_t>(width));
    body(done / step, piece.get(), got / step);
    done += got;
  }
  if (file.is_plain()) return;
  if (const std::int64_t rest = skip(file, piece.get(), s.rest_bytes); rest < s.rest_bytes)
    throw too_short(s, have + rest, promised);
  if (skip(file, piece.get(), kMostSurplusBytes + 1) > kMostSurplusBytes)
    throw input_error(
        s.named,
        "goes on for more than 64 MiB behind the " + std::to_string(promised) + " bytes that its header promises",
        "is it what it should be? Export it again", "E_SIZE");
}

void refuse_non_finite(const BadVoxels& bad, const VolumeHeader& h) {
  refuse(bad, h, "are NaN or infinite", "replace them, for example by -1000 HU (air), or 0 in a label map", "E_NAN");
}

void require_readable(const VolumeHeader& h) {
  if (h.info.readable) return;
  const char* code = h.info.problem_code == kShearCode       ? kShearCode
                     : h.info.problem_code == kOtherChannels ? kOtherChannels
                                                             : default_code(ErrorKind::kInput);
  throw Error(ErrorKind::kInput, code, "[input] " + h.source.named.string() + ": " + h.info.problem);
}

/// Calls body(index, stored value, value with slope and intercept applied) for every voxel.
template <class Body>
void for_each_voxel(const VolumeHeader& h, Body body) {
  const VoxelSource& s = h.source;
  const bool swap = s.big_endian != (std::endian::native == std::endian::big), scaled = s.slope.has_value();
  const double slope = s.slope.value_or(1), intercept = s.intercept;
  with_voxel(s.type, [&](auto zero) {
    using T = decltype(zero);
    for_each_piece(h, [&](std::int64_t first, const char* bytes, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        const T stored = voxel_at<T>(bytes + i * static_cast<std::int64_t>(sizeof(T)), swap);
        const double value = static_cast<double>(stored);
        body(first + i, stored, scaled ? value * slope + intercept : value);
      }
    });
  });
}

/// Reads whole numbers of at most 32 bits that are not scaled: each has its value in `out`, and none is refused.
/// Returns false for voxels of other types, which are not read.
template <class Out>
bool read_small_integers(const VolumeHeader& h, Out* out) {
  if (h.source.slope) return false;
  const bool swap = h.source.big_endian != (std::endian::native == std::endian::big);
  bool done = false;
  with_voxel(h.source.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && (sizeof(T) < 4 || std::is_same_v<T, std::int32_t>)) {
      for_each_piece(h, [&](std::int64_t first, const char* bytes, std::int64_t count) {
        Out* to = out + first;
        if (swap)
          for (std::int64_t i = 0; i < count; ++i, bytes += sizeof(T))
            to[i] = static_cast<Out>(voxel_at<T>(bytes, true));
        else
          for (std::int64_t i = 0; i < count; ++i, bytes += sizeof(T))
            to[i] = static_cast<Out>(voxel_at<T>(bytes, false));
      });
      done = true;
    }
  });
  return done;
}

/// NaN and infinity as they are on disk; whole numbers have none.
template <class T>
bool is_finite(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
  return true;
}

Volume read_image_voxels(const VolumeHeader& h) {
  const Geometry& geometry = h.info.geometry;
  Volume volume{geometry, Tensor::unwritten(DType::kF32, geometry.shape())};
  float* out = volume.voxels.as<float>();
  if (read_small_integers(h, out)) return volume;
  BadVoxels bad, large;
  for_each_voxel(h, [&](std::int64_t i, auto stored, double value) {
    out[i] = static_cast<float>(value);
    if (!is_finite(stored))
      bad.add(i);
    else if (!std::isfinite(out[i]))
      large.add(i);
  });
  refuse_non_finite(bad, h);
  refuse(large, h, "are beyond 32-bit floats", "check the scaling in the header");
  return volume;
}

Volume read_label_voxels(const VolumeHeader& h) {
  const Geometry& geometry = h.info.geometry;
  Volume volume{geometry, Tensor::unwritten(DType::kI32, geometry.shape())};
  std::int32_t* out = volume.voxels.as<std::int32_t>();
  if (read_small_integers(h, out)) return volume;
  BadVoxels bad, fractions, large;
  for_each_voxel(h, [&](std::int64_t i, auto stored, double value) {
    if (!is_finite(stored)) {
      bad.add(i);
    } else if (!(std::floor(value) == value)) {
      fractions.add(i);
    } else if (!(std::abs(value) <= 2147483647.0)) {
      large.add(i);
    } else {
      out[i] = static_cast<std::int32_t>(value);
    }
  });
  refuse_non_finite(bad, h);
  refuse(fractions, h, "are not integers",
         "a label map holds whole numbers: is this the image, or was it interpolated?");
  refuse(large, h, "are outside 32-bit integers", "a label map holds small whole numbers: is this the image?");
  return volume;
}

Volume read_byte_voxels(const VolumeHeader& h) {
  const Geometry& geometry = h.info.geometry;
  Volume volume{geometry, Tensor::unwritten(DType::kU8, geometry.shape())};
  ensure(h.source.type == VoxelType::kU8 && read_small_integers(h, volume.voxels.as<std::uint8_t>()),
         "a file that is read as u8 stores u8");
  return volume;
}

}  // namespace

const char* voxel_type_name(VoxelType type) { return kVoxelTypes[static_cast<int>(type)].name; }
std::int64_t voxel_type_bytes(VoxelType type) { return kVoxelTypes[static_cast<int>(type)].bytes; }

std::int64_t product_bytes(const std::vector<std::int64_t>& dimensions, std::int64_t voxel_bytes) {
  double estimate = static_cast<double>(voxel_bytes);
  for (auto extent : dimensions) estimate *= static_cast<double>(extent);
  if (estimate > 0x1p60) return -1;
  for (auto extent : dimensions) voxel_bytes *= extent;
  return voxel_bytes;
}

void require_possible_bytes(const VoxelSource& s, std::int64_t voxel_bytes) {
  constexpr std::int64_t kMostDeflated = 1032;  // bytes per packed byte (zlib.net/zlib_tech.html)
  if (s.file != s.named) require_volume_file(s.file);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(s.file));
  const std::int64_t unpacked =
      voxel_bytes < 0 ? std::int64_t{1} << 60 : voxel_bytes * s.interleaved + s.skip_bytes + s.rest_bytes;
  if (s.packing == Packing::kPlain) {
    if (size < unpacked + s.begin) throw too_short(s, size, unpacked + s.begin);
  } else if ((size - s.begin) < unpacked / kMostDeflated) {
    throw input_error(s.named,
                      "is truncated: " + std::to_string(size - s.begin) + " packed bytes cannot hold the " +
                          std::to_string(unpacked) + " bytes that its header promises",
                      "copy or export the file again");
  }
}

Volume read_voxels(const VolumeHeader& header, DType dtype) {
  require_readable(header);
  require_possible_bytes(header.source, header.info.voxel_bytes);  // before memory is allocated for what is not there
  if (dtype == DType::kU8) return read_byte_voxels(header);
  return dtype == DType::kI32 ? read_label_voxels(header) : read_image_voxels(header);
}

void check_voxels(const VolumeHeader& header) {
  require_readable(header);
  BadVoxels bad;
  for_each_voxel(header, [&](std::int64_t i, auto stored, double) {
    if (!is_finite(stored)) bad.add(i);
  });
  refuse_non_finite(bad, header);
}

void require_whole(const VolumeHeader& header) {
  require_possible_bytes(header.source, header.info.voxel_bytes);
  if (header.source.packing != Packing::kPlain) check_voxels(header);
}

}  // namespace voxshard
