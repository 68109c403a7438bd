// Samples of several channels: each from its own volume, with its own factor and noise, the same however they are cut.
#include <gtest/gtest.h>

#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/pipelines/channel_scene.h"

namespace voxshard {
namespace {

struct ChannelVolumes : ChannelScene {
  explicit ChannelVolumes(const std::string& name) : ChannelScene(name) {
    write_channels(2);
    prepare_dataset(preparation(), progress);
    dataset = read_prepared(work());
  }
  SampleSource source(const SamplingOptions& options) const { return {dataset, {0, 1}, options}; }
  PreparedDataset dataset;
};

Tensor image_of(const SampleSource& source, const std::vector<Sample>& batch, std::int64_t channels) {
  Shape shape = source.extents(batch);
  shape.push_back(channels);
  Tensor whole(DType::kF32, shape);
  source.fill(batch, input::Image{}, whole.view());
  return whole;
}

TEST(SampleChannels, EachIsFilledFromItsOwnVolume) {
  const ChannelVolumes volumes("sample_channels");
  const SampleSource source = volumes.source({.crop = {16, 16, 16}, .intensity_scale = 0, .noise = 0});
  const std::vector<Sample> batch = source.batch(0, 2);
  const Tensor image = image_of(source, batch, 2);
  const std::int64_t voxels = 16 * 16 * 16;
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t c = 0; c < 2; ++c) {
      const auto& item = volumes.dataset.cases[batch[n].item];
      const Volume expected = read_image(item.images[c]);
      for (std::int64_t i = 0; i < voxels; ++i)
        ASSERT_EQ(image.as<float>()[(n * voxels + i) * 2 + c], expected.voxels.as<float>()[i]) << n << " " << c;
    }
}

TEST(SampleChannels, OutsideTheVolumeEachHasItsOwnAir) {
  const ChannelVolumes volumes("sample_air");
  const SampleSource source = volumes.source({.crop = {18, 16, 16}, .intensity_scale = 0, .noise = 0});
  const Tensor image = image_of(source, source.batch(0, 1), 2);
  const std::vector<float> air = air_values(volumes.dataset.plan);
  EXPECT_LT(air.at(0), -1) << "below the mean of the foreground";
  EXPECT_EQ(air.at(1), 0) << "the mean of each image";
  EXPECT_EQ(image.as<float>()[0], air[0]);
  EXPECT_EQ(image.as<float>()[1], air[1]);
}

TEST(SampleChannels, FactorAndNoiseOfEachAreItsOwn) {
  const ChannelVolumes volumes("sample_noise");
  const SampleSource plain = volumes.source({.crop = {16, 16, 16}, .intensity_scale = 0, .noise = 0});
  const SampleSource scaled = volumes.source({.crop = {16, 16, 16}, .intensity_scale = 0.1, .noise = 0});
  const SampleSource noisy = volumes.source({.crop = {16, 16, 16}, .intensity_scale = 0, .noise = 0.1});
  const std::vector<Sample> batch = plain.batch(0, 1);
  const Tensor a = image_of(plain, batch, 2), b = image_of(scaled, batch, 2), c = image_of(noisy, batch, 2);
  const auto* before = a.as<float>();
  const auto* factor = b.as<float>();
  EXPECT_GT(std::abs(factor[0] / before[0] - factor[1] / before[1]), 1e-3);
  int equal = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_NEAR(factor[2 * i] / before[2 * i], factor[0] / before[0], 1e-4);
    const float first = c.as<float>()[2 * i] - before[2 * i], second = c.as<float>()[2 * i + 1] - before[2 * i + 1];
    equal += std::abs(first - second) < 1e-6;
  }
  EXPECT_LT(equal, 10);
}

TEST(SampleChannels, TheFirstIsAugmentedAsIfItWereAlone) {
  ChannelVolumes volumes("sample_first");
  const SamplingOptions options{.seed = 3, .crop = {7, 9, 16}, .flip = {true, true, true}};
  volumes.edit_dataset([](nlohmann::json& json) { json["channel_names"].erase("1"); });
  PrepareOptions alone = volumes.preparation();
  alone.work = volumes.path("alone");
  prepare_dataset(alone, volumes.progress);
  const PreparedDataset single = read_prepared(alone.work);
  const SampleSource two = volumes.source(options), one(single, {0, 1}, options);
  for (int step = 0; step < 3; ++step) {
    const Tensor a = image_of(two, two.batch(step, 2), 2), b = image_of(one, one.batch(step, 2), 1);
    for (std::int64_t i = 0; i < b.count(); ++i) ASSERT_EQ(a.as<float>()[2 * i], b.as<float>()[i]);
  }
}

TEST(SampleChannels, TheBoxesOfTheCoresMakeTheWhole) {
  const ChannelVolumes volumes("sample_boxes");
  const SampleSource source = volumes.source({.crop = {7, 11, 6}, .flip = {true, true, true}});
  for (int step = 0; step < 4; ++step) {
    const auto batch = source.batch(step, 2);
    const Tensor whole = image_of(source, batch, 2);
    for (int axis = 0; axis < 4; ++axis) {
      Tensor parts(DType::kF32, whole.shape());
      const std::int64_t cut = ceil_div(whole.shape()[axis], 2);
      for (const auto& [begin, end] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, whole.shape()[axis]}}) {
        Box box = Box::whole(whole.shape());
        box.set(axis, begin, end);
        source.fill(batch, input::Image{}, parts.view().sub(box));
      }
      EXPECT_TRUE(compare(whole.view(), parts.view()).bit_equal) << axis;
    }
  }
}

}  // namespace
}  // namespace voxshard
