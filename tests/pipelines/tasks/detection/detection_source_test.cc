// The samples of a detector's step: images at the top left of their extents, boxes following every change, targets as
// the anchors require, and the same values however it is cut over cores.
#include "pipelines/tasks/detection/samples/detection_source.h"

#include "libcore/models/retinanet.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

const RetinaNetConfig kConfig{.backbone = Backbone::kResNet18, .classes = 3, .filters = 4, .pyramid_filters = 8};

struct SourceScene : ImagesScene {
  using ImagesScene::ImagesScene;
  DetectionSource source(const ImageSampling& sampling, std::uint64_t seed = 1,
                         const RetinaNetConfig& config = kConfig) const {
    const DetectionDataset set = read_detection_dataset(annotations());
    return {set.images,
            {.classes = set.classes, .pad_multiple = sampling.pad_multiple},
            sampling,
            retinanet_detector(config),
            seed};
  }
};

ImageSampling plain() {
  ImageSampling sampling;
  sampling.augmentation.mirror = 0;
  return sampling;
}

Tensor filled(const DetectionSource& source, const InputInfo& input, const Shape& shape) {
  Tensor whole(std::holds_alternative<input::ClassTargets>(input) ? DType::kI32 : DType::kF32, shape);
  std::fill_n(whole.as<float>(), whole.count(), 77.0F);  // shows unwritten values
  source.fill(input, whole.view());
  return whole;
}

bool same(const Tensor& a, const Tensor& b) { return compare(a.view(), b.view()).bit_equal; }

TEST(DetectionSource, IsAPureFunctionOfSeedAndStep) {
  const SourceScene scene("pictures_pure");
  WorkerPool one(1), two(2);
  ImageSampling sampling{.crop = {32, 32}};
  sampling.augmentation = {.mirror = 0.5, .scale = {0.7, 1.4}, .brightness = 0.2, .contrast = 0.2, .saturation = 0.2};
  DetectionSource a = scene.source(sampling), b = scene.source(sampling), c = scene.source(sampling, 2);
  for (std::int64_t step = 0; step < 4; ++step) a.load(step, 2, two);  // earlier calls do not matter
  a.load(9, 2, two), b.load(9, 2, one), c.load(9, 2, two);
  for (const auto& [input, shape] : {std::pair<InputInfo, Shape>{input::Image{}, {2, 32, 32, 3}},
                                     {input::ClassTargets{3}, {2, 4, 4, 9}},
                                     {input::BoxTargets{4}, {2, 2, 2, 36}}})
    EXPECT_TRUE(same(filled(a, input, shape), filled(b, input, shape))) << input.index();
  EXPECT_FALSE(same(filled(a, input::Image{}, {2, 32, 32, 3}), filled(c, input::Image{}, {2, 32, 32, 3})));
}

ImageSampling all_changes() {
  return {.crop = {48, 48},
          .augmentation = {.mirror = 0.5,
                           .mirror_vertical = 0.5,
                           .scale = {0.7, 1.4},
                           .rotation_degrees = 30,
                           .brightness = 0.2,
                           .contrast = 0.2,
                           .saturation = 0.2,
                           .hue_degrees = 20},
          .mosaic = 0.5};
}

TEST(DetectionSource, ChangedSamplesAreTheSameForAnyWorkersShareAndCut) {
  const SourceScene scene("pictures_changed");
  WorkerPool one(1), three(3);
  const Shape shape{4, 48, 48, 3};
  DetectionSource a = scene.source(all_changes()), b = scene.source(all_changes()), rank = scene.source(all_changes());
  rank.share(2, 4);
  for (std::int64_t step = 5; step < 8; ++step) {
    a.load(step, 4, one), b.load(step, 4, three), rank.load(step, 4, one);
    const Tensor whole = filled(a, input::Image{}, shape);
    EXPECT_TRUE(same(whole, filled(b, input::Image{}, shape)));
    Tensor parts(DType::kF32, shape);
    for (const auto& [begin, end] : {std::pair{0, 17}, std::pair{17, 48}})
      for (const auto& [first, past] : {std::pair{0, 2}, std::pair{2, 4}}) {
        Box box = Box::whole(shape);
        box.set(0, first, past), box.set(1, begin, end);
        (first == 2 ? rank : b).fill(input::Image{}, parts.view().sub(box));
      }
    EXPECT_TRUE(same(whole, parts));
    for (const int level : {3, 4}) {
      const Shape targets{4, 48 >> level, 48 >> level, 9};
      EXPECT_TRUE(same(filled(a, input::ClassTargets{level}, targets), filled(b, input::ClassTargets{level}, targets)));
    }
  }
}

