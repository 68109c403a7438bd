// Writes and reads time lines of videos as files. They are written window by window, so that memory does not grow with
// the length of a video.
//
//   TimeLinesWriter out({.json = "found.json", .intervals = "found.csv"}, head, classes);
//   out.begin("left/a.mp4", video.index());
//   out.window({.frames = {0, 32}, .probabilities = {0.9, 0.1}});
//   out.end(maker.finish(), {.notes = video.notes()});
//   out.close(true);
//
// Up to three files are written, each whole or not at all. Seconds count from the first frame, "pts" are the exact
// ticks of the stream. Ends are exclusive: the time of an end is that of the next frame, and for the last frame its own
// end.
//   json       the entries of `head` and "predictions": [{"file", "frames": 48, "seconds": 1.92, "time_base": "1/25",
//              "windows": [{"frames": [0, 32], "pts": [0, 32], "seconds": [0, 1.28], "class", "probabilities"}, ...],
//              "intervals": [{"frames", "pts", "seconds", "class", "probability"}, ...], "repeated_frames", "notes",
//              "complete", "class", "probabilities"}, ...]: the last two are those of the whole video, the mean over
//              its windows. The limits for all JSON data hold when it is read: at most 256 MiB and 20 million values,
//              of which a window takes one per class and 7 more.
//   intervals  CSV: file,start_s,end_s,class,probability,begin_frame,end_frame
//   windows    the same with a column p(CLASS) for each class
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/video/video_index.h"
#include "pipelines/tasks/time_lines/time_line.h"

namespace voxshard {

/// The paths of the files; an empty path is not written.
struct TimeLineFiles {
  std::filesystem::path json, intervals, windows;
};

/// Returns the paths of all three files: for "found.json", intervals in "found.csv" and windows in "found.windows.csv".
TimeLineFiles time_line_files(const std::filesystem::path& json);

struct TimeWindow {
  FrameSpan frames;
  std::vector<double> probabilities;  // of every class
};

struct TimeLineEnd {
  std::int64_t repeated = 0;  // frames that did not decode and were replaced by another one
  std::vector<std::string> notes = {};
  bool complete = true;  // true: the last window was reached
};

class TimeLinesWriter {
 public:
  ///   head  the first entries of the JSON file, an object
  /// Errors: kOutput names the file and the reason.
  TimeLinesWriter(const TimeLineFiles& files, const nlohmann::ordered_json& head, std::vector<std::string> classes);
  ~TimeLinesWriter();

  /// Starts a video, whose index must live until end(). Its name is written with its first window.
  void begin(const std::string& file, const VideoIndex& index);
  /// Writes a window. Errors: kInternal for another number of probabilities than of classes, or frames outside the
  /// video.
  void window(const TimeWindow& window);
  /// Ends the video; a video without a window is not written.
  void end(const TimeLine& line, const TimeLineEnd& end);

  /// Gives the files their final names when `complete`, that is when all videos were predicted; else the names of
  /// incomplete_path(). Errors: kOutput.
  void close(bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A window or an interval that was read from a file.
struct ReadSpan {
  FrameSpan frames;
  double begin_s = 0, end_s = 0;
  std::int64_t label = 0;             // the likeliest class
  std::vector<double> probabilities;  // for a window only
};

struct ReadTimeLine {
  double seconds = 0;                        // of the whole video
  std::vector<ReadSpan> windows, intervals;  // in order
};

/// Reads the time line of a video. Errors: kInput E_SYNTAX with the reason for spans that are no numbers, not finite or
/// out of order, and for classes that are not in `classes`; those of the JSON library for missing entries.
ReadTimeLine time_line_from_json(const nlohmann::json& video, const std::vector<std::string>& classes);

/// Reads a probability for each of `classes` classes. Errors: kInput E_SYNTAX with the reason.
std::vector<double> probabilities_from_json(const nlohmann::json& values, std::size_t classes);

/// The first columns of both tables.
inline constexpr const char* kTimeLineTableHead = "file,start_s,end_s,class,probability,begin_frame,end_frame";

}  // namespace voxshard
