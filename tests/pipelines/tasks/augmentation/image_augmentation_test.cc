// Random changes of images: each setting alone changes what it says, the key alone decides, and a new setting leaves
// the random numbers of the others as they are.
#include "pipelines/tasks/augmentation/image_augmentation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/rng.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

const ImageAugmentation kAll{.mirror = 0.5,
                             .mirror_vertical = 0.25,
                             .scale = {0.5, 2},
                             .rotation_degrees = 30,
                             .brightness = 0.2,
                             .contrast = 0.3,
                             .saturation = 0.4,
                             .hue_degrees = 20};

bool same(const ImageChange& a, const ImageChange& b) {
  return a.mirrored == b.mirrored && a.mirrored_vertically == b.mirrored_vertically && a.factor == b.factor &&
         a.degrees == b.degrees && a.colour.shift == b.colour.shift && a.colour.contrast == b.colour.contrast &&
         a.colour.saturation == b.colour.saturation && a.colour.hue_degrees == b.colour.hue_degrees;
}

TEST(ImageAugmentation, ByDefaultNothingChanges) {
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
    EXPECT_TRUE(same(draw_image_change({}, {.seed = 1, .image = 2, .epoch = epoch}), {}));
  EXPECT_FALSE(ImageAugmentation{}.moves());
  EXPECT_FALSE(ImageAugmentation{}.recolours());
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  describe_augmentation({}, false, json);
  EXPECT_TRUE(json.empty());
}

TEST(ImageAugmentation, EachSettingAloneChangesWhatItSays) {
  const AugmentationKey key{.seed = 4, .image = 7, .epoch = 1};
  const ImageChange all = draw_image_change(kAll, key);
  const auto expect_only = [&](const ImageAugmentation& one, const ImageChange& expected) {
    EXPECT_TRUE(same(draw_image_change(one, key), expected));
  };
  expect_only({.mirror = 1}, {.mirrored = true});
  expect_only({.mirror_vertical = 1}, {.mirrored_vertically = true});
  expect_only({.scale = {0.5, 2}}, {.factor = all.factor});
  expect_only({.rotation_degrees = 30}, {.degrees = all.degrees});
  expect_only({.brightness = 0.2}, {.colour = {.shift = all.colour.shift}});
  expect_only({.contrast = 0.3}, {.colour = {.contrast = all.colour.contrast}});
  expect_only({.saturation = 0.4}, {.colour = {.saturation = all.colour.saturation}});
  expect_only({.hue_degrees = 20}, {.colour = {.hue_degrees = all.colour.hue_degrees}});
}

TEST(ImageAugmentation, TheKeyAloneDecides) {
  const AugmentationKey key{.seed = 1, .image = 2, .epoch = 3};
  EXPECT_TRUE(same(draw_image_change(kAll, key), draw_image_change(kAll, key)));
  for (const AugmentationKey& other : {AugmentationKey{2, 2, 3}, AugmentationKey{1, 3, 3}, AugmentationKey{1, 2, 4},
                                       AugmentationKey{1, 2, 3, 1}, AugmentationKey{1, 2, 3, 2}})
    EXPECT_FALSE(same(draw_image_change(kAll, key), draw_image_change(kAll, other)));
}

TEST(ImageAugmentation, DrawsFillTheirRange) {
  constexpr int kImages = 2000;
  int mirrored = 0, vertically = 0, smaller = 0;
  double least = 0, most = 0;
  for (std::uint64_t image = 0; image < kImages; ++image) {
    const ImageChange change = draw_image_change(kAll, {.seed = 9, .image = image});
    mirrored += change.mirrored, vertically += change.mirrored_vertically, smaller += change.factor < 1;
    least = std::min(least, change.degrees), most = std::max(most, change.degrees);
    EXPECT_TRUE(change.factor >= 0.5 && change.factor <= 2);
    EXPECT_LE(std::abs(change.degrees), 30);
    EXPECT_LE(std::abs(change.colour.shift), 0.2);
    EXPECT_LE(std::abs(change.colour.contrast - 1), 0.3 + 1e-12);
    EXPECT_LE(std::abs(change.colour.saturation - 1), 0.4 + 1e-12);
    EXPECT_LE(std::abs(change.colour.hue_degrees), 20);
  }
  const auto expect_share = [](int count, double probability) {  // five standard deviations
    EXPECT_NEAR(count, kImages * probability, 5 * std::sqrt(kImages * probability * (1 - probability)));
  };
  expect_share(mirrored, 0.5), expect_share(vertically, 0.25), expect_share(smaller, 0.5);
  EXPECT_LT(least, -29);
  EXPECT_GT(most, 29);
}

