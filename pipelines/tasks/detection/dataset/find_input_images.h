// Finds the images of an input of predict: an image, a folder of images, a data set, or a video.
//
//   for (const Image& image : find_input_images("annotations/instances_val.json", {}, most_pixels).list) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "io/video/select.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/input_tree.h"

namespace voxshard {

struct FoundImage {
  std::filesystem::path file;
  std::int64_t id = 0;
  std::string name = {};  // in outputs; empty: that of the file

  std::string shown() const { return name.empty() ? file.filename().string() : name; }
};

struct FoundImages {
  std::vector<FoundImage> list;
  std::vector<CaseFailure> failures;  // entries of a data set that cannot be used
  bool numbered = false;              // true: ids were assigned here, not read from a file
};

/// True when the input is annotations (a file, or a folder as training takes it), which stand for their images; false
/// for an image or a folder that holds images itself.
bool is_data_set(const std::filesystem::path& input, const BoxFormats& formats = box_formats());

/// Finds the images of an input. A folder with a *val*.json gives the images that this file names; a video gives one
/// image, whose size is that of all frames.
///   frames       the selected frames of a data set's videos; none: all
///   most_pixels  of a frame
/// Errors: kInput when the input does not exist or cannot be read; kNoCase for a folder without an image.
FoundImages find_input_images(const std::filesystem::path& input, const std::optional<FrameSelection>& frames,
                              std::int64_t most_pixels, const BoxFormats& formats = box_formats());

/// Finds the images of a folder and of the folders in it, numbered; annotations are not looked for. What is no image
/// becomes `foreign`. Errors: as inputs_below() and name_inputs() (pipelines/tasks/input_tree.h).
///   naming  of the images; `paths` gets what leads back from their names
FoundImages find_images_below(const InputNaming& naming, CaseNames& paths, ForeignFiles& foreign);

/// Return the files of an image, or of each selected frame of a video, with the name by which evaluate knows it.
HashedCase hashed_image(const FoundImage& image);
std::vector<HashedCase> frame_inputs(const std::filesystem::path& video, const std::optional<FrameSelection>& frames,
                                     std::int64_t most_pixels);

}  // namespace voxshard
