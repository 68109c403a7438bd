// The user's choice of frames of a video, as written on a command line.
//
//   FrameChoice choice{.range = "0:1200", .stride = 5};
//   choice.selection()->stride;                            // 5
#pragma once

#include "io/video/select.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

struct FrameChoice {
  std::string range, per_second;
  std::optional<std::int64_t> stride;

  /// Returns the selection; none when nothing was given: then all frames are used, and images too. Errors: kUsage shows
  /// the expected form.
  std::optional<FrameSelection> selection() const;
};

std::vector<Setting> settings_of(FrameChoice& choice);

}  // namespace voxshard
