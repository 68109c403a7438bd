#include "libcore/metrics/voxel_scores.h"

#include <algorithm>
#include <cmath>

#include "libcore/metrics/share.h"

namespace voxshard {
namespace {

constexpr double kClip = 1e-7;  // tf.keras.backend.epsilon()

void add_voxel(const float* logits, std::int64_t classes, std::int64_t label, VoxelScores& scores) {
  const std::int64_t best = std::max_element(logits, logits + classes) - logits;
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[c]) - logits[best]);
  const double p = std::exp(static_cast<double>(logits[label]) - logits[best]) / sum;
  ++scores.voxels;
  scores.correct += best == label ? 1 : 0;
  scores.cross_entropy -= std::log(std::clamp(p, kClip, 1 - kClip));
}

}  // namespace

double VoxelScores::accuracy() const { return share(static_cast<double>(correct), voxels); }
double VoxelScores::mean_cross_entropy() const { return share(cross_entropy, voxels); }

VoxelScores voxel_scores(const TensorView& all_logits, const TensorView& all_labels) {
  const TensorView logits = all_logits.lifted(), labels = all_labels.lifted();
  const Dims &e = logits.extent(), &at = logits.strides, &label_at = labels.strides;
  const std::int64_t classes = e[4];
  VoxelScores scores;
  for (std::int64_t n = 0; n < e[0]; ++n)
    for (std::int64_t d = 0; d < e[1]; ++d)
      for (std::int64_t h = 0; h < e[2]; ++h) {
        const float* row = logits.as<float>() + n * at[0] + d * at[1] + h * at[2];
        const std::int32_t* label = labels.as<std::int32_t>() + n * label_at[0] + d * label_at[1] + h * label_at[2];
        for (std::int64_t w = 0; w < e[3]; ++w, row += at[3], label += label_at[3])
          if (*label >= 0 && *label < classes) add_voxel(row, classes, *label, scores);
      }
  return scores;
}

}  // namespace voxshard
