// Accuracy and cross-entropy of an evaluation against numbers of NumPy, and over boxes.
#include "libcore/metrics/voxel_scores.h"

#include <gtest/gtest.h>

#include <cmath>

namespace voxshard {
namespace {

struct Voxels {
  Tensor logits{DType::kF32, {2, 2, 3, 4, 3}}, labels{DType::kI32, {2, 2, 3, 4, 1}};
  explicit Voxels(float factor) {
    for (std::int64_t i = 0; i < logits.count(); ++i)
      logits.as<float>()[i] = factor * static_cast<float>(i * 37 % 23 - 11) / 2;
    for (std::int64_t i = 0; i < labels.count(); ++i)
      labels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7 % 3);
  }
};

/// NumPy 2.2.4, f64: q = clip(softmax(logits), 1e-7, 1 - 1e-7); -(onehot * log(q)).sum(-1).mean(). With logits of eight
/// times the size most wrong voxels are clipped.
TEST(VoxelScores, AreThoseOfNumpy) {
  const Voxels plain(1), steep(8);
  EXPECT_DOUBLE_EQ(voxel_scores(plain.logits.view(), plain.labels.view()).accuracy(), 0.4166666666666667);
  EXPECT_NEAR(voxel_scores(plain.logits.view(), plain.labels.view()).mean_cross_entropy(), 3.453855835679443, 1e-12);
  EXPECT_DOUBLE_EQ(voxel_scores(steep.logits.view(), steep.labels.view()).accuracy(), 0.4166666666666667);
  EXPECT_NEAR(voxel_scores(steep.logits.view(), steep.labels.view()).mean_cross_entropy(), 9.40222250472569, 1e-12);
}

TEST(VoxelScores, OfTheBoxesAddUpToThoseOfTheWhole) {
  const Voxels v(1);
  const VoxelScores whole = voxel_scores(v.logits.view(), v.labels.view());
  VoxelScores sum;
  for (Box box : {Box{{0, 0, 0, 0, 0}, {1, 2, 3, 4, 3}}, Box{{1, 0, 0, 0, 0}, {1, 2, 3, 3, 3}},
                  Box{{1, 0, 0, 3, 0}, {1, 2, 3, 1, 3}}}) {
    const TensorView logits = v.logits.view().sub(box);
    box.extent[4] = 1;
    sum += voxel_scores(logits, v.labels.view().sub(box));
  }
  EXPECT_EQ(sum.voxels, whole.voxels);
  EXPECT_EQ(sum.correct, whole.correct);
  EXPECT_NEAR(sum.cross_entropy, whole.cross_entropy, 1e-12);
}

TEST(VoxelScores, VoxelsOfUnknownClassCountNowhere) {
  Voxels v(1);
  for (std::int64_t i = 0; i < v.labels.count(); ++i) v.labels.as<std::int32_t>()[i] = i == 5 ? 2 : i % 2 == 0 ? -1 : 3;
  EXPECT_EQ(voxel_scores(v.logits.view(), v.labels.view()).voxels, 1);
  v.labels.as<std::int32_t>()[5] = -1;
  EXPECT_TRUE(std::isnan(voxel_scores(v.logits.view(), v.labels.view()).accuracy()));
}

TEST(VoxelScores, TiesGoToTheLowerClass) {
  const Tensor logits(DType::kF32, {1, 1, 2, 2}), labels(DType::kI32, {1, 1, 2, 1});  // an image, all zeros
  EXPECT_EQ(voxel_scores(logits.view(), labels.view()).correct, 2);
}

}  // namespace
}  // namespace voxshard
