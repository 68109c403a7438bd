// The samples of a training step of a classifier.
#include "pipelines/tasks/classification/samples/class_source.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

struct SourceScene : ClassScene {
  SourceScene() : ClassScene("class_source") {
    image("data/a/1.png", {.width = 2, .height = 3}, {51});
    image("data/a/2.png", {.width = 4, .height = 1}, {102});
    image("data/b/3.png", {.width = 2, .height = 3}, {153});
    set = read_class_part(find_class_parts(data()).whole.value(), {});
  }
  ClassDataset set;
  WorkerPool pool{2};
};

/// Returns the intensity as it was in the file.
int level_of(float intensity) { return static_cast<int>(std::lround(255 * intensity)); }

Tensor filled(const ClassSource& source, const InputInfo& input, DType type, const Shape& shape) {
  Tensor whole(type, shape);
  fill(whole.view(), 77);
  source.fill(input, whole.view());
  return whole;
}

TEST(ClassSource, EveryEpochHasEveryItemOnce) {
  SourceScene s;
  ClassSource source(s.set, {.classes = s.set.classes}, {}, 5);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    std::multiset<int> seen;
    for (std::int64_t step = 3 * epoch; step < 3 * epoch + 3; ++step) {
      source.load(step, 1, s.pool);
      seen.insert(level_of(filled(source, input::Image{}, DType::kF32, {1, 3, 4, 1}).as<float>()[0]));
    }
    EXPECT_EQ(seen, (std::multiset<int>{51, 102, 153})) << epoch;
  }
}

TEST(ClassSource, ABatchIsPaddedToItsLargest) {
  SourceScene s;
  ClassSource source(s.set, {.classes = s.set.classes}, {}, 5);
  EXPECT_EQ(source.load(0, 3, s.pool), (Shape{3, 3, 4}));
  EXPECT_EQ(source.largest_extents(3), (Shape{3, 3, 4}));
  EXPECT_EQ(source.largest_extents(1), (Shape{1, 3, 2}));
  EXPECT_EQ(source.sizes(), 2);
  const Tensor image = filled(source, input::Image{}, DType::kF32, {3, 3, 4, 1});
  const Tensor labels = filled(source, input::Labels{.classes = 2}, DType::kI32, {3, 1, 1, 1});
  for (std::int64_t n = 0; n < 3; ++n) {
    const float* pixels = image.as<float>() + n * 12;
    const bool wide = level_of(pixels[0]) == 102;
    EXPECT_EQ(labels.as<std::int32_t>()[n], level_of(pixels[0]) == 153 ? 1 : 0);
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) EXPECT_EQ(pixels[4 * y + x], (wide ? y < 1 : x < 2) ? pixels[0] : 0) << y << " " << x;
  }
}

TEST(ClassSource, ACoreFillsOnlyItsBox) {
  SourceScene s;
  ClassSource source(s.set, {.classes = s.set.classes}, {}, 5);
  source.load(0, 3, s.pool);
  const Tensor whole = filled(source, input::Image{}, DType::kF32, {3, 3, 4, 1});
  const Box box{{1, 1, 1, 0}, {2, 2, 2, 1}};
  Tensor part(DType::kF32, box.extent);
  const TensorView view = dense_view(part.data(), DType::kF32, box);
  source.fill(input::Image{}, view);
  EXPECT_TRUE(compare(view, whole.view().sub(box)).bit_equal);
  source.fill(input::Labels{.classes = 2}, dense_view(nullptr, DType::kI32, Box::none(4)));
}

TEST(ClassSource, TheSameStepGivesTheSameSamples) {
  SourceScene s;
  ClassSource one(s.set, {.classes = s.set.classes}, {}, 5), other(s.set, {.classes = s.set.classes}, {}, 5);
  for (std::int64_t step = 0; step < 9; ++step) one.load(step, 2, s.pool);
  other.load(8, 2, s.pool);
  const Shape shape{2, 3, 4, 1};
  EXPECT_TRUE(compare(filled(one, input::Image{}, DType::kF32, shape).view(),
                      filled(other, input::Image{}, DType::kF32, shape).view())
                  .bit_equal);
}

