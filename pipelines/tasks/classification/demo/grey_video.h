// Writes grey frames as a video.
//
//   write_grey_video("left/phantom_003.mp4", make_motion_phantom({.index = 3}).frames);
#pragma once

#include <filesystem>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Writes a video of 25 frames a second.
///   frames  (T, H, W) u8
/// Errors: kOutput.
void write_grey_video(const std::filesystem::path& path, const Tensor& frames);

}  // namespace voxshard
