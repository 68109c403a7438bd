#include "pipelines/tasks/detection/find_pictures.h"

#include <algorithm>

#include "io/boxes/mot_sequence.h"
#include "io/image/picture.h"
#include "io/video/stream.h"
#include "pipelines/tasks/detection/detection_dataset.h"
#include "pipelines/tasks/detection/video_dataset.h"

namespace voxshard {

namespace fs = std::filesystem;

bool is_data_set(const fs::path& input) { return input.extension() == ".json" || is_mot_sequence(input); }

Pictures find_pictures(const fs::path& input, const std::optional<FrameSelection>& frames, std::int64_t most_pixels) {
  Pictures found;
  if (!fs::exists(input))
    throw Error(ErrorKind::kInput, "[predict] " + input.string() + " does not exist; give a picture, a folder of pictures, a video, a COCO JSON or a MOT text");
  if (is_video_name(input)) {
    found.list.push_back({frame_path(input, 0), 0});  // whose size is that of all
    return found;
  }
  if (is_data_set(input)) {
    DetectionDataset dataset = read_detection_dataset(input, DetectionUse::kTraining, most_pixels);
    if (frames) keep_frames(dataset, *frames);
    for (const DetectionImage& image : dataset.images) found.list.push_back({image.file, image.id});
    found.failures = note_failures(dataset.notes);
    return found;
  }
  std::vector<fs::path> files;
  if (!fs::is_directory(input)) files.push_back(input);
  else
    for (const auto& entry : fs::directory_iterator(input))
      if (is_image_name(entry.path()) && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) throw Error(ErrorKind::kNoCase, "[predict] " + input.string() + " holds no PNG, JPEG or TIFF picture");
  found.numbered = true;
  for (const fs::path& file : files) found.list.push_back({file, static_cast<std::int64_t>(found.list.size()) + 1});
  return found;
}

}  // namespace voxshard
