#include "pipelines/tasks/detection/dataset/find_input_images.h"

#include <algorithm>

#include "io/image/image_reader.h"
#include "io/video/stream.h"
#include "io/video/video_reader.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/dataset/image_places.h"
#include "pipelines/tasks/detection/dataset/video_dataset.h"

namespace voxshard {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> images_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_image_name(it->path()) && !it->path().filename().string().starts_with(".")) files.push_back(it->path());
  if (error)
    throw Error(ErrorKind::kInput,
                "[predict] " + folder.string() + ": cannot be read: " + error.message() + "; check its permissions");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_data_set(const fs::path& input, const BoxFormats& formats) {
  if (is_taken_as_boxes(input, formats)) return true;
  std::error_code error;
  return fs::is_directory(input, error) && images_in(input).empty() && !annotations_in(input, formats).empty();
}

FoundImages find_input_images(const fs::path& input, const std::optional<FrameSelection>& frames,
                              std::int64_t most_pixels, const BoxFormats& formats) {
  FoundImages found;
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput, "[predict] " + input.string() +
                                       " does not exist; give a picture, a folder of pictures, a video, " +
                                       box_inputs_text(formats));
  if (is_video_name(input)) {
    found.list.push_back({frame_path(input, 0), 0});  // its size is that of all frames
    return found;
  }
  if (is_data_set(input, formats)) {
    DetectionDataset dataset =
        read_detection_dataset(unseen_annotations(input, formats), DetectionUse::kTraining, most_pixels, formats);
    if (frames) keep_frames(dataset, *frames);
    for (const DetectionImage& image : dataset.images) found.list.push_back({image.file, image.id});
    found.failures = note_failures(dataset.notes);
    return found;
  }
  const std::vector<fs::path> files = fs::is_directory(input) ? images_in(input) : std::vector{input};
  if (files.empty())
    throw Error(ErrorKind::kNoCase, "[predict] " + input.string() +
                                        " holds no PNG, JPEG or TIFF picture and no annotations of pictures" +
                                        none_found_text(text_of(foreign_in(input))));
  found.numbered = true;
  for (const fs::path& file : files) found.list.push_back({file, static_cast<std::int64_t>(found.list.size()) + 1});
  return found;
}

FoundImages find_images_below(const InputNaming& naming, CaseNames& paths, ForeignFiles& foreign) {
  const std::vector<fs::path> files = inputs_below(naming.folder, "PNG, JPEG or TIFF picture", is_image_name, foreign);
  NamedInputs named = name_inputs(files, naming);
  FoundImages found{.list = {}, .failures = {}, .numbered = true};
  for (std::size_t i = 0; i < files.size(); ++i)
    found.list.push_back({files[i], static_cast<std::int64_t>(i) + 1, std::move(named.names[i])});
  paths = std::move(named.paths);
  return found;
}

HashedCase hashed_image(const FoundImage& image) {
  return {.name = seen_name(image.id, image.shown()),
          .files = {image_address(image.file).file},
          .part = part_of(image.file)};
}

std::vector<HashedCase> frame_inputs(const fs::path& video, const std::optional<FrameSelection>& frames,
                                     std::int64_t most_pixels) {
  const VideoReader reader(video, {.most_pixels = most_pixels});
  std::vector<HashedCase> inputs;
  for (const std::int64_t frame : select_frames(reader.index(), frames.value_or(FrameSelection())))
    inputs.push_back({.name = std::to_string(frame), .files = {video}, .part = part_of(frame_path(video, frame))});
  return inputs;
}

}  // namespace voxshard
