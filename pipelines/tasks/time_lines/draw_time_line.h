// Writes a copy of a video with its classes drawn in: the current class with its probability, and the time line of the
// whole video as a band along the lower edge.
//
//   DrawReport drawn = draw_time_line({.video = "a.mp4", .drawn = "seen.mp4"}, line.segments, classes, progress);
//
// The video is read a second time, one frame in memory at a time; frames keep their size and timestamps, sound is
// dropped.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/video/scan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/time_lines/time_line.h"

namespace voxshard {

struct DrawTimeLine {
  std::filesystem::path video;
  std::filesystem::path drawn;                  // .mp4, .mov or .mkv
  std::string name;                             // for progress
  std::int64_t most_pixels = kMostFramePixels;  // of a frame
  int threads = 1;                              // of the decoder and of the encoder
  bool keeps_stopped = true;                    // false: a stop leaves no file
  std::shared_ptr<const VideoScan> scan = {};   // scan of the video, if it exists already
};

struct DrawReport {
  std::int64_t frames = 0;
  std::int64_t not_drawn = 0;  // frames of another size than the first, or with a time no later than the frame before
  bool interrupted = false;    // after a stop: the file, if any, holds the frames up to it, and its name says so
};

/// Draws the segments into a copy of the video. Frames outside all segments have the band only. Errors: kInput as
/// VideoReader, and for a video of which no frame can be drawn; kOutput.
DrawReport draw_time_line(const DrawTimeLine& options, std::span<const TimeSegment> segments,
                          const std::vector<std::string>& classes, Progress& progress);

}  // namespace voxshard