TEST(DetectionSource, EachChangeAloneChangesSamples) {
  const SourceScene scene("pictures_each");
  WorkerPool pool(2);
  const auto image_of = [&](const ImageSampling& sampling) {
    DetectionSource source = scene.source(sampling);
    source.load(2, 4, pool);
    return filled(source, input::Image{}, {4, 48, 48, 3});
  };
  ImageSampling none = plain();
  none.crop = {48, 48};
  const Tensor before = image_of(none);
  EXPECT_TRUE(same(before, image_of(none)));
  for (const ImageAugmentation& one : {ImageAugmentation{.mirror = 1}, ImageAugmentation{.mirror_vertical = 1},
                                       ImageAugmentation{.scale = {2, 2}}, ImageAugmentation{.rotation_degrees = 30},
                                       ImageAugmentation{.brightness = 0.2}, ImageAugmentation{.contrast = 0.2},
                                       ImageAugmentation{.saturation = 0.2}, ImageAugmentation{.hue_degrees = 20}}) {
    ImageSampling changed = none;
    changed.augmentation = one;
    EXPECT_FALSE(same(before, image_of(changed)));
  }
  ImageSampling mosaic = none;
  mosaic.mosaic = 1;
  EXPECT_FALSE(same(before, image_of(mosaic)));
}

TEST(DetectionSource, WholeImagesLieAtTheTopLeftOfAMultipleAndAreNormalised) {
  const SourceScene scene("pictures_whole");
  WorkerPool pool(2);
  DetectionSource source = scene.source(plain());
  EXPECT_EQ(source.largest_extents(1), (Shape{1, 64, 96})) << "40 x 96 padded to 64 x 96 is larger than 64 x 64";
  EXPECT_EQ(source.largest_extents(2), (Shape{2, 64, 96}));
  int tall = 0;
  for (std::int64_t step = 0; step < 7; ++step) {
    const Shape extents = source.load(step, 1, pool);
    const Tensor image = filled(source, input::Image{}, {1, extents[1], extents[2], 3});
    const bool upright = extents == Shape{1, 64, 64};
    tall += upright ? 1 : 0;
    const std::int64_t height = upright ? 64 : 40, width = upright ? 48 : 96;
    const auto at = [&](std::int64_t y, std::int64_t x, std::int64_t c) {
      return image.as<float>()[(y * extents[2] + x) * 3 + c];
    };
    // The corner beyond both boxes is 90 of 255 in every channel.
    EXPECT_NEAR(at(height - 1, width - 1, 0), (90.0 / 255 - 0.485) / 0.229, 1e-5);
    EXPECT_NEAR(at(height - 1, width - 1, 2), (90.0 / 255 - 0.406) / 0.225, 1e-5);
    ASSERT_TRUE(width < extents[2] || height < extents[1]);
    EXPECT_EQ(width < extents[2] ? at(0, width, 0) : at(height, 0, 0), 0) << "beyond the picture";
  }
  EXPECT_EQ(tall, 6) << "each epoch has every picture once";
}

TEST(DetectionSource, TargetsAreTheClassesBehindTheBackgroundAndDecodeToTheBoxes) {
  const SourceScene scene("pictures_targets");
  WorkerPool pool(1);
  for (const RetinaNetVariant variant : {RetinaNetVariant::kDetection, RetinaNetVariant::kLegacy}) {
    RetinaNetConfig config = kConfig;
    config.variant = variant;
    DetectionSource source = scene.source(plain(), 1, config);
    const Shape extents = source.load(0, 1, pool);
    std::set<std::int32_t> classes;
    std::set<std::int64_t> sides;
    for (const AnchorLevel& level : anchor_levels({extents[1], extents[2]}, anchor_options(config))) {
      const Tensor ids = filled(source, input::ClassTargets{level.level}, {1, level.height, level.width, 9});
      const Tensor codes = filled(source, input::BoxTargets{level.level}, {1, level.height, level.width, 36});
      for (std::int64_t i = 0; i < ids.count(); ++i) {
        if (ids.as<std::int32_t>()[i] < 0) continue;
        classes.insert(ids.as<std::int32_t>()[i]);
        const float* code = codes.as<float>() + 4 * i;
        const std::int64_t cell = i / 9;
        const PixelBox box =
            decode({code[0], code[1], code[2], code[3]}, level.box(cell / level.width, cell % level.width, i % 9));
        sides.insert(std::llround(box.width()));
        EXPECT_NEAR(box.height(), box.width(), 1e-3) << "the objects are squares";
      }
    }
    EXPECT_EQ(classes, (variant == RetinaNetVariant::kDetection ? std::set{1, 2} : std::set{0, 1}));
    EXPECT_EQ(sides, (std::set<std::int64_t>{12, 16}));
  }
}

