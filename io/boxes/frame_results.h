// Detections in a video, written frame by frame, so that memory does not grow with the length of the video.
//
//   FrameResultsWriter out({.json = "found.json", .mot = "found.txt"}, {"clip.mp4", {1, 12800}, 1024, 1024}, classes);
//   out.write({.number = 17, .pts_ticks = 8704, .seconds = 0.68, .boxes = found, .tracks = {1, 2}});
//   out.close({}, true);
//
// Up to three files, each whole or not at all:
//   json  {"video", "time_base": "1/12800", "width", "height", "categories", "frames": [{"index": 17, "pts": 8704,
//   "seconds": 0.68,
//         "detections": [{"category", "category_id", "bbox": [x, y, width, height], "score", "track"}, ...]}, ...],
//         "notes", "complete"}; a track of null is none
//   coco  COCO's results, the image id being the number of the frame from 0
//   mot   MOT text (io/boxes/mot.h), frames from 1
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/boxes/detection_annotations.h"
#include "io/output/output_file.h"
#include "io/video/video_index.h"

namespace voxshard {

/// Paths of the files to write; an empty path is left out. MOT text numbers classes from 1: where an id is below 1,
/// each class has its place among all instead.
struct FrameResultFiles {
  std::filesystem::path json, coco, mot;
};

struct ResultVideo {
  std::filesystem::path file;
  Rational time_base;  // seconds per tick
  std::int64_t width = 0, height = 0;
};

struct FrameResult {
  std::int64_t number = 0;  // from 0
  std::int64_t pts_ticks = 0;
  double seconds = 0;
  std::vector<ScoredBox> boxes;
  std::vector<std::int64_t> tracks;  // track id of each box; -1: none
};

/// Refuses files that cannot be written or are no earlier results. Errors: as require_output_file.
void require_result_files(const FrameResultFiles& files, const std::vector<std::filesystem::path>& inputs);

class FrameResultsWriter {
 public:
  /// Errors: kOutput names the file and the reason.
  FrameResultsWriter(const FrameResultFiles& files, const ResultVideo& video, std::vector<DetectionClass> classes);
  ~FrameResultsWriter();

  /// Errors: kInternal for a class that does not exist or lists of different lengths.
  void write(const FrameResult& frame);

  /// Gives the files their final names. `complete`: all requested frames were processed; else the names are those of
  /// incomplete_path(). Errors: kOutput.
  void close(const std::vector<std::string>& notes, bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
