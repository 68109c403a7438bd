#include "pipelines/tasks/segmentation/prepared_channels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/stopwatch.h"
#include "pipelines/tasks/channel_grids.h"
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

namespace voxshard {
namespace {

/// True when the training images were CT whose values went beyond those of a label map.
bool is_of_wide_ct(const PreparePlan& plan) {
  return is_ct_channel(plan.channels.front()) && (!plan.clip_hu || plan.clip_hu->low < 0 || plan.clip_hu->high > 255);
}

/// True for whole numbers from 0 to 255 alone. A CT has air below 0: a look at some of its first voxels tells.
bool looks_like_mask(const Tensor& voxels) {
  const auto* v = voxels.as<float>();
  return std::all_of(v, v + voxels.count(),
                     [](float value) { return value >= 0 && value <= 255 && value == std::floor(value); });
}

}  // namespace

PreparedChannels prepared_channels(const Case& item, const PreparePlan& plan, const CaseReader& reader) {
  PreparedChannels found;
  const Stopwatch all;
  const auto read = [&](std::size_t c) {
    const Stopwatch watch;
    Volume volume = c == 0 ? read_image(item.images[c], reader.formats)
                           : read_channel(item, c, found.original, plan.resamples_channels, reader.formats);
    if (reader.check) reader.check();
    if (c == 0) found.original = volume.geometry;
    found.reading_s += watch.seconds();
    return volume;
  };
  const auto nonzero = nonzero_of_channels(plan, read);
  for (std::size_t c = 0; c < item.images.size(); ++c) {
    Volume volume = read(c);
    if (c == 0 && reader.like_mask && is_of_wide_ct(plan) && looks_like_mask(volume.voxels)) reader.like_mask();
    PreparedImage prepared =
        prepare_image(std::move(volume), plan.of_channel(c), nullptr, nonzero ? &*nonzero : nullptr);
    found.grid = prepared.image.geometry, found.crop = prepared.crop;
    found.channels.push_back(std::move(prepared.image.voxels));
  }
  found.preparing_s = all.seconds() - found.reading_s;
  return found;
}

}  // namespace voxshard
