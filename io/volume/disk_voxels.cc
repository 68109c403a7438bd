#include "io/volume/disk_voxels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace voxshard {
namespace {

constexpr std::int64_t kPieceVoxels = 1 << 18;

template <class To>
bool fits(double value) {  // false for what is not finite
  return value >= std::numeric_limits<To>::lowest() && value <= std::numeric_limits<To>::max();
}

/// Converts `count` values. Returns the first that does not fit; `count` when all do. The values as they are need no
/// `stored`, which may be null.
template <class From, class To>
std::int64_t convert(const From* values, To* stored, std::int64_t count) {
  constexpr bool kRounds = std::is_integral_v<To> && std::is_floating_point_v<From>;
  const auto rounded = [](From value) {
    return kRounds ? std::nearbyint(static_cast<double>(value)) : static_cast<double>(value);
  };
  bool all = true;  // without a branch, so that the loop becomes one over vectors
  for (std::int64_t i = 0; i < count; ++i) all &= fits<To>(rounded(values[i]));
  if (!all) return std::find_if(values, values + count, [&](From v) { return !fits<To>(rounded(v)); }) - values;
  if (stored != nullptr)
    for (std::int64_t i = 0; i < count; ++i) stored[i] = static_cast<To>(rounded(values[i]));
  return count;
}

template <class From>
void convert_pieces(const std::filesystem::path& path, const Volume& volume, DiskType type,
                    const std::function<void(const char*, std::int64_t)>& body) {
  const auto* values = volume.voxels.as<From>();
  const std::int64_t voxels = volume.voxels.count();
  with_scalar(type, [&](auto zero) {
    using To = decltype(zero);
    constexpr bool kAsTheyAre = std::is_same_v<From, To>;
    std::vector<To> piece(static_cast<std::size_t>(kAsTheyAre ? 0 : std::min(voxels, kPieceVoxels)));
    for (std::int64_t at = 0; at < voxels; at += kPieceVoxels) {
      const std::int64_t count = std::min(voxels - at, kPieceVoxels);
      if (const std::int64_t bad = convert(values + at, kAsTheyAre ? nullptr : piece.data(), count); bad < count)
        throw output_error(path,
                           "the voxel at " + voxel_name(volume.geometry, at + bad) + " does not fit the type on disk",
                           "choose a wider type");
      body(kAsTheyAre ? reinterpret_cast<const char*>(values + at) : reinterpret_cast<const char*>(piece.data()),
           count * static_cast<std::int64_t>(sizeof(To)));
    }
  });
}

}  // namespace

void for_each_disk_piece(const std::filesystem::path& path, const Volume& volume, DiskType type,
                         const std::function<void(const char*, std::int64_t)>& body) {
  const DType dtype = volume.voxels.dtype();
  ensure(dtype == DType::kF32 || dtype == DType::kI32 || dtype == DType::kU8, "images are f32, and labels i32 or u8");
  if (dtype == DType::kF32) return convert_pieces<float>(path, volume, type, body);
  if (dtype == DType::kI32) return convert_pieces<std::int32_t>(path, volume, type, body);
  convert_pieces<std::uint8_t>(path, volume, type, body);
}

}  // namespace voxshard
