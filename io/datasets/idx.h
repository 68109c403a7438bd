// IDX files: arrays of bytes after a header of big-endian numbers, plain or gzipped; MNIST and its relatives
// (Fashion-MNIST, KMNIST, EMNIST) are distributed in this form.
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

/// Largest array in bytes; a header that promises more is refused.
inline constexpr std::int64_t kMostIdxBytes = std::int64_t{8} << 30;
/// Largest height or width of an image, in pixels.
inline constexpr std::int64_t kMostIdxSide = 1 << 16;

struct IdxPair {
  std::filesystem::path images, labels;
};
enum class IdxPart : std::uint8_t { kTrain, kTest };

/// Returns the files with the usual names: train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k-… for the test
/// part; also with a dot before "idx", and each with .gz. None when there is no image file. Errors: kInput E_MISSING
/// for an image file without a label file.
std::optional<IdxPair> find_idx(const std::filesystem::path& folder, IdxPart part);

/// Returns the extents in a header: (images, rows, columns), or (labels). Errors: kInput naming the file: missing, too
/// short, a damaged gzip stream, no IDX of unsigned bytes, another number of axes, more than kMostIdxBytes, or more
/// than a file of this size can hold.   Cost: reads the header.
Shape read_idx_extents(const std::filesystem::path& path, int axes);

/// Reads the array. Errors: as above, and for more or fewer bytes than the header says (E_SIZE, or cut off).
Tensor read_idx(const std::filesystem::path& path, int axes);

struct IdxImages {
  Tensor pixels;                     // (N, H, W) u8, 255 is brightest
  std::vector<std::int32_t> labels;  // (N), 0 to 255
};

/// Reads images with their labels. Errors: as read_idx; kInput E_SHAPE when the numbers of labels and images differ or
/// are 0, and for images without a pixel or with a side over kMostIdxSide.
IdxImages read_idx_images(const IdxPair& pair);

/// Writes an array of u8 with 1 to 4 axes, atomically and without compression. Errors: kOutput.
void write_idx(const std::filesystem::path& path, const Tensor& bytes);

}  // namespace voxshard
