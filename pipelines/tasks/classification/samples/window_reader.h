// Reads the windows of a video as samples. Each frame is decoded and prepared once, however many windows use it, and
// held only as long as a window uses it.
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

/// Reads windows with the content of read_clip(): a frame that does not decode, or whose size differs from the header,
/// is replaced by the one before it in the window; frames before the first good one are replaced by that one.
class WindowReader {
 public:
  /// All arguments must outlive the reader. The length and the stride of the windows are those of the preparation.
  WindowReader(VideoReader& video, const ClipWindows& windows, const ClassPreparation& preparation);

  /// Reads further until all frames of windows [first, first + count) are held. Windows before `first` are released, so
  /// `first` must never decrease. Errors: as VideoReader; Stopped.
  void load(std::int64_t first, std::int64_t count, const StopCheck& stop);
  /// True when a loaded window has a frame that decodes.
  bool usable(std::int64_t window) const;
  /// Writes a window as sample `n` into its part of `box` (N, T, H, W, C). Requires a usable window. Threads: any
  /// number at once.
  void place(std::int64_t window, std::int64_t n, const TensorView& box) const;

  /// Returns the number of frames that windows need and that could not be used.
  std::int64_t lost() const { return lost_; }
  /// Returns the largest number of frames held at once.
  std::int64_t most_held() const { return most_held_; }

 private:
  const Tensor* frame_at(std::int64_t window, std::int64_t t) const;

  VideoReader& video_;
  const ClipWindows& windows_;
  const ClassPreparation& preparation_;
  std::map<std::int64_t, Tensor> frames_;  // by number: (H, W, C) f32, normalised; empty: lost
  std::int64_t next_ = 0, lost_ = 0, most_held_ = 0;
};

/// Returns an upper bound of most_held() for batches of so many windows, however long the video is.
std::int64_t most_frames_held(const ClipSteps& steps, std::int64_t batch);

/// The sizes, from a video's header, that determine the memory of predicting it window by window beside the cores. With
/// the length of the video, memory grows only by 24 bytes of index a frame and 128 bytes a window.
struct WindowMemory {
  ClipSteps steps;
  std::int64_t frames = 0, pixels = 0;  // of the video; of one of its frames
  std::int64_t drawn_pixels = 0;        // of a frame of the drawn copy
  Shape extents;                        // N and T H W of a batch of windows
  std::int64_t channels = 1, classes = 2;
  int drawing_threads = 0;   // of the encoder of a drawn copy; 0: there is none
  std::int64_t readers = 1;  // that read the video at once, one for each model that is averaged
};
ProcessPlan windows_plan(const WindowMemory& memory);

}  // namespace voxshard