TEST(DetectionSource, TheBoxesOfTheCoresMakeTheWhole) {
  const SourceScene scene("pictures_boxes");
  WorkerPool pool(2);
  DetectionSource source = scene.source(plain());
  const Shape extents = source.load(3, 3, pool);
  const std::int64_t h = extents[1], w = extents[2];
  for (const auto& [input, shape] : {std::pair<InputInfo, Shape>{input::Image{}, {3, h, w, 3}},
                                     {input::ClassTargets{3}, {3, h / 8, w / 8, 9}},
                                     {input::BoxTargets{5}, {3, h / 32, w / 32, 36}}}) {
    const Tensor whole = filled(source, input, shape);
    for (int axis = 0; axis < 3; ++axis) {
      Tensor parts(whole.dtype(), shape);
      const std::int64_t cut = ceil_div(shape[axis], 2);
      for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, shape[axis]}}) {
        Box box = Box::whole(shape);
        box.set(axis, begin, end);
        if (!box.empty()) source.fill(input, parts.view().sub(box));
      }
      EXPECT_TRUE(same(whole, parts)) << input.index() << " axis " << axis;
    }
  }
}

TEST(DetectionSource, ACropAroundAnObjectHoldsItsCentre) {
  const SourceScene scene("pictures_crop");
  WorkerPool pool(2);
  ImageSampling sampling = plain();
  sampling.crop = {32, 32}, sampling.foreground = 1;
  DetectionSource source = scene.source(sampling);
  for (std::int64_t step = 0; step < 10; ++step) {
    EXPECT_EQ(source.load(step, 2, pool), (Shape{2, 32, 32}));
    const Tensor image = filled(source, input::Image{}, {2, 32, 32, 3});
    for (std::int64_t n = 0; n < 2; ++n) {
      double brightest = -10;
      for (std::int64_t i = 0; i < 32 * 32; ++i)
        for (std::int64_t c : {0, 2})
          brightest = std::max<double>(brightest, image.as<float>()[(n * 1024 + i) * 3 + c]);
      EXPECT_GT(brightest, 2.1) << "250 of 255 in red or blue is in view";
    }
  }
}

TEST(DetectionSource, ObjectsThatACropLeavesLittleOfAreNotLearnt) {
  const SourceScene scene("pictures_slivers");
  WorkerPool pool(2);
  ImageSampling sampling = plain();
  sampling.crop = {8, 8}, sampling.foreground = 0;
  DetectionSource source = scene.source(sampling);
  int learnt = 0, empty = 0;
  for (std::int64_t step = 0; step < 30; ++step) {
    source.load(step, 2, pool);
    const Tensor ids = filled(source, input::ClassTargets{3}, {2, 1, 1, 9});
    for (std::int64_t n = 0; n < 2; ++n) {
      const auto* one = ids.as<std::int32_t>() + 9 * n;
      (std::any_of(one, one + 9, [](auto id) { return id >= 0; }) ? learnt : empty) += 1;
    }
  }
  // About one crop in ten shows 36 of 12 x 12 or all 64 that can be seen of 16 x 16; four in ten show something.
  EXPECT_GT(empty, 45);
  EXPECT_GT(learnt, 0);
}

TEST(DetectionSource, BoxSizesAreThoseOfTheSamples) {
  const SourceScene scene("pictures_sizes");
  const auto sizes = [&](const ImageSampling& sampling) { return scene.source(sampling).box_sizes(); };
  const std::vector<Aspect> whole = sizes(plain());  // of 7 images, 2 boxes each
  ASSERT_EQ(whole.size(), 14u);
  EXPECT_EQ(whole[0].height, 12);
  EXPECT_EQ(whole[1].width, 16);
  ImageSampling doubled = plain(), random = plain();
  doubled.output_size = {128, 96};  // six images of 64 x 48
  EXPECT_EQ(sizes(doubled)[0].height, 24);
  random.augmentation.scale = {0.5, 2};
  const std::vector<Aspect> three = sizes(random);
  ASSERT_EQ(three.size(), 42u);
  EXPECT_DOUBLE_EQ(three[1].height, 12) << "the middle of the factors";
  EXPECT_DOUBLE_EQ(three[0].height * three[2].height, 144);
  EXPECT_GT(three[2].width, 12);
  EXPECT_LT(three[2].width, 24);
}

TEST(DetectionSource, ThePlanHoldsBothSizesOfAnImageThatIsShrunk) {
  const SourceScene scene("pictures_shrunk");
  ImageSampling sampling = plain();
  sampling.crop = {32, 32}, sampling.augmentation.scale = {0.5, 1};
  const ProcessPlan plan = scene.source(sampling).plan({1, 32, 32}, 1);
  constexpr std::int64_t kPixels = 40 * 96, kFloatBytes = 12;  // at a factor just below 1
  EXPECT_GE(plan[MemoryPart::kReading], 2 * kPixels * kFloatBytes);
}

TEST(DetectionSource, NoImageIsAnError) {
  expect_error(ErrorKind::kNoCase, "{fold} all", [] { DetectionSource({}, {}, {}, retinanet_detector(kConfig), 0); });
}

}  // namespace
}  // namespace voxshard
