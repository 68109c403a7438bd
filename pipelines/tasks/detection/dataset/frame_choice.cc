#include "pipelines/tasks/detection/dataset/frame_choice.h"

namespace voxshard {

std::optional<FrameSelection> FrameChoice::selection() const {
  if (range.empty() && per_second.empty() && !stride) return std::nullopt;
  FrameSelection selection;
  if (!range.empty()) selection.range = frame_range_from_text(range);
  if (!per_second.empty()) selection.per_second = frames_per_second_from_text(per_second);
  selection.stride = stride.value_or(1);
  return selection;
}

std::vector<Setting> settings_of(FrameChoice& choice) {
  const std::string group = "Frames of videos";
  return {
      {"range", "BEGIN:END in frames from 0, the end not included, or in seconds like 1.5s:20s; either may be left out",
       group, &choice.range},
      {"stride", "Every n-th frame of the range", group, &choice.stride, {{1, 0x1p31}}},
      {"fps", "Frames per second to take of those there are, like 5 or 30000/1001", group, &choice.per_second}};
}

}  // namespace voxshard
