#include "apps/video_args.h"

#include <CLI/CLI.hpp>

namespace voxshard {

void add_frame_options(CLI::App& app, VideoArgs& a) {
  const std::string group = "Frames of videos";
  app.add_option(
         "--range", a.range,
         "BEGIN:END in frames from 0, the end not included, or in seconds like 1.5s:20s; either may be left out")
      ->group(group);
  app.add_option("--stride", a.stride, "Every n-th frame of the range")->group(group);
  app.add_option("--fps", a.per_second, "Frames per second to take of those there are, like 5 or 30000/1001")
      ->group(group);
}

void add_video_output_options(CLI::App& app, VideoArgs& a) {
  const std::string group = "Prediction on a video";
  VideoPrediction& p = a.prediction;
  app.add_option("--coco", p.coco, "COCO results to write too; the image id is the number of the frame from 0")
      ->group(group);
  app.add_option("--mot", p.mot, "MOT text to write too")->group(group);
  app.add_option("--track-iou", p.tracks.least_iou, "Least overlap of a detection with the last box of its track")
      ->capture_default_str()
      ->group(group);
  app.add_option("--track-score", p.tracks.least_score, "Least score of a detection in a track")
      ->capture_default_str()
      ->group(group);
  app.add_option("--track-gap", p.tracks.most_missed,
                 "Frames in a row in which a track may not be found before it ends")
      ->capture_default_str()
      ->group(group);
}

std::optional<FrameSelection> frame_selection(const VideoArgs& a) {
  if (a.range.empty() && a.per_second.empty() && !a.stride) return std::nullopt;
  FrameSelection selection;
  if (!a.range.empty()) selection.range = frame_range_from_text(a.range);
  if (!a.per_second.empty()) selection.per_second = frames_per_second_from_text(a.per_second);
  selection.stride = a.stride.value_or(1);
  return selection;
}

VideoPrediction video_prediction(const VideoArgs& a) {
  VideoPrediction prediction = a.prediction;
  prediction.frames = frame_selection(a);
  return prediction;
}

}  // namespace voxshard
