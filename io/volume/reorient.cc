// Permutes and flips to an orientation: index a of the result runs along axis `from[a]` of the source, forwards or
// backwards. Reorienting RAS to LPS flips x and y: result voxel 0 is source voxel size - 1.
//
//   reorient(ct, "LPS").geometry.direction   // nearly the identity
#include "io/volume/resample.h"

namespace voxshard {
namespace {

/// The world axis (0 x, 1 y, 2 z) of an orientation letter, and true when it points along LPS.
struct Letter {
  int axis = -1;
  bool positive = true;
};

Letter letter_of(char ch) {
  constexpr char kPlus[] = "LPS", kMinus[] = "RAI";
  for (int a = 0; a < 3; ++a) {
    if (ch == kPlus[a]) return {a, true};
    if (ch == kMinus[a]) return {a, false};
  }
  return {};
}

std::array<Letter, 3> letters_of(const std::string& code) {
  std::array<Letter, 3> letters;
  bool seen[3] = {};
  bool good = code.size() == 3;
  for (int a = 0; good && a < 3; ++a) {
    letters[a] = letter_of(code[a]);
    good = letters[a].axis >= 0 && !seen[letters[a].axis];
    if (good) seen[letters[a].axis] = true;
  }
  if (!good)
    throw Error(ErrorKind::kConfig, "[reorient] \"" + code +
                                        "\" is no orientation; expected one letter each of L/R, P/A and S/I, "
                                        "such as LPS or RAS");
  return letters;
}

}  // namespace

Volume reorient(Volume volume, const std::string& code) {
  const auto target = letters_of(code), source = letters_of(orientation_code(volume.geometry));
  const Geometry& old = volume.geometry;
  Geometry fresh = old;
  std::array<int, 3> from{};
  std::array<std::int64_t, 3> start{}, step{};  // in source elements
  const std::array<std::int64_t, 3> stride{1, old.size[0], old.size[0] * old.size[1]};
  std::array<double, 3> first{};
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b)
      if (source[b].axis == target[a].axis) from[a] = b;
    const int b = from[a];
    const bool flip = source[b].positive != target[a].positive;
    fresh.size[a] = old.size[b];
    fresh.spacing[a] = old.spacing[b];
    for (int r = 0; r < 3; ++r) fresh.direction[3 * r + a] = (flip ? -1.0 : 1.0) * old.direction[3 * r + b] + 0.0;
    first[b] = flip ? static_cast<double>(old.size[b] - 1) : 0.0;
    start[a] = flip ? (old.size[b] - 1) * stride[b] : 0;
    step[a] = flip ? -stride[b] : stride[b];
  }
  fresh.origin = old.world(first);
  if (step == stride) return {fresh, std::move(volume.voxels)};

  Volume result{fresh, Tensor(volume.voxels.dtype(), fresh.shape())};
  const std::int64_t bytes = dtype_bytes(volume.voxels.dtype());
  ensure(bytes == 4, "volumes hold f32 or i32");
  const auto* in = volume.voxels.as<std::uint32_t>();
  auto* out = result.voxels.as<std::uint32_t>();
  for (std::int64_t z = 0; z < fresh.size[2]; ++z)
    for (std::int64_t y = 0; y < fresh.size[1]; ++y) {
      const std::int64_t row = start[0] + start[1] + start[2] + z * step[2] + y * step[1];
      for (std::int64_t x = 0; x < fresh.size[0]; ++x) *out++ = in[row + x * step[0]];
    }
  return result;
}

}  // namespace voxshard
