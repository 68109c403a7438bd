// Mosaics: four tiles that fill the canvas, a pure function of the seed and the sample, and samples that show objects
// of all four images.
#include "pipelines/tasks/detection/samples/mosaic.h"

#include <set>

#include "libcore/models/retinanet.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/epoch_order.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

constexpr MosaicOptions kAlways{.probability = 1, .seed = 5, .images = 9};

bool same(const std::vector<MosaicTile>& a, const std::vector<MosaicTile>& b) {
  return std::ranges::equal(a, b, [](const MosaicTile& x, const MosaicTile& y) {
    return x.image == y.image && x.begin == y.begin && x.extent == y.extent;
  });
}

TEST(Mosaic, FourTilesFillTheCanvasAndMeetAFifthAwayFromTheBorder) {
  for (const Dims& canvas : {Dims{64, 100}, Dims{2, 3}, Dims{31, 5}})
    for (std::int64_t sample = 0; sample < 50; ++sample) {
      const std::vector<MosaicTile> tiles = sample_tiles(kAlways, sample, 4, canvas);
      ASSERT_EQ(tiles.size(), 4u);
      EXPECT_EQ(tiles[0].image, 4u) << "the image whose turn it is";
      std::vector<int> covered(static_cast<std::size_t>(element_count(canvas)), 0);
      for (const MosaicTile& tile : tiles) {
        EXPECT_LT(tile.image, 9u);
        for (int a = 0; a < 2; ++a) EXPECT_GE(tile.extent[a], std::max<std::int64_t>(1, canvas[a] / 5));
        for (std::int64_t y = 0; y < tile.extent[0]; ++y)
          for (std::int64_t x = 0; x < tile.extent[1]; ++x)
            ++covered.at((tile.begin[0] + y) * canvas[1] + tile.begin[1] + x);
      }
      EXPECT_EQ(std::ranges::count(covered, 1), std::ssize(covered)) << to_string(canvas) << " " << sample;
    }
}

TEST(Mosaic, IsAFunctionOfSeedAndSampleAndAsFrequentAsItShouldBe) {
  std::set<std::size_t> others;
  std::set<std::int64_t> places;
  int mosaics = 0;
  for (std::int64_t sample = 0; sample < 1000; ++sample) {
    const auto tiles = sample_tiles(kAlways, sample, 4, {64, 64});
    EXPECT_TRUE(same(tiles, sample_tiles(kAlways, sample, 4, {64, 64})));
    EXPECT_FALSE(same(tiles, sample_tiles(kAlways, sample + 1, 4, {64, 64})));
    EXPECT_FALSE(same(tiles, sample_tiles({.probability = 1, .seed = 6, .images = 9}, sample, 4, {64, 64})));
    for (std::size_t i = 1; i < 4; ++i) others.insert(tiles[i].image);
    places.insert(tiles[3].begin[0]);
    mosaics += sample_tiles({.probability = 0.3, .seed = 5, .images = 9}, sample, 4, {64, 64}).size() == 4;
  }
  EXPECT_EQ(others.size(), 9u);
  EXPECT_EQ(places.size(), 41u) << "12 to 52";
  EXPECT_NEAR(mosaics, 300, 5 * std::sqrt(1000 * 0.3 * 0.7));
}

TEST(Mosaic, OffOrOnATinyCanvasThereIsOneTile) {
  for (const auto& [probability, canvas] :
       {std::pair{0.0, Dims{64, 48}}, std::pair{1.0, Dims{1, 48}}, std::pair{1.0, Dims{64, 1}}}) {
    const auto tiles = sample_tiles({.probability = probability, .seed = 5, .images = 9}, 3, 7, canvas);
    ASSERT_EQ(tiles.size(), 1u);
    EXPECT_TRUE(same(tiles, {{.image = 7, .extent = canvas}}));
  }
}

struct LearntBox {
  std::array<double, 2> middle;  // y x
  std::int32_t class_id = 0;     // 0: the background
};

