#include "pipelines/tasks/series_choice.h"

namespace voxshard {

Setting series_setting(bool& best, const std::string& group) {
  return {.name = "series",
          .help =
              "Of several reconstructions of a scan: best, the one that labels beside it refer to, else the one with "
              "the thinnest slices, of these the one with the softest kernel; or all",
          .group = group,
          .value = named(best, {"all", "best"}),
          .choices = {"best", "all"}};
}

}  // namespace voxshard
