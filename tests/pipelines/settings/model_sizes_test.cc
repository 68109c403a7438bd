// The sizes of each kind of model: from the reference down, and the estimate of their steps.
#include "pipelines/settings/model_sizes.h"

#include <gtest/gtest.h>

#include <limits>

namespace voxshard {
namespace {

TEST(ModelSizes, EachIsSmallerThanTheOneBeforeAndTheFirstIsTheReference) {
  for (const char* name : {"unet3d", "retinanet"}) {
    const ModelSpec spec = usual_spec(model_named(model_table(), name));
    const ModelSizes& sizes = sizes_of(*spec.model);
    ASSERT_GT(sizes.sizes.size(), 2u) << name;
    for (const auto& [option, value] : sizes.sizes.front().options)
      for (const ConfigField& field : spec.model->fields)
        if (field.option_name() == option) {
          EXPECT_EQ(spec.get(field.name), value) << name << " " << option;
        }
    const Shape extents = spec.spatial_axes() == 3 ? Shape{1, 32, 32, 32} : Shape{1, 256, 256};
    double last = std::numeric_limits<double>::infinity();
    std::int64_t wanted = std::numeric_limits<std::int64_t>::max();
    for (const ModelSize& size : sizes.sizes) {
      const double seconds = step_seconds(spec, size, extents, 1);
      EXPECT_LT(seconds, 0.7 * last) << name << " " << size.text;
      EXPECT_NEAR(step_seconds(spec, size, extents, 2), seconds / 2, 1e-9 * seconds);
      EXPECT_LE(size.wanted_steps, wanted) << name << " " << size.text;
      last = seconds, wanted = size.wanted_steps;
    }
  }
  EXPECT_TRUE(sizes_of(*model_named(model_table(), "resnet18")).sizes.empty());
}

}  // namespace
}  // namespace voxshard
