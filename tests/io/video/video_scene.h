// Clips for the tests of videos, made by Debian's ffmpeg, and what ffprobe and ffmpeg say about a file: the outside
// oracles. Tests that need them skip with a message where the programs are missing.
//
//   const fs::path clip = scene.make("odd.mkv", "-c:v ffv1 -pix_fmt yuv420p", "101x67");
//   EXPECT_EQ(frame_times(clip, stream), probed_times(clip, 0));
#pragma once

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/video/video_reader.h"
#include "tests/io/test_files.h"

namespace voxshard {

/// Returns the output of a shell command. Throws when it fails.
inline std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text, block(1 << 16, '\0');
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) text.append(block, 0, got);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return text;
}

inline std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

#define REQUIRE_FFMPEG()                                                            \
  if (std::system("command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null")) \
  GTEST_SKIP() << "ffmpeg and ffprobe are not installed"

/// Makes `seconds` of ffmpeg's moving test image in `folder`/`name`, 25 frames per second; `options`: those of the
/// output.
inline fs::path make_clip(const fs::path& folder, const std::string& name, const std::string& options,
                          const std::string& size = "96x64", int seconds = 1) {
  const fs::path path = folder / name;
  output_of("ffmpeg -v error -nostdin -y -f lavfi -i testsrc2=size=" + size +
            ":rate=25:duration=" + std::to_string(seconds) + " -threads 1 " + options + " " + quoted(path));
  return path;
}

/// Tests that make clips in a folder of their own; skipped without ffmpeg.
class VideoClips : public testing::Test {
 protected:
  void SetUp() override { REQUIRE_FFMPEG(); }
  fs::path clip(const std::string& name, const std::string& options, const std::string& size = "96x64",
                int seconds = 1) {
    return make_clip(scratch_.path(), name, options, size, seconds);
  }
  fs::path folder() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

/// Returns the timestamps of the frames that ffprobe decodes; -1 where it knows none.
inline std::vector<std::int64_t> probed_times(const fs::path& path, int stream_index) {
  const std::string text = output_of("ffprobe -v quiet -select_streams " + std::to_string(stream_index) +
                                     " -show_entries frame=best_effort_timestamp -of json " + quoted(path));
  const auto json = nlohmann::json::parse(text);
  std::vector<std::int64_t> times;
  for (const auto& frame : json.at("frames")) times.push_back(frame.value("best_effort_timestamp", std::int64_t{-1}));
  return times;
}

/// Returns width and height from ffprobe, swapped if the video is turned by a quarter.
inline std::pair<std::int64_t, std::int64_t> probed_size(const fs::path& path, int stream_index) {
  const auto json = nlohmann::json::parse(output_of("ffprobe -v quiet -select_streams " + std::to_string(stream_index) +
                                                    " -show_streams -of json " + quoted(path)));
  const auto& stream = json.at("streams").at(0);
  std::pair<std::int64_t, std::int64_t> size{stream.at("width"), stream.at("height")};
  for (const auto& data : stream.value("side_data_list", nlohmann::json::array()))
    if (data.contains("rotation") && data.at("rotation").get<int>() % 180 != 0) std::swap(size.first, size.second);
  return size;
}

inline std::vector<std::int64_t> index_times(const VideoIndex& index) {
  std::vector<std::int64_t> times;
  for (const auto& frame : index.frames) times.push_back(frame.pts_ticks);
  return times;
}

/// Compares size and all timestamps with ffprobe's. Returns the number of frames, counted by decoding.
inline std::int64_t expect_as_ffprobe(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const VideoReader video(path, {.threads = 2, .decode_index = true});
  const int stream = video.stream().stream_index;
  std::vector<std::int64_t> ours = index_times(video.index()), theirs = probed_times(path, stream);
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    if (theirs[i] < 0) theirs[i] = ours[i];  // a frame without a time in the file: only counted
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(std::pair(video.stream().width, video.stream().height), probed_size(path, stream));
  return video.index().size();
}

/// One frame of a file, as bytes.
struct ReadFrame {
  std::int64_t number, pts_ticks;
  Shape shape;
  std::string rgb;
};
inline ReadFrame kept(const VideoFrame& frame) {
  return {frame.number, frame.pts_ticks, frame.rgb.shape(),
          std::string(reinterpret_cast<const char*>(frame.rgb.data()), static_cast<std::size_t>(frame.rgb.bytes()))};
}
inline std::vector<ReadFrame> all_frames(VideoReader& video) {
  std::vector<ReadFrame> frames;
  for (VideoFrame frame; video.next(frame);) frames.push_back(kept(frame));
  return frames;
}

/// Returns the file's frames as ffmpeg turns and converts them with accurate settings: rgb24, one after the other.
inline std::string ffmpeg_rgb(const fs::path& path, int stream_index) {
  return output_of(
      "ffmpeg -v quiet -nostdin -threads 1 -i " + quoted(path) + " -map 0:" + std::to_string(stream_index) +
      " -fps_mode passthrough -sws_flags bicubic+accurate_rnd+full_chroma_int -pix_fmt rgb24 -f rawvideo -");
}

}  // namespace voxshard
