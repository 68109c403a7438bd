// The options about videos: which frames, for every command that takes frames, and what prediction on a video writes
// beside its JSON.
//
//   add_frame_options(app, args);                      // --range 0:1200 --stride 5
//   add_video_output_options(app, args);               // --coco found.json --mot found.txt --track-iou 0.3
//   options.video = video_prediction(args);
#pragma once

#include <optional>
#include <string>

#include "io/video/select.h"
#include "pipelines/tasks/detection/predict_video.h"

namespace CLI {
class App;
}

namespace voxshard {

struct VideoArgs {
  std::string range, per_second;
  std::optional<std::int64_t> stride;
  VideoPrediction prediction;
};

void add_frame_options(CLI::App& app, VideoArgs& args);
void add_video_output_options(CLI::App& app, VideoArgs& args);

/// All of it. Errors: as frame_selection.
VideoPrediction video_prediction(const VideoArgs& args);

/// Nothing when none of the options about frames was given: then all frames, and pictures too. Errors: kUsage shows the
/// form.
std::optional<FrameSelection> frame_selection(const VideoArgs& args);

}  // namespace voxshard
