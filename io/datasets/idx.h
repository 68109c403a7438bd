// IDX files: arrays of bytes behind a header of big-endian numbers, as MNIST and its relatives (Fashion-MNIST, KMNIST,
// EMNIST) are handed out, plain or gzipped.
//
//   if (const auto pair = find_idx(folder, IdxPart::kTrain)) {
//     const IdxImages digits = read_idx_images(*pair);      // digits.pixels (60000, 28, 28) u8, digits.labels
//   }
//
// Source: Y. LeCun, "The MNIST database of handwritten digits", file formats: 00 00, type (08: unsigned byte), axes,
// then an extent of 32 bits per axis.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Beyond it a header is not believed.
inline constexpr std::int64_t kMostIdxBytes = std::int64_t{8} << 30;
/// Of an image.
inline constexpr std::int64_t kMostIdxSide = 1 << 16;

struct IdxPair {
  std::filesystem::path images, labels;
};
enum class IdxPart : std::uint8_t { kTrain, kTest };

/// The usual names: train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k-… for the test part; also with a dot
/// before "idx", and each with .gz. None when there are no such images. Errors: kInput E_MISSING for images without
/// labels.
std::optional<IdxPair> find_idx(const std::filesystem::path& folder, IdxPart part);

/// The extents that a file promises: (images, rows, columns), or (labels). Errors: kInput naming the file: missing, too
/// short, a damaged gzip stream, no IDX of unsigned bytes, another number of axes, more than kMostIdxBytes, or more
/// than a file of this size can hold.   Cost: reads the header.
Shape read_idx_extents(const std::filesystem::path& path, int axes);

/// The array. Errors: as above, and for more or fewer bytes than promised (E_SIZE, or cut off).
Tensor read_idx(const std::filesystem::path& path, int axes);

struct IdxImages {
  Tensor pixels;                     // (N, H, W) u8, 255 is brightest
  std::vector<std::int32_t> labels;  // (N), 0 to 255
};

/// Errors: as read_idx; kInput E_SHAPE when there are more labels than images or fewer, none, or images without a pixel
/// or with a side over kMostIdxSide.
IdxImages read_idx_images(const IdxPair& pair);

/// Writes an array of u8, rank 1 to 4, atomically; plain. Errors: kOutput.
void write_idx(const std::filesystem::path& path, const Tensor& bytes);

}  // namespace voxshard
