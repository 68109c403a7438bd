// Finds the videos of an input of predict, with the facts from their headers.
//
//   for (const FoundVideo& video : find_videos("films", preparation, steps, most_pixels, 2).list) ...
#pragma once

#include <memory>

#include "io/video/scan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/time_lines/clip_windows.h"

namespace voxshard {

struct FoundVideo {
  std::string name;  // relative to the data set or folder
  std::filesystem::path file;
  std::int64_t frames = 0, pixels = 0;    // of the video; of one of its frames
  std::int64_t drawn_pixels = 0;          // of a frame of a drawn copy
  Shape extents;                          // N windows of T H W that are predicted at once
  std::shared_ptr<const VideoScan> scan;  // kept when a new scan would decode the whole video
};

struct FoundVideos {
  std::vector<FoundVideo> list;       // by name
  std::vector<CaseFailure> failures;  // videos that are left out, with the reason: E_CLIP, E_SIZE, E_READ, ...
  bool labelled = false;              // true: the input has labels
  bool lie_beside = false;            // true: they lie beside folders of classes, in which none is looked for
  CaseNames paths = {};               // of videos in folders, which are numbered: what leads back from their names
  ForeignFiles foreign = {};          // what is no video, of those folders
};

/// Finds a single video, the videos of a folder, or those of a data set (all videos named in the part that
/// read_unseen_classes takes, whether the intervals of a list hold a clip or not). Errors: kInput when the input
/// does not exist or cannot be read; kNoCase when there is no video.   Cost: reads the packets of each video.
///   below  finds and names the videos of a folder and of the folders in it (pipelines/tasks/input_tree.h); null: not
///          in the folders in it
FoundVideos find_videos(const std::filesystem::path& input, const ClassPreparation& preparation, const ClipSteps& steps,
                        std::int64_t most_pixels, int threads, const ClassKinds& kinds = class_kinds(),
                        const InputNaming* below = nullptr);

}  // namespace voxshard