/// Returns pixels away from 0 and 1, so that nothing is clipped.
Tensor colours() {
  Tensor rgb(DType::kF32, {8, 8, 3});
  for (std::int64_t i = 0; i < rgb.count(); ++i)
    rgb.as<float>()[i] =
        static_cast<float>(0.4 + 0.2 * rng_uniform({1, rng_stream("colours")}, static_cast<std::uint64_t>(i)));
  return rgb;
}
double grey(const float* p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; }
double chroma(const float* p) {
  const double u = 0.492 * (p[2] - grey(p)), v = 0.877 * (p[0] - grey(p));
  return std::sqrt(u * u + v * v);
}

TEST(ColourChange, HueKeepsGreyAndSaturationOfEachPixel) {
  const Tensor before = colours();
  Tensor after = before;
  recolour(after, {.hue_degrees = 40});
  double largest = 0;
  for (std::int64_t i = 0; i < before.count(); i += 3) {
    const float *a = before.as<float>() + i, *b = after.as<float>() + i;
    EXPECT_NEAR(grey(a), grey(b), 1e-6);
    EXPECT_NEAR(chroma(a), chroma(b), 1e-6);
    largest = std::max<double>(largest, std::abs(a[0] - b[0]));
  }
  EXPECT_GT(largest, 0.01);
  recolour(after, {.hue_degrees = -40});
  EXPECT_LT(compare(before.view(), after.view()).max_abs, 1e-6) << "back again";
}

TEST(ColourChange, BrightnessShiftsAndContrastSpreadsAroundTheMean) {
  const Tensor before = colours();
  Tensor brighter = before, spread = before, paler = before;
  recolour(brighter, {.shift = 0.1}), recolour(spread, {.contrast = 1.5}), recolour(paler, {.saturation = 0.5});
  double mean = 0, mean_spread = 0;
  for (std::int64_t i = 0; i < before.count(); ++i) {
    EXPECT_NEAR(brighter.as<float>()[i] - before.as<float>()[i], 0.1, 1e-6);
    EXPECT_NEAR(spread.as<float>()[i] - spread.as<float>()[0], 1.5 * (before.as<float>()[i] - before.as<float>()[0]),
                1e-6);
  }
  for (std::int64_t i = 0; i < before.count(); i += 3) {
    mean += grey(before.as<float>() + i), mean_spread += grey(spread.as<float>() + i);
    EXPECT_NEAR(chroma(paler.as<float>() + i), chroma(before.as<float>() + i) / 2, 1e-6);
  }
  EXPECT_NEAR(mean, mean_spread, 1e-4);
}

TEST(ColourChange, AnImageOfOneChannelHasBrightnessAndContrastAlone) {
  Tensor image(DType::kF32, {2, 2, 1});
  const float values[] = {0.2F, 0.4F, 0.6F, 0.8F};
  std::copy(std::begin(values), std::end(values), image.as<float>());
  Tensor same = image;
  recolour(same, {.saturation = 3, .hue_degrees = 90});
  EXPECT_LT(compare(same.view(), image.view()).max_abs, 1e-7);
  recolour(image, {.shift = 0.1, .contrast = 2});
  const double expected[] = {0, 0.4, 0.8, 1};  // 0.5 + 2 (x - 0.5) + 0.1, clipped
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(image.as<float>()[i], expected[i], 1e-6);
}

TEST(ImageAugmentation, ScalesOutOfRangeAreRefused) {
  require_scales({.scale = {0.25, 4}}, 0.25, 4);
  for (const auto& scale : {std::array{0.2, 1.0}, std::array{1.0, 4.5}, std::array{1.5, 1.2}, std::array{0.0, 1.0}})
    expect_error(ErrorKind::kUsage, "0.25 <= LOW <= HIGH <= 4", [&] { require_scales({.scale = scale}, 0.25, 4); });
}

}  // namespace
}  // namespace voxshard
