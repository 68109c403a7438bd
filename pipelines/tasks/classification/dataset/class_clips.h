// Which clips a video gives: one after another from its beginning, or from that of an interval, without overlap.
//
//   ClipFinder finder({.items = ItemKind::kClip, .clip_length = 16});
//   finder.clips("left/0017.mp4", "left/0017.mp4", std::nullopt)[1].name;      // "left/0017.mp4#frames=16:32"
//
// Reads packets, decodes nothing: the time that a video takes is that of reading its file once.
#pragma once

#include <map>

#include "io/datasets/class_list.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

class ClipFinder {
 public:
  explicit ClipFinder(const ClassReading& reading) : reading_(reading) {}

  /// The clips that lie wholly in the video, or in an interval of it (seconds after its first frame): each of
  /// length * stride frames, the rest at the end being none. Without labels.
  ///   name  of the video in the data set
  /// Errors: kInput as VideoReader; E_CLIP for what is shorter than a clip; E_TIME for a video whose packets carry no
  /// timestamps, of which no frame could be found without decoding all before it.
  std::vector<ClassItem> clips(const std::filesystem::path& file, const std::string& name,
                               const std::optional<ClassInterval>& interval);

 private:
  /// What an item of the video has, but for its frames. A file is opened once, whether it is a video or not.
  const ClassItem& video(const std::filesystem::path& file);
  ClassItem opened(const std::filesystem::path& file) const;

  ClassReading reading_;
  std::map<std::filesystem::path, ClassItem> videos_;
  std::map<std::filesystem::path, Error> failed_;
};

/// The name of the video that a clip is of: "left/0017.mp4"; of what is no clip its own.
std::string video_of(const ClassItem& item);

/// The videos of a set with the clips of each, by name. Of a video of several classes the labels are in order.
struct ClipVideo {
  std::string name;
  double seconds = 0;  // of the whole video
  std::vector<std::int32_t> labels;
};
std::vector<ClipVideo> videos_of(const ClassDataset& set);

}  // namespace voxshard
