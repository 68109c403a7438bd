// Time lines of videos as files, written window by window, so that memory does not grow with their length.
//
//   TimeLinesWriter out({.json = "found.json", .intervals = "found.csv"}, head, classes);
//   out.begin("left/a.mp4", video.index());
//   out.window({.frames = {0, 32}, .probabilities = {0.9, 0.1}});
//   out.end(maker.finish(), {.notes = video.notes()});
//   out.close(true);
//
// Up to three files, each whole or not at all. Seconds are those after the first frame, "pts" the exact ticks of the
// stream; ends are not included: their time is that of the frame behind them, after the last one its duration.
//   json       what `head` holds and "predictions": [{"file", "frames": 48, "seconds": 1.92, "time_base": "1/25",
//              "windows": [{"frames": [0, 32], "pts": [0, 32], "seconds": [0, 1.28], "class", "probabilities"}, ...],
//              "intervals": [{"frames", "pts", "seconds", "class", "probability"}, ...], "repeated_frames", "notes",
//              "complete", "class", "probabilities"}, ...]: the last two of the whole video, the mean over its windows.
//              Read as all data: at most 256 MiB and 20 million values, a window being its classes and 7 more.
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

/// An empty path is not written.
struct TimeLineFiles {
  std::filesystem::path json, intervals, windows;
};

/// "found.windows.csv" for "found.json"; intervals are in "found.csv".
TimeLineFiles time_line_files(const std::filesystem::path& json);

struct TimeWindow {
  FrameSpan frames;
  std::vector<double> probabilities;  // of every class
};

struct TimeLineEnd {
  std::int64_t repeated = 0;  // frames that did not decode, in whose place another one was looked at
  std::vector<std::string> notes = {};
  bool complete = true;  // to its last window
};

class TimeLinesWriter {
 public:
  ///   head  an object, that of the JSON file
  /// Errors: kOutput names the file and the reason.
  TimeLinesWriter(const TimeLineFiles& files, const nlohmann::ordered_json& head, std::vector<std::string> classes);
  ~TimeLinesWriter();

  /// A video, whose index must live until end(). Its name is written with its first window.
  void begin(const std::string& file, const VideoIndex& index);
  /// Errors: kInternal for probabilities that are not those of the classes, or frames that the video does not have.
  void window(const TimeWindow& window);
  /// Without a window nothing is written of the video.
  void end(const TimeLine& line, const TimeLineEnd& end);

  /// Gives the files their names. `complete`: all videos had their turn; else the names are those of incomplete_path().
  /// Errors: kOutput.
  void close(bool complete);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A window or an interval as it was read.
struct ReadSpan {
  FrameSpan frames;
  double begin_s = 0, end_s = 0;
  std::int64_t label = 0;             // the likeliest class
  std::vector<double> probabilities;  // of a window
};

struct ReadTimeLine {
  double seconds = 0;                        // of the whole video
  std::vector<ReadSpan> windows, intervals;  // in order
};

/// Errors: kInput E_SYNTAX with the reason for what is no time line of these classes: spans that are no numbers, not
/// finite or out of order, classes that there are not; those of JSON for what is missing.
ReadTimeLine time_line_from_json(const nlohmann::json& video, const std::vector<std::string>& classes);

/// A probability for each of `classes` classes. Errors: kInput E_SYNTAX with the reason.
std::vector<double> probabilities_from_json(const nlohmann::json& values, std::size_t classes);

/// How the tables begin.
inline constexpr const char* kTimeLineTableHead = "file,start_s,end_s,class,probability,begin_frame,end_frame";

}  // namespace voxshard
