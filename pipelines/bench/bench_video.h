// `voxshard bench video`: measures the conversion of a video to full-resolution RGB tensors, from opening the file to
// its last frame.
//
//   VideoBench b = bench_video("clip.mp4", 2);   // b.frames / b.seconds
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace voxshard {

struct VideoBench {
  std::filesystem::path path;
  std::int64_t width = 0, height = 0, frames = 0;
  int threads = 1;
  double seconds = 0;
  std::int64_t resident_before_bytes = 0, peak_resident_bytes = 0;
};

/// `threads` >= 1: used by the decoder and by the conversion. Errors: kInput as VideoReader.
VideoBench bench_video(const std::filesystem::path& path, int threads);
nlohmann::ordered_json to_json(const VideoBench& bench);

}  // namespace voxshard
