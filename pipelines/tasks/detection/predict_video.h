// Predicts detections in a video, one frame in memory at a time: read in place, detected, tracked, written, and on
// request drawn into an annotated copy with the timestamps of the frames.
//
//   const DetectInImage detect = [&](const Tensor& rgb) { return found_in(rgb); };
//   VideoPredictReport r = predict_video({.video = "clip.mp4", .json = "found.json", .drawn = "seen.mp4"}, classes,
//                                        detect, progress);
//
// The detector is a function argument, so that this file does not depend on a network. Called by predict_detections.cc.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "io/boxes/frame_results.h"
#include "io/video/decoder.h"
#include "io/video/select.h"
#include "libcore/metrics/iou_tracker.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns the objects in an image, best first; `category` is an index into the classes, `image` is not read.
///   rgb  (H, W, 3) u8, red first, upright
using DetectInImage = std::function<std::vector<ScoredBox>(const Tensor& rgb)>;

/// The user's settings for prediction on videos; an empty path is not written.
struct VideoPrediction {
  std::optional<FrameSelection> frames;  // none: all
  std::filesystem::path coco, mot;       // beside the JSON, see io/boxes/frame_results.h
  TrackOptions tracks;
};

struct VideoPredictOptions {
  std::filesystem::path video;
  std::filesystem::path json;   // empty: none
  std::filesystem::path drawn;  // .mp4, .mov or .mkv; empty: none
  VideoPrediction prediction;
  std::int64_t most_pixels = kMostFramePixels;  // of a frame
  double drawn_score = 0.3;                     // less likely boxes are in the other files only
  int threads = 1;                              // of the decoder and of the encoder
};

struct VideoPredictReport {
  std::int64_t frames = 0;  // on which the detector ran
  std::int64_t lost = 0;    // frames that were selected, but are too damaged to decode
  std::int64_t detections = 0, tracks = 0;
  std::int64_t not_drawn = 0;  // frames of another size than the first, or with a time no later than the frame before
  std::vector<std::string> notes;
  bool interrupted = false;  // after a stop: the files hold the frames up to it, and their names say so
};

/// Detects and tracks objects in a video. Errors: kInput as VideoReader; kNoCase when no frame is chosen or none
/// decodes; kUsage as select_frames, for an output that is the video itself or two equal outputs; kOutput. An error of
/// `detect` ends it without any file; but Stopped counts as a stop after the previous frame.
VideoPredictReport predict_video(const VideoPredictOptions& options, const std::vector<DetectionClass>& classes,
                                 const DetectInImage& detect, Progress& progress);

nlohmann::ordered_json to_json(const VideoPredictReport& report);
/// Returns "120 frames, 8 objects in 3 tracks\n"; after a stop also the location of the results up to it.
std::string to_text(const VideoPredictReport& report, const std::filesystem::path& output);

}  // namespace voxshard
