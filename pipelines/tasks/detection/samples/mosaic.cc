#include "pipelines/tasks/detection/samples/mosaic.h"

#include <algorithm>

#include "pipelines/tasks/augmentation/sample_draws.h"

namespace voxshard {
namespace {

enum MosaicDraw : std::uint64_t { kMixes, kMeetY, kMeetX, kSecondImage, kMosaicDraws = 8 };  // three images from there

constexpr std::int64_t kBorderShare = 5;  // the tiles meet at least side / 5 away from the border

}  // namespace

std::vector<MosaicTile> sample_tiles(const MosaicOptions& options, std::int64_t sample, std::size_t image,
                                     const Dims& canvas) {
  const SampleDraws draws{{options.seed, rng_stream("mosaic")}, static_cast<std::uint64_t>(sample) * kMosaicDraws};
  if (std::min(canvas[0], canvas[1]) < 2 || !draws.happens(kMixes, options.probability))
    return {{.image = image, .extent = canvas}};
  std::array<std::int64_t, 2> meet{};
  for (int a = 0; a < 2; ++a) {
    const std::int64_t border = std::max<std::int64_t>(1, canvas[a] / kBorderShare);
    meet[a] = border + draws.below(a == 0 ? kMeetY : kMeetX, canvas[a] - 2 * border + 1);
  }
  std::vector<MosaicTile> tiles;
  for (std::uint64_t i = 0; i < 4; ++i) {
    const bool lower = i / 2 == 1, right = i % 2 == 1;
    const std::size_t other =
        i == 0 ? image
               : static_cast<std::size_t>(draws.below(kSecondImage + i - 1, static_cast<std::int64_t>(options.images)));
    tiles.push_back({.image = other,
                     .begin = {lower ? meet[0] : 0, right ? meet[1] : 0},
                     .extent = {lower ? canvas[0] - meet[0] : meet[0], right ? canvas[1] - meet[1] : meet[1]}});
  }
  return tiles;
}

}  // namespace voxshard
