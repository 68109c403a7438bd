// Data sets whose images are frames of videos ("clip.mp4#frame=17", io/image/image.h), also of videos that were stored
// image by image: selects frames, and holds out the last ones. Neighbouring frames look alike, so a validation frame
// between two training frames would prove nothing.
//
//   keep_frames(set, {.range = frame_range_from_text("0:1200")});
//   if (has_video_frames(set)) sets = split_by_time(std::move(set), 0.2);          // the last fifth of each video
//   validates
#pragma once

#include <functional>

#include "io/video/select.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {

/// Returns where an image stands among the frames of one video, whose file or name is the sequence; none of an image
/// that is no frame.
std::optional<SequencePlace> frame_place(const DetectionImage& image);

/// True when any image is a frame of a video, or all are image files of sequences that are long enough to be divided.
bool has_video_frames(const DetectionDataset& dataset);

/// Keeps the images that are selected frames of their video, in their order. Frame numbers and times are those of the
/// video, also where only some of its frames have an entry. Errors: kUsage for an image that is no frame, and as
/// select_frames; kNoCase when none is left; kInput when the selection is by seconds or a rate and the video, which may
/// lie beside the annotations, cannot be read.
void keep_frames(DetectionDataset& dataset, const FrameSelection& selection);

/// The same; also keeps only the detections in these images, whose image indices are updated.
void keep_frames(DetectionDataset& dataset, std::vector<ScoredBox>& found, const FrameSelection& selection);

/// Keeps the images for which `keep` is true, and the detections in them.
void keep_images(DetectionDataset& dataset, std::vector<ScoredBox>& found,
                 const std::function<bool(const DetectionImage&)>& keep);

/// Splits by time: the last part of each video's entries is for validation, at least one when the fraction is above 0
/// and there are two; the rest, and images that are no frames, train. Notes stay with `train`. Errors: kConfig for a
/// fraction outside [0, 1).
DetectionSets split_by_time(DetectionDataset dataset, double val_fraction);

}  // namespace voxshard
