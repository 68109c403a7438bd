#include "pipelines/tasks/classification/demo/golden_item.h"

#include <algorithm>

#include "io/image/image.h"
#include "io/volume/volume.h"
#include "pipelines/phantoms/motion_phantom.h"
#include "pipelines/phantoms/sized_phantoms.h"
#include "pipelines/tasks/classification/demo/grey_video.h"

namespace voxshard {
namespace {

constexpr std::int64_t kGoldenSide = 64;  // pixels of items that keep their own size

}  // namespace

void write_golden_item(const ClassPreparation& preparation, const std::filesystem::path& folder) {
  const bool sized = !preparation.size.empty();
  if (preparation.items == ItemKind::kImage) {
    const Dims size = sized ? preparation.size : Dims{kGoldenSide, kGoldenSide};
    write_rgb(folder / "golden.png", picture_of_size(size[0], size[1]));
  } else if (preparation.items == ItemKind::kVolume) {
    const Dims size = sized ? preparation.size : Dims{32, 40, 48};
    write_volume(folder / "golden.nii.gz", phantom_of_size(0, {size[2], size[1], size[0]}, {2, 2, 3}), DiskType::kI16);
  } else {
    const std::int64_t side = sized ? std::min(preparation.size[1], preparation.size[2]) : kGoldenSide;
    const std::int64_t frames = 2 * preparation.clip_length * preparation.clip_stride;
    write_grey_video(folder / "golden.mp4",
                     make_motion_phantom({.side = static_cast<int>(side), .frames = static_cast<int>(frames)}).frames);
  }
}

}  // namespace voxshard
