// Which pictures an input of predict means: a picture, a folder of them, a data set's, or a video.
//
//   for (const Picture& picture : find_pictures("annotations/instances_val.json", {}, most_pixels).list) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/video/select.h"
#include "pipelines/runs/report.h"
#include "pipelines/engine/case_hashes.h"

namespace voxshard {

struct Picture {
  std::filesystem::path file;
  std::int64_t id = 0;
};

struct Pictures {
  std::vector<Picture> list;
  std::vector<CaseFailure> failures;  // entries of a data set that cannot be used
  bool numbered = false;              // ids are ours, not those of a file
};

/// Annotations (a file, or a folder as training takes it), whose pictures are meant; not a picture or a folder that holds
/// pictures itself.
bool is_data_set(const std::filesystem::path& input, const BoxFormats& formats = box_formats());

/// Of a folder with a *val*.json the pictures that it names. Of a video one picture, whose size is that of all.
///   frames       of the videos of a data set, if not all
///   most_pixels  of a frame
/// Errors: kInput when the input does not exist or cannot be read; kNoCase for a folder without a picture.
Pictures find_pictures(const std::filesystem::path& input, const std::optional<FrameSelection>& frames,
                       std::int64_t most_pixels, const BoxFormats& formats = box_formats());

/// What a picture, or of a video each frame that is chosen, is made of, and what evaluate knows it by.
HashedCase picture_input(const Picture& picture);
std::vector<HashedCase> frame_inputs(const std::filesystem::path& video, const std::optional<FrameSelection>& frames,
                                     std::int64_t most_pixels);

}  // namespace voxshard
