// Random changes of a clip in training: where it begins in its video, and mirroring left to right. One change is for
// all frames of a clip; it is a pure function of the seed and the number of the sample, so that a resumed run sees the
// same.
//
//   const ClipChange change = change_of_clip(item, {.shift = 8, .mirror = 0.5}, {.seed = 1, .sample = step * batch +
//   n}); item.index = change.first;                              // up to 8 frames before or behind, within the video
//   if (change.mirrored) mirror_clip(clip);
#pragma once

#include <cstdint>

#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

/// The largest shift, in frames.
inline constexpr std::int64_t kMostClipShift = 1'000'000;

struct ClipAugmentation {
  std::int64_t shift = 0;  // frames of the video by which a clip begins sooner or later at most
  double mirror = 0;       // probability

  bool any() const { return shift > 0 || mirror > 0; }
};

/// Identifies a sample of a training.
struct ClipDraw {
  std::uint64_t seed = 0;
  std::int64_t sample = 0;  // step * batch + its place in the batch
};

struct ClipChange {
  std::int64_t first = 0;  // frame of the video with which the clip begins
  bool mirrored = false;
};

/// Returns the change of a clip. Its first frame is drawn evenly from those that are at most `shift` frames from its
/// own and with which it lies in its video, or in the interval of its label.
ClipChange change_of_clip(const ClassItem& clip, const ClipAugmentation& options, const ClipDraw& draw);

/// Mirrors every frame left to right.
///   clip  (T, H, W, C) f32
void mirror_clip(Tensor& clip);

}  // namespace voxshard
