// Which frames of a video a user chooses, as they are written on a command line.
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

  /// Nothing when nothing was said: then all frames, and images too. Errors: kUsage shows the form.
  std::optional<FrameSelection> selection() const;
};

std::vector<Setting> settings_of(FrameChoice& choice);

}  // namespace voxshard
