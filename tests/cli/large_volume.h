// Volumes that are large in memory and small on the disk, for tests of limits.
#pragma once

#include <zlib.h>

#include <cstring>
#include <string>

namespace voxshard {

/// Writes a .nii.gz of one-byte voxels, all 0; the file has a thousandth of its unpacked size.
inline void write_bomb(const std::string& path, std::int16_t x, std::int16_t y, std::int16_t z) {
  std::string header(352, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&header[at], &value, sizeof value); };
  put(0, std::int32_t{348}), put(40, std::int16_t{3}), put(70, std::int16_t{2}), put(72, std::int16_t{8});
  const std::int16_t size[] = {x, y, z};
  for (std::size_t a = 0; a < 7; ++a) put(42 + 2 * a, a < 3 ? size[a] : std::int16_t{1});
  for (std::size_t a = 0; a < 4; ++a) put(76 + 4 * a, 1.0f), put(280 + 20 * (a % 3), 1.0f);
  put(108, 352.0f), put(254, std::int16_t{1});
  header.replace(344, 3, "n+1");
  const std::string zeros(1 << 20, '\0');
  gzFile gz = gzopen(path.c_str(), "wb1");
  gzwrite(gz, header.data(), 352);
  for (std::int64_t left = std::int64_t{1} * x * y * z; left > 0; left -= 1 << 20)
    gzwrite(gz, zeros.data(), static_cast<unsigned>(std::min<std::int64_t>(1 << 20, left)));
  gzclose(gz);
}

}  // namespace voxshard
