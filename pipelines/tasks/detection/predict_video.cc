#include "pipelines/tasks/detection/predict_video.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "io/files/atomic_file.h"
#include "io/image/draw_boxes.h"
#include "io/video/video_copy.h"
#include "io/video/video_reader.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> outputs_of(const VideoPredictOptions& o) {
  std::vector<fs::path> files = {o.json, o.prediction.coco, o.prediction.mot, o.drawn};
  std::erase(files, fs::path());
  return files;
}

void check_outputs(const VideoPredictOptions& o) {
  std::set<fs::path> files = {fs::weakly_canonical(o.video)};
  for (const fs::path& file : outputs_of(o))
    if (!files.insert(fs::weakly_canonical(file)).second)
      throw Error(ErrorKind::kUsage,
                  "[predict] " + file.string() + " is the video, or named for two outputs; choose another");
}

class VideoDetector {
 public:
  VideoDetector(const VideoPredictOptions& options, const std::vector<DetectionClass>& classes, Progress& progress)
      : o_(options),
        classes_(classes),
        progress_(progress),
        video_(options.video, {.threads = options.threads, .most_pixels = options.most_pixels}),
        tracker_(options.prediction.tracks) {}

  VideoPredictReport run(const DetectInImage& detect) {
    const std::vector<std::int64_t> chosen =
        select_frames(video_.index(), o_.prediction.frames.value_or(FrameSelection{}));
    if (chosen.empty())
      throw Error(ErrorKind::kNoCase, "[predict] " + o_.video.string() + ": no frame is chosen of its " +
                                          std::to_string(video_.index().size()) + "; check {range}");
    FrameResultsWriter results({.json = o_.json, .coco = o_.prediction.coco, .mot = o_.prediction.mot},
                               {o_.video, video_.index().time_base, video_.stream().width, video_.stream().height},
                               classes_);
    std::optional<VideoCopy> drawn;
    if (!o_.drawn.empty()) drawn.emplace(o_.drawn, video_, o_.threads);
    progress_.update("predict", 0, static_cast<std::int64_t>(chosen.size()), "frame " + std::to_string(chosen.front()));
    for (const std::int64_t number : chosen) {
      try {
        throw_if_stopped(progress_);
        one(number, detect, results, drawn);
      } catch (const Stopped&) {
        report_.interrupted = true;
        break;
      }
      progress_.update("predict", report_.frames + report_.lost, static_cast<std::int64_t>(chosen.size()),
                       "frame " + std::to_string(number));
    }
    if (report_.frames == 0 && !report_.interrupted)
      throw Error(ErrorKind::kNoCase,
                  "[predict] " + o_.video.string() + ": none of the frames that were chosen can be decoded");
    report_.tracks = tracker_.tracks();
    report_.notes = video_.notes();
    results.close(report_.notes, !report_.interrupted);
    if (drawn) drawn->close(!report_.interrupted);
    if (!report_.interrupted)
      for (const fs::path& file : outputs_of(o_)) remove_incomplete(file);
    return report_;
  }

 private:
  void one(std::int64_t number, const DetectInImage& detect, FrameResultsWriter& results,
           std::optional<VideoCopy>& drawn) {
    if (!video_.read(number, frame_)) {
      ++report_.lost;
      return;
    }
    FrameResult found{.number = number,
                      .pts_ticks = frame_.pts_ticks,
                      .seconds = video_.index().seconds(number),
                      .boxes = detect(frame_.rgb),
                      .tracks = {}};
    found.tracks = tracker_.next(found.boxes);
    results.write(found);
    if (drawn) {
      Tensor rgb = drawn->canvas(std::move(frame_.rgb));
      draw_boxes(rgb, drawn_boxes(found, static_cast<double>(drawn->times())));
      if (!drawn->write(rgb, found.pts_ticks)) ++report_.not_drawn;
      if (drawn->times() == 1) frame_.rgb = std::move(rgb);  // its memory serves the next frame
    }
    report_.detections += static_cast<std::int64_t>(found.boxes.size());
    ++report_.frames;
  }

  /// Returns the boxes to draw, in the colour of the track, else of the class; the best on top.
  ///   times  the drawn frame is so many times as high and as wide
  std::vector<DrawnBox> drawn_boxes(const FrameResult& found, double times) const {
    std::vector<DrawnBox> boxes;
    for (std::size_t i = found.boxes.size(); i-- > 0;) {
      const ScoredBox& b = found.boxes[i];
      if (b.score < o_.drawn_score) continue;
      const bool tracked = found.tracks[i] > 0;
      const std::string name = classes_.at(b.category).name;
      boxes.push_back(
          {.box = {times * b.box.x, times * b.box.y, times * b.box.width, times * b.box.height},
           .colour = static_cast<int>(tracked ? found.tracks[i] : b.category + 1),
           .caption = name + (tracked ? " #" + std::to_string(found.tracks[i]) : "") + " " + fixed_text(b.score, 2)});
    }
    return boxes;
  }

  const VideoPredictOptions& o_;
  const std::vector<DetectionClass>& classes_;
  Progress& progress_;
  VideoReader video_;
  IouTracker tracker_;
  VideoFrame frame_;
  VideoPredictReport report_;
};

}  // namespace

VideoPredictReport predict_video(const VideoPredictOptions& options, const std::vector<DetectionClass>& classes,
                                 const DetectInImage& detect, Progress& progress) {
  check_outputs(options);
  return VideoDetector(options, classes, progress).run(detect);
}

nlohmann::ordered_json to_json(const VideoPredictReport& r) {
  return {{"frames", r.frames},       {"lost", r.lost},   {"detections", r.detections},  {"tracks", r.tracks},
          {"not_drawn", r.not_drawn}, {"notes", r.notes}, {"interrupted", r.interrupted}};
}

std::string to_text(const VideoPredictReport& v, const std::filesystem::path& output) {
  std::string text = std::to_string(v.frames) + " frames, " + std::to_string(v.detections) + " objects in " +
                     std::to_string(v.tracks) + " tracks";
  if (v.lost > 0) text += ", " + std::to_string(v.lost) + " frames too damaged to decode";
  if (v.not_drawn > 0) text += ", " + std::to_string(v.not_drawn) + " not drawn";
  if (v.interrupted)
    text += "; INCOMPLETE: stopped, what was found until then is in " + incomplete_path(output).string();
  for (const std::string& note : v.notes) text += "\n  " + note;
  return text + "\n";
}

}  // namespace voxshard