/// Returns the boxes of the first sample's targets.
std::vector<LearntBox> targets_of(const DetectionSource& source, const Dims& size, const AnchorOptions& anchors) {
  std::vector<LearntBox> found;
  for (const AnchorLevel& level : anchor_levels(size, anchors)) {
    Tensor ids(DType::kI32, {1, level.height, level.width, 9}), codes(DType::kF32, {1, level.height, level.width, 36});
    source.fill(input::ClassTargets{level.level}, ids.view());
    source.fill(input::BoxTargets{level.level}, codes.view());
    for (std::int64_t i = 0; i < ids.count(); ++i) {
      if (ids.as<std::int32_t>()[i] < 0) continue;
      const float* code = codes.as<float>() + 4 * i;
      const std::int64_t cell = i / 9;
      const PixelBox box =
          decode({code[0], code[1], code[2], code[3]}, level.box(cell / level.width, cell % level.width, i % 9));
      found.push_back({{(box.y0 + box.y1) / 2, (box.x0 + box.x1) / 2}, ids.as<std::int32_t>()[i]});
    }
  }
  return found;
}

TEST(Mosaic, ASampleHoldsObjectsOfAllFourImages) {
  const ImagesScene scene("mosaic_objects");
  const RetinaNetConfig config{.backbone = Backbone::kResNet18, .classes = 3, .filters = 4, .pyramid_filters = 8};
  const DetectionDataset set = read_detection_dataset(scene.annotations());
  WorkerPool pool(2);
  constexpr std::uint64_t kSeed = 1;
  for (const double probability : {1.0, 0.0}) {
    ImageSampling sampling{.foreground = 1, .augmentation = {}, .mosaic = probability};
    DetectionSource source(set.images, {.classes = set.classes}, sampling, retinanet_detector(config), kSeed);
    int tiles_in_all = 0, with_objects = 0;
    for (std::int64_t step = 0; step < 20; ++step) {
      const Shape extents = source.load(step, 1, pool);
      const std::size_t image = item_of(kSeed, step, set.images.size());
      const std::vector<LearntBox> targets = targets_of(source, {extents[1], extents[2]}, anchor_options(config));
      for (const MosaicTile& tile : sample_tiles({.probability = 1, .seed = kSeed, .images = set.images.size()}, step,
                                                 image, {extents[1], extents[2]})) {
        ++tiles_in_all;
        with_objects += std::ranges::any_of(targets, [&](const LearntBox& target) {
          for (std::size_t a = 0; a < 2; ++a) {
            const double begin = static_cast<double>(tile.begin[a]), at = target.middle[a];
            if (at < begin || at > begin + static_cast<double>(tile.extent[static_cast<int>(a)])) return false;
          }
          return true;
        });
      }
    }
    EXPECT_EQ(tiles_in_all, 80);
    if (probability == 1)
      EXPECT_GE(with_objects, 76) << "each tile is cut around an object; two may share the anchor that fits best";
    else
      EXPECT_LT(with_objects, 60) << "two objects of one image cannot lie in all four";
  }
}

TEST(Mosaic, TargetsLieOnTheirObjectsHoweverImagesAreChanged) {
  const ImagesScene scene("mosaic_targets");
  const RetinaNetConfig config{.backbone = Backbone::kResNet18, .classes = 3, .filters = 4, .pyramid_filters = 8};
  const DetectionDataset set = read_detection_dataset(scene.annotations());
  const ImageSampling sampling{
      .crop = {64, 64},
      .foreground = 1,
      .augmentation = {.mirror = 0.5, .mirror_vertical = 0.5, .scale = {0.8, 1.25}, .rotation_degrees = 30},
      .mosaic = 0.7};
  DetectionSource source(set.images, {.classes = set.classes}, sampling, retinanet_detector(config), 3);
  WorkerPool pool(2);
  std::int64_t on_objects = 0, in_all = 0;
  for (std::int64_t step = 0; step < 40; ++step) {
    source.load(step, 1, pool);
    Tensor image(DType::kF32, {1, 64, 64, 3});
    source.fill(input::Image{}, image.view());
    for (const LearntBox& target : targets_of(source, {64, 64}, anchor_options(config))) {
      const auto y = static_cast<std::int64_t>(target.middle[0]), x = static_cast<std::int64_t>(target.middle[1]);
      const float* pixel = image.as<float>() + (y * 64 + x) * 3;
      // 250 of 255 in the channel of the class, 90 in the others: above 2 and below 0 when normalised
      const float own = pixel[target.class_id == 1 ? 0 : 2], other = pixel[target.class_id == 1 ? 2 : 0];
      ++in_all, on_objects += own > 1 && other < 0.5F;
    }
  }
  EXPECT_GE(in_all, 60);
  EXPECT_GE(on_objects, in_all * 9 / 10) << "a border may leave a tip of a rotated square, beside its box's middle";
}

}  // namespace
}  // namespace voxshard
