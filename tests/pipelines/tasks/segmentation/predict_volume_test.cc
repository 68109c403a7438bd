// Labels of whole volumes do not depend on how the volume is cut, whatever its size.
#include "pipelines/tasks/segmentation/scores/predict_volume.h"

#include <set>

#include "libcore/base/rng.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

Tensor noise(Shape shape) {
  Tensor image(DType::kF32, shape);
  for (std::int64_t i = 0; i < image.count(); ++i)
    image.as<float>()[i] = static_cast<float>(rng_normal({3, rng_stream("image")}, static_cast<std::uint64_t>(i)));
  return image;
}

/// Returns the labels that rank 0 of `ranks` predicts.
Tensor labels_of(const Tensor& image, Dims partition, DType precision, int ranks = 1) {
  ModelSpec spec = test::small_unet(partition);
  spec.precision = precision;
  Tensor labels;
  test::over_ranks(ranks, spec, [&](Session& session) {
    coordinate(session, volume_work(), {}, [&] {
      const std::vector<Tensor> channels = {image};
      VolumeVoxels voxels = voxels_of(channels, {-1});
      bool fed = false;
      voxels.read = [&, read = voxels.read](std::size_t channel, const TensorView& box) {
        EXPECT_FALSE(fed) << "the image may be gone";
        read(channel, box);
      };
      voxels.done = [&] { fed = true; };
      labels = predict_volume(session, voxels, spec.multiple());
      EXPECT_TRUE(fed);
    });
  });
  return labels;
}

TEST(PredictVolume, ExtentsAreRoundedUpForThePools) {
  EXPECT_EQ(prediction_extents({13, 16, 9}, 4), (Shape{1, 16, 16, 12}));
  EXPECT_EQ(prediction_extents({13, 1, 9}, 1), (Shape{1, 13, 1, 9}));
}

TEST(PredictVolume, LabelsAreThoseOfTheUncutModel) {
  for (const DType precision : {DType::kF32, DType::kBF16})
    for (const Shape& shape : {Shape{16, 12, 8}, Shape{13, 11, 9}, Shape{5, 3, 17}, Shape{1, 1, 1}}) {
      const Tensor image = noise(shape);
      const Tensor whole = labels_of(image, {1, 1, 1, 1, 1}, precision);
      ASSERT_EQ(whole.shape(), shape);
      if (whole.count() > 100) {
        EXPECT_GT((std::set<int>(whole.as<std::int32_t>(), whole.as<std::int32_t>() + whole.count()).size()), 1u);
      }
      for (const Dims& partition : {Dims{1, 2, 2, 1, 1}, Dims{1, 3, 1, 2, 1}, Dims{1, 1, 5, 1, 1}})
        EXPECT_TRUE(compare(whole.view(), labels_of(image, partition, precision).view()).bit_equal)
            << to_string(shape) << " over " << to_string(partition);
    }
}

TEST(PredictVolume, LabelsOverRanksAreThoseOfOneProcess) {
  for (const DType precision : {DType::kF32, DType::kBF16})
    for (const Shape& shape : {Shape{13, 11, 9}, Shape{5, 3, 17}, Shape{1, 1, 1}}) {
      const Tensor image = noise(shape);
      for (const Dims& partition : {Dims{1, 2, 2, 1, 1}, Dims{1, 1, 5, 1, 1}}) {
        const Tensor alone = labels_of(image, partition, precision);
        for (const int ranks : {2, 3, 4})
          EXPECT_TRUE(compare(alone.view(), labels_of(image, partition, precision, ranks).view()).bit_equal)
              << to_string(shape) << " over " << to_string(partition) << " and " << ranks << " ranks";
      }
    }
}

}  // namespace
}  // namespace voxshard
