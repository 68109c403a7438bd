// The windows of a video as a classifier sees them, each frame decoded and prepared once however many windows look at
// it, and held no longer than one does.
//
//   WindowReader reader(video, windows, preparation);
//   reader.load(first, 4);                                  // windows first, .., first + 3
//   if (reader.usable(first)) reader.place(first, 0, box);  // (N, T, H, W, C)
#pragma once

#include <map>

#include "io/video/video_reader.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/time_lines/clip_windows.h"

namespace voxshard {

/// What a window is made of is that of read_clip(): a frame that does not decode, or has another size than the header
/// says, repeats the one before it in the window, those before the first good one repeat that one.
class WindowReader {
 public:
  /// All must live as long. The length and the stride of the windows are the preparation's.
  WindowReader(VideoReader& video, const ClipWindows& windows, const ClassPreparation& preparation);

  /// Reads on until all frames of windows [first, first + count) are held. Windows before `first` are done with:
  /// `first` never falls. Errors: as VideoReader; Stopped.
  void load(std::int64_t first, std::int64_t count, const StopCheck& stop);
  /// Whether a loaded window has a frame that decodes.
  bool usable(std::int64_t window) const;
  /// Writes what `box` (N, T, H, W, C) holds of sample `n`. Requires a usable window. Threads: any number at once.
  void place(std::int64_t window, std::int64_t n, const TensorView& box) const;

  /// Frames that windows look at and that could not be used.
  std::int64_t lost() const { return lost_; }
  /// How many frames were held at once at most.
  std::int64_t most_held() const { return most_held_; }

 private:
  const Tensor* frame_at(std::int64_t window, std::int64_t t) const;

  VideoReader& video_;
  const ClipWindows& windows_;
  const ClassPreparation& preparation_;
  std::map<std::int64_t, Tensor> frames_;  // by number: (H, W, C) f32, normalised; empty: lost
  std::int64_t next_ = 0, lost_ = 0, most_held_ = 0;
};

/// An upper bound of most_held() for batches of so many windows, however long the video is.
std::int64_t most_frames_held(const ClipSteps& steps, std::int64_t batch);

/// What predicting a video window by window takes beside the cores, from its header: of its length only 24 bytes of
/// index a frame and 128 bytes a window.
struct WindowMemory {
  ClipSteps steps;
  std::int64_t frames = 0, pixels = 0;  // of the video; of one of its frames
  Shape extents;                        // N and T H W, that windows are seen at
  std::int64_t channels = 1, classes = 2;
  bool draws = false;
};
ProcessPlan windows_plan(const WindowMemory& memory);

}  // namespace voxshard
