#include "pipelines/tasks/classification/samples/clip_augmentation.h"

#include <algorithm>

#include "libcore/base/rng.h"

namespace voxshard {

ClipChange change_of_clip(const ClassItem& clip, const ClipAugmentation& options, const ClipDraw& draw) {
  const RngKey key{.seed = draw.seed, .stream = rng_stream("clip_augmentation")};
  const std::uint64_t index = 2 * static_cast<std::uint64_t>(draw.sample);  // two numbers for each sample
  const std::int64_t low = std::max(clip.least_first, clip.index - options.shift),
                     high = std::min(clip.most_first, clip.index + options.shift);
  ensure(low <= clip.index && clip.index <= high, "a clip lies in its video");
  return {.first = low + rng_below(key, index, high - low + 1),
          .mirrored = rng_uniform(key, index + 1) < options.mirror};
}

void mirror_clip(Tensor& clip) {
  ensure(clip.dtype() == DType::kF32 && clip.shape().axes() == 4, "a clip is (T, H, W, C) f32");
  const std::int64_t width = clip.shape()[2], channels = clip.shape()[3], rows = clip.shape()[0] * clip.shape()[1];
  for (std::int64_t row = 0; row < rows; ++row) {
    float* pixels = clip.as<float>() + row * width * channels;
    for (std::int64_t x = 0; x < width / 2; ++x)
      std::swap_ranges(pixels + x * channels, pixels + (x + 1) * channels, pixels + (width - 1 - x) * channels);
  }
}

}  // namespace voxshard
