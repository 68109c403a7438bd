// Resolves an entry of COCO's "images" to an image file or a frame of a video. These forms occur in practice:
//
//   {"file_name": "clip.mp4#frame=17"}                                     clip.mp4#frame=17, as it is
//   {"file_name": "clip.mp4", "frame_index": 17}                           the same; also "frame_id" or "frame"
//   {"video_id": 3, "frame_id": 17} and {"videos": [{"id": 3, "name": "clip.mp4"}]}     the same
//   {"file_name": "img/000018.jpg", "video_id": 3, "frame_id": 17}         the image
//
// Frames are counted from 0, as in CocoVID (mmtracking's documentation, "Customize Datasets").
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// The names of a file's videos by their id; entries of "videos" without an id or a name are passed over, as they cost
/// nothing until an image needs them.
std::map<std::int64_t, std::string> coco_video_names(const nlohmann::json& file);

/// The name or frame address (io/image/image.h) of an entry; empty when it has none. Errors: EntryProblem for a video
/// without the number of a frame, or a number below 0.
std::string coco_image_name(const nlohmann::json& image, const std::map<std::int64_t, std::string>& videos);

/// The place of an entry with a "video_id" in its video: the number of its frame, without one its "id". None of others.
std::optional<SequencePlace> coco_sequence_place(const nlohmann::json& image);

}  // namespace voxshard
