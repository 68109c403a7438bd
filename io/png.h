// PNG pictures through OpenCV.
//
//   write_png("overlay.png", sheet);   // (H, W, 3) u8, red first
//   Tensor again = read_png("overlay.png");
#pragma once

#include <filesystem>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Writes an (H, W, 3) u8 tensor (red, green, blue) atomically; same pixels, same bytes. Errors: kOutput.
void write_png(const std::filesystem::path& path, const Tensor& rgb);

/// Reads a picture (PNG, JPEG) as (H, W, 3) u8, red first. Errors: kInput names the file.
Tensor read_png(const std::filesystem::path& path);

}  // namespace voxshard
