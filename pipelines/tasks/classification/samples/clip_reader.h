// Reads a clip of an open video as a sample: frame by frame, each converted to the channels and the size of the model,
// so that memory holds the clip and one frame.
//
//   VideoReader video("left/0017.mp4");
//   Tensor clip = read_clip(video, 32, preparation);     // (T, H, W, C): frames 32, 34, .. of stride 2
//
// Called for clips in training and prediction, and by the time line of a video, which reads one clip after another.
#pragma once

#include "io/video/video_reader.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Returns the frames of a video from one clip to the next: clips follow one another without overlap.
inline std::int64_t clip_span(const ClassPreparation& p) { return p.clip_length * p.clip_stride; }

/// Returns (T, H, W, C) f32, normalised: frames first, first + stride, .., T = clip_length of them; at the
/// preparation's H and W when it resizes, else at their own. A frame that does not decode, or whose size differs from
/// the header of the video, is replaced by the one before it; frames before the first good one are replaced by that
/// one.
///   repeated  is increased by the number of frames that were replaced; may be null
/// Requires frames first to first + (clip_length - 1) * clip_stride in the video's index. Errors: kInput E_CLIP when
/// none of them decodes; as VideoReader. Memory: the clip, a frame u8 and f32, the decoder. Reading further in the same
/// video decodes nothing twice.
Tensor read_clip(VideoReader& video, std::int64_t first, const ClassPreparation& preparation,
                 std::int64_t* repeated = nullptr);

/// Reads frame `number` of a video; returns false when it does not decode, or when its size differs from the header, by
/// which memory is planned.
bool read_frame(VideoReader& video, std::int64_t number, VideoFrame& frame);

/// Converts a frame to the form in which a clip holds it: (H, W, C) f32, normalised.
///   rgb  (H, W, 3) u8, as VideoReader gives it
Tensor clip_frame(const Tensor& rgb, const ClassPreparation& preparation);

/// Returns a clip before it is normalised: 0 to 1.
Tensor clip_intensities(VideoReader& video, std::int64_t first, const ClassPreparation& preparation,
                        std::int64_t* repeated = nullptr);

}  // namespace voxshard
