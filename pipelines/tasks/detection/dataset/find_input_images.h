// Which images an input of predict means: an image, a folder of them, a data set's, or a video.
//
//   for (const Image& image : find_input_images("annotations/instances_val.json", {}, most_pixels).list) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/video/select.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct FoundImage {
  std::filesystem::path file;
  std::int64_t id = 0;
};

struct FoundImages {
  std::vector<FoundImage> list;
  std::vector<CaseFailure> failures;  // entries of a data set that cannot be used
  bool numbered = false;              // ids are ours, not those of a file
};

/// Annotations (a file, or a folder as training takes it), whose images are meant; not an image or a folder that holds
/// images itself.
bool is_data_set(const std::filesystem::path& input, const BoxFormats& formats = box_formats());

/// Of a folder with a *val*.json the images that it names. Of a video one image, whose size is that of all.
///   frames       of the videos of a data set, if not all
///   most_pixels  of a frame
/// Errors: kInput when the input does not exist or cannot be read; kNoCase for a folder without an image.
FoundImages find_input_images(const std::filesystem::path& input, const std::optional<FrameSelection>& frames,
                              std::int64_t most_pixels, const BoxFormats& formats = box_formats());

/// What an image, or of a video each frame that is chosen, is made of, and what evaluate knows it by.
HashedCase hashed_image(const FoundImage& image);
std::vector<HashedCase> frame_inputs(const std::filesystem::path& video, const std::optional<FrameSelection>& frames,
                                     std::int64_t most_pixels);

}  // namespace voxshard
