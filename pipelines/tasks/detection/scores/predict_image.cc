#include "pipelines/tasks/detection/scores/predict_image.h"

#include <algorithm>

#include "io/image/image_resize.h"
#include "pipelines/engine/core_values.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/place_sample.h"

namespace voxshard {

Detector detector_of(const ModelSpec& spec) {
  if (spec.model->detector == nullptr)
    throw Error(ErrorKind::kConfig,
                "[detection] " + spec.model_name() + " is no detector; expected a model that learns from boxes");
  return spec.model->detector(spec.config);
}

PostprocessOptions postprocess_of(const std::string& name, const Detector& detector) {
  PostprocessOptions options = detector.postprocess;
  if (name == "detection")
    options = detection_postprocess();
  else if (name == "legacy")
    options = legacy_evaluation_postprocess();
  else if (name == "legacy_export")
    options = legacy_export_postprocess();
  else if (name != "auto")
    throw Error(ErrorKind::kUsage,
                "[predict] {postprocess} is \"" + name + "\"; expected auto, detection, legacy or legacy_export");
  options.background = detector.first_class == 1;  // depends on the model, not on the choice of post-processing
  return options;
}

Shape image_extents(const Dims& size, std::int64_t multiple, const Dims& output_size) {
  const Dims padded = output_size.empty() ? padded_size(size, multiple) : output_size;
  return {1, padded[0], padded[1]};
}

namespace {

static_assert(sizeof(BoxCandidate) <= 64);

}  // namespace

std::vector<BoxCandidate> candidates_of(const CoreSet& cores, std::size_t core, std::int64_t sample, const Dims& size,
                                        const ImagePrediction& options) {
  const Program& program = cores.executable().program;
  const Dims& extents = program.graph.node(program.graph.find("image")).type.shape;
  const auto owned = [&](const std::string& output) { return cores.owned(program.graph.outputs.at(output), core); };
  return options.detector.candidates(owned, sample, {extents[1], extents[2]}, size, options.postprocess);
}

namespace {

/// Returns the detections, best first; boxes are in pixels of the image, which lies at the top left of `extents`.
std::vector<Detection> detections_in(Session& session, const Tensor& pixels, const Shape& extents,
                                     const ImagePrediction& options) {
  const std::int64_t count = session.plan(extents, Phase::kPredict).program.mesh().cores();
  std::vector<std::vector<BoxCandidate>> by_core(static_cast<std::size_t>(count));
  run_cores(session, image_work(options),
            {.extents = extents,
             .note = {pixels.shape()[0], pixels.shape()[1]},
             .fill = [&](const TensorView& box) { place_sample(pixels, 0, box); },
             .take = take_values<BoxCandidate>([&](std::size_t core, std::span<const BoxCandidate> found) {
               by_core[core].assign(found.begin(), found.end());
             })});
  std::vector<BoxCandidate> all;
  for (const auto& candidates : by_core) all.insert(all.end(), candidates.begin(), candidates.end());
  return detect(std::move(all), options.postprocess);
}

}  // namespace

CoreWork image_work(const ImagePrediction& options) {
  return {.serialise = values_of_cores<BoxCandidate>(
              [options](const nlohmann::json& note, const CoreSet& cores, std::size_t core) {
                const Dims size{note.at(0).get<std::int64_t>(), note.at(1).get<std::int64_t>()};
                return candidates_of(cores, core, 0, size, options);
              })};
}

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
