#include "pipelines/tasks/segmentation/predict_volume.h"

namespace voxshard {
namespace {

/// (N, D, H, W, C) view of one sample as the image's (D, H, W), C = 1.
TensorView as_volume(const TensorView& box) {
  TensorView v{box.data, box.dtype, {}, {}};
  for (int a = 1; a <= 3; ++a) {
    v.box.begin.push_back(box.box.begin[a]);
    v.box.extent.push_back(box.extent()[a]);
    v.strides.push_back(box.strides[a]);
  }
  return v;
}

/// Writes the class of the largest logit of each voxel of `logits` that lies in `labels`.
void argmax(const TensorView& logits, const Tensor& labels) {
  const Shape& shape = labels.shape();
  const std::int64_t classes = logits.extent().back();
  const Box& box = logits.box;
  for (std::int64_t d = box.begin[1]; d < std::min(box.end(1), shape[0]); ++d)
    for (std::int64_t h = box.begin[2]; h < std::min(box.end(2), shape[1]); ++h)
      for (std::int64_t w = box.begin[3]; w < std::min(box.end(3), shape[2]); ++w) {
        const std::int64_t at = (d - box.begin[1]) * logits.strides[1] + (h - box.begin[2]) * logits.strides[2] +
                                (w - box.begin[3]) * logits.strides[3];
        std::int32_t best = 0;
        for (std::int64_t c = 1; c < classes; ++c)
          if (load(logits, at + c) > load(logits, at + best)) best = static_cast<std::int32_t>(c);
        labels.as<std::int32_t>()[(d * shape[1] + h) * shape[2] + w] = best;
      }
}

}  // namespace

Shape prediction_extents(const Shape& volume, std::int64_t multiple) {
  Shape extents{1};
  for (auto extent : volume) extents.push_back(ceil_div(extent, multiple) * multiple);
  return extents;
}

Tensor predict_volume(Session& session, const Tensor& image, float air, std::int64_t multiple) {
  CoreSet& cores = session.cores(prediction_extents(image.shape(), multiple), Phase::kPredict);
  const Graph& graph = cores.executable().program.graph;
  cores.feed(graph.find("image"), [&](const TensorView& box) {
    const TensorView volume = as_volume(box);
    if (!Box::whole(image.shape()).contains(volume.box)) fill(volume, air);
    const Box inside = intersect(volume.box, Box::whole(image.shape()));
    if (!inside.empty()) copy(image.view().sub(inside), volume.sub(inside));
  });
  cores.run();
  Tensor labels(DType::kI32, image.shape());
  const ValueId logits = graph.outputs.at("logits");
  session.pool().run(cores.executable().program.mesh().cores(), [&](std::int64_t core, int) {
    const TensorView part = cores.owned(logits, static_cast<std::size_t>(core));
    if (!part.box.empty()) argmax(part, labels);
  });
  return labels;
}

}  // namespace voxshard
