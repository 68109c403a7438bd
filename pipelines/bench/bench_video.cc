#include "pipelines/bench/bench_video.h"

#include <nlohmann/json.hpp>

#include "io/system/process_memory.h"
#include "io/video/video_reader.h"
#include "libcore/base/stopwatch.h"

namespace voxshard {

VideoBench bench_video(const std::filesystem::path& path, int threads) {
  VideoBench bench{.path = path, .threads = threads, .resident_before_bytes = resident_bytes()};
  const Stopwatch watch;
  VideoReader video(path, {.threads = threads});
  VideoFrame frame;
  while (video.next(frame)) ++bench.frames;
  bench.seconds = watch.seconds();
  bench.width = video.stream().width, bench.height = video.stream().height;
  bench.peak_resident_bytes = peak_resident_bytes();
  return bench;
}

nlohmann::ordered_json to_json(const VideoBench& bench) {
  return {{"path", bench.path.string()},
          {"width", bench.width},
          {"height", bench.height},
          {"frames", bench.frames},
          {"threads", bench.threads},
          {"seconds", bench.seconds},
          {"frames_per_second", static_cast<double>(bench.frames) / bench.seconds},
          {"resident_before_bytes", bench.resident_before_bytes},
          {"peak_resident_bytes", bench.peak_resident_bytes}};
}

}  // namespace voxshard