/// Two images of noise in one class, one in the other.
struct NoiseScene : ClassScene {
  NoiseScene() : ClassScene("class_noise") {
    std::vector<int> values;
    for (int i = 0; i < 3 * 20 * 24; ++i) values.push_back(60 + i * 37 % 131);
    for (const char* name : {"data/a/1.png", "data/a/2.png", "data/b/3.png"})
      image(name, {.width = 24, .height = 20, .channels = 3}, values);
    set = read_class_part(find_class_parts(data()).whole.value(), {});
  }
  ClassSource source(const ImageAugmentation& augmentation, std::uint64_t seed = 5) const {
    return {set,
            {.classes = set.classes, .channels = 3, .mean = {0, 0, 0}, .deviation = {1, 1, 1}},
            {},
            seed,
            {.images = augmentation}};
  }
  Tensor image_of(ClassSource source, std::int64_t step = 0, int workers = 1) const {
    WorkerPool pool(workers);
    source.load(step, 3, pool);
    return filled(source, input::Image{}, DType::kF32, kShape);
  }
  static inline const Shape kShape{3, 20, 24, 3};
  ClassDataset set;
};

bool bits_equal(const Tensor& a, const Tensor& b) { return compare(a.view(), b.view()).bit_equal; }

TEST(ClassSource, EachChangeAloneChangesImages) {
  const NoiseScene s;
  const Tensor before = s.image_of(s.source({}));
  for (const ImageAugmentation& one :
       {ImageAugmentation{.mirror = 1}, ImageAugmentation{.mirror_vertical = 1}, ImageAugmentation{.scale = {0.5, 2}},
        ImageAugmentation{.rotation_degrees = 30}, ImageAugmentation{.brightness = 0.2},
        ImageAugmentation{.contrast = 0.2}, ImageAugmentation{.saturation = 0.2}, ImageAugmentation{.hue_degrees = 20}})
    EXPECT_FALSE(bits_equal(before, s.image_of(s.source(one))));
}

TEST(ClassSource, AMirroredImageHasThePixelsOfTheOther) {
  const NoiseScene s;
  const Tensor before = s.image_of(s.source({})), across = s.image_of(s.source({.mirror = 1})),
               down = s.image_of(s.source({.mirror_vertical = 1}));
  const auto at = [](const Tensor& batch, std::int64_t y, std::int64_t x) {
    return batch.as<float>()[(y * 24 + x) * 3];
  };
  for (std::int64_t y = 0; y < 20; ++y)
    for (std::int64_t x = 0; x < 24; ++x) {
      EXPECT_EQ(at(across, y, x), at(before, y, 23 - x));
      EXPECT_EQ(at(down, y, x), at(before, 19 - y, x));
    }
}

TEST(ClassSource, ChangedImagesAreTheSameForAnyWorkersAndCutsAndOtherInEachEpoch) {
  const NoiseScene s;
  const ImageAugmentation all{.mirror = 0.5,
                              .mirror_vertical = 0.5,
                              .scale = {0.7, 1.4},
                              .rotation_degrees = 30,
                              .brightness = 0.2,
                              .contrast = 0.2,
                              .saturation = 0.2,
                              .hue_degrees = 20};
  const Tensor whole = s.image_of(s.source(all), 7);
  EXPECT_TRUE(bits_equal(whole, s.image_of(s.source(all), 7, 3)));
  EXPECT_FALSE(bits_equal(whole, s.image_of(s.source(all), 8)));
  EXPECT_FALSE(bits_equal(whole, s.image_of(s.source(all, 6), 7)));
  ClassSource source = s.source(all);
  WorkerPool pool(2);
  source.load(7, 3, pool);
  Tensor parts(DType::kF32, NoiseScene::kShape);
  for (const auto& [begin, end] : {std::pair{0, 7}, std::pair{7, 24}}) {
    Box box = Box::whole(NoiseScene::kShape);
    box.set(2, begin, end);
    source.fill(input::Image{}, parts.view().sub(box));
  }
  EXPECT_TRUE(bits_equal(whole, parts));
}

TEST(ClassSource, NothingToTrainOnIsSaid) {
  const ClassDataset none{.source = "data"};
  expect_error(ErrorKind::kNoCase, "nothing is left to train on", [&] { ClassSource(none, {}, {}, 1); });
}

}  // namespace
}  // namespace voxshard
