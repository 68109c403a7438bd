// Which videos an input of predict means, and what their headers say.
//
//   for (const FoundVideo& video : find_videos("films", preparation, steps, most_pixels, 2).list) ...
#pragma once

#include <memory>

#include "io/video/scan.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/time_lines/clip_windows.h"

namespace voxshard {

struct FoundVideo {
  std::string name;  // below the data set or folder
  std::filesystem::path file;
  std::int64_t frames = 0, pixels = 0;    // of the video; of one of its frames
  Shape extents;                          // N windows of T H W that are seen at once
  std::shared_ptr<const VideoScan> scan;  // kept where another one would decode the whole video
};

struct FoundVideos {
  std::vector<FoundVideo> list;       // by name
  std::vector<CaseFailure> failures;  // what is left out, and why: E_CLIP, E_SIZE, E_READ, ...
  bool labelled = false;              // the input says what is in it
};

/// A video, those of a folder, or a data set's (of the part that read_unseen_classes takes all
/// that it names, whether the intervals of a list hold a clip or not). Errors: kInput when the input
/// does not exist or cannot be read; kNoCase when it means no video.   Cost: the packets of each video are read.
FoundVideos find_videos(const std::filesystem::path& input, const ClassPreparation& preparation, const ClipSteps& steps,
                        std::int64_t most_pixels, int threads, const ClassKinds& kinds = class_kinds());

}  // namespace voxshard
