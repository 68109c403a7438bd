#include "pipelines/tasks/detection/predict_image.h"

#include "io/image/image_resize.h"
#include "pipelines/tasks/detection/image_preparation.h"
#include "pipelines/tasks/place_sample.h"

namespace voxshard {

Shape image_extents(const Dims& size, std::int64_t multiple, const Dims& output_size) {
  const Dims padded = output_size.empty() ? padded_size(size, multiple) : output_size;
  return {1, padded[0], padded[1]};
}

namespace {

/// Best first; boxes in pixels of the picture, which lies at the top left of `extents`.
std::vector<Detection> detections_in(Session& session, const Tensor& pixels, const Shape& extents, const ImagePrediction& options) {
  const Dims size{pixels.shape()[0], pixels.shape()[1]};
  CoreSet& cores = session.cores(extents, Phase::kPredict);
  const Program& program = cores.executable().program;
  cores.feed(program.graph.find("image"), [&](const TensorView& box) { place_sample(pixels, 0, box); });
  cores.run();
  const auto levels = anchor_levels({extents[1], extents[2]}, anchor_options(options.config));
  std::vector<std::vector<BoxCandidate>> by_core(static_cast<std::size_t>(program.mesh().cores()));
  session.pool().run(program.mesh().cores(), [&](std::int64_t core, int) {
    const auto c = static_cast<std::size_t>(core);
    for (const AnchorLevel& level : levels) {
      const std::string name = std::to_string(level.level);
      const TensorView logits = cores.owned(program.graph.outputs.at("class_logits/" + name), c);
      const TensorView boxes = cores.owned(program.graph.outputs.at("boxes/" + name), c);
      if (!logits.box.empty()) append_candidates(logits, boxes, 0, level, size, options.postprocess, by_core[c]);
    }
  });
  std::vector<BoxCandidate> all;
  for (const auto& candidates : by_core) all.insert(all.end(), candidates.begin(), candidates.end());
  return detect(std::move(all), options.postprocess);
}

}  // namespace

std::vector<Detection> predict_image(Session& session, const Tensor& pixels, const ImagePrediction& options) {
  const Dims size{pixels.shape()[0], pixels.shape()[1]};
  const Shape extents = image_extents(size, options.pad_multiple, options.output_size);
  if (options.output_size.empty()) return detections_in(session, pixels, extents, options);
  const Fit fit = fit_into(size, options.output_size);
  std::vector<Detection> found =
      detections_in(session, resized_as_tensorflow1(pixels, fit.size[0], fit.size[1]), extents, options);
  for (Detection& d : found)
    d.box = {d.box.y0 / fit.by_y, d.box.x0 / fit.by_x, d.box.y1 / fit.by_y, d.box.x1 / fit.by_x};
  return found;
}

}  // namespace voxshard
