// Cuts videos into clips: one after another without overlap, from the beginning of the video or of an interval.
//
//   ClipFinder finder({.items = ItemKind::kClip, .clip_length = 16});
//   finder.clips("left/0017.mp4", "left/0017.mp4", std::nullopt)[1].name;      // "left/0017.mp4#frames=16:32"
//
// Reads packets and decodes nothing: a video takes the time of reading its file once.
#pragma once

#include <map>

#include "io/datasets/class_list.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

class ClipFinder {
 public:
  explicit ClipFinder(const ClassReading& reading) : reading_(reading) {}

  /// Returns the clips, without labels, that lie completely in the video, or in an interval of it (seconds after its
  /// first frame): each spans length * stride frames; frames left over at the end give no clip.
  ///   name  of the video in the data set
  /// Errors: kInput as VideoReader; E_CLIP for a video or interval that is shorter than a clip; E_TIME for a video
  /// whose packets carry no timestamps, in which no frame can be found without decoding all frames before it.
  std::vector<ClassItem> clips(const std::filesystem::path& file, const std::string& name,
                               const std::optional<ClassInterval>& interval);

 private:
  /// Returns an item of the video without its frame numbers. A file is opened only once, also when it is no video.
  const ClassItem& video(const std::filesystem::path& file);
  ClassItem opened(const std::filesystem::path& file) const;

  ClassReading reading_;
  std::map<std::filesystem::path, ClassItem> videos_;
  std::map<std::filesystem::path, Error> failed_;
};

/// Returns the name of the video of a clip: "left/0017.mp4"; for other items their own name.
std::string video_of(const ClassItem& item);

/// A video of a data set, with the labels of its clips in their order.
struct ClipVideo {
  std::string name;
  double seconds = 0;  // of the whole video
  std::vector<std::int32_t> labels;
};
std::vector<ClipVideo> videos_of(const ClassDataset& set);

}  // namespace voxshard
