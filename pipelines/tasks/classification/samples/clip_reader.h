// A clip out of an open video, as a classifier sees it: frames one by one, each brought to the channels and the size,
// so that memory holds the clip and one frame.
//
//   VideoReader video("left/0017.mp4");
//   Tensor clip = read_clip(video, 32, preparation);     // (T, H, W, C): frames 32, 34, .. of stride 2
//
// Called where clips are trained on and predicted, and by the time line of a video, which reads one clip after another.
#pragma once

#include "io/video/video_reader.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"

namespace voxshard {

/// Frames of a video from one clip to the next: clips follow one another without overlap.
inline std::int64_t clip_span(const ClassPreparation& p) { return p.clip_length * p.clip_stride; }

/// (T, H, W, C) f32, normalised: frames first, first + stride, .., T = clip_length of them; at the preparation's H and
/// W when it resizes, else at their own. A frame that does not decode, or has another size than the header of the video
/// says, repeats the one before it; those before the first that decodes repeat that one.
///   repeated  to it is added how many frames of the clip are no frames of their own; may be null
/// Requires frames first to first + (clip_length - 1) * clip_stride in the video's index. Errors: kInput E_CLIP when
/// not one of them decodes; as VideoReader. Memory: the clip, a frame u8 and f32, the decoder. Reading on in the same
/// video decodes nothing twice.
Tensor read_clip(VideoReader& video, std::int64_t first, const ClassPreparation& preparation,
                 std::int64_t* repeated = nullptr);

/// Frame `number` of a video; false when it does not decode, or has another size than the header says: memory is
/// planned by the header.
bool read_frame(VideoReader& video, std::int64_t number, VideoFrame& frame);

/// One frame as a clip holds it: (H, W, C) f32, normalised.
///   rgb  (H, W, 3) u8, as VideoReader gives it
Tensor clip_frame(const Tensor& rgb, const ClassPreparation& preparation);

/// A clip before it is normalised: 0 to 1.
Tensor clip_intensities(VideoReader& video, std::int64_t first, const ClassPreparation& preparation,
                        std::int64_t* repeated = nullptr);

}  // namespace voxshard
