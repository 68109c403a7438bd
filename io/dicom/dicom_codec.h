// Decodes compressed pixels: RLE, JPEG (baseline, extended, lossless) and JPEG-LS through DCMTK, JPEG 2000 through
// OpenJPEG.
//
//   std::vector<char> values = decode_dicom_pixels({.syntax = "1.2.840.10008.1.2.4.70", .columns = 512, ...},
//   fragments);
//
// Called by dicom_pixels.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace voxshard {

struct CompressedPixels {
  std::filesystem::path path;  // for messages
  std::string syntax;          // UID of the transfer syntax
  std::int64_t columns = 0, rows = 0, frames = 1;
  int bits = 16, bits_stored = 16, high_bit = 15;  // the highest bit counts where fewer are stored than allocated
  bool is_signed = false;
};

/// Checks what a header says of the bits of pixels, also of those that are not compressed. Errors: kInput for numbers
/// of bits that no image has, and for a highest stored bit that is not the one above the others (DICOM PS3.5, 8.1.1),
/// where fewer bits are stored than allocated.
void require_sound_bits(const CompressedPixels& pixels);

/// Returns the stored values of all frames, in this machine's byte order.
///   fragments  in the order of the file, one or more for each frame
/// Errors: kInput for pixels that cannot be decoded, have 1 bit, or whose sign is not that of the header.
std::vector<char> decode_dicom_pixels(const CompressedPixels& pixels, const std::vector<std::vector<char>>& fragments);

}  // namespace voxshard
