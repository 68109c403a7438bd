// Labels of whole volumes do not depend on how the volume is cut, whatever its size.
#include "pipelines/tasks/segmentation/predict_volume.h"

#include <set>

#include "libcore/ops/op_table.h"

#include "libcore/base/rng.h"
#include "libcore/train/initialise.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

Tensor noise(Shape shape) {
  Tensor image(DType::kF32, shape);
  for (std::int64_t i = 0; i < image.count(); ++i)
    image.as<float>()[i] = static_cast<float>(rng_normal({3, rng_stream("image")}, static_cast<std::uint64_t>(i)));
  return image;
}

Tensor labels_of(const Tensor& image, Dims partition, DType precision) {
  ModelSpec spec;
  spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  spec.precision = precision, spec.cut.mesh.partition = partition;
  WorkerPool pool(2);
  Session session(op_table(), lowering_of(spec, {}, {}), pool);
  session.parameters() = initialise(build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, precision), 5);
  return predict_volume(session, image, -1, spec.multiple());
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

}  // namespace
}  // namespace voxshard
