// Predicts the objects in one whole image with a session in its prediction phase.
//
//   std::vector<Detection> found = predict_image(session, normalised(rgb, preparation), {detector_of(spec)});
#pragma once

#include "libcore/models/detector.h"
#include "pipelines/engine/core_runs.h"

namespace voxshard {

struct ImagePrediction {
  Detector detector;
  PostprocessOptions postprocess = detector.postprocess;
  std::int64_t pad_multiple = 32;
  Dims output_size = {};  // H W that images are scaled into (image_preparation.h); empty: they keep their size
};

/// Returns the detector of a spec's model. Errors: kConfig for a model that is no detector.
Detector detector_of(const ModelSpec& spec);

/// Returns the post-processing of that name: detection, legacy, legacy_export, or auto, that of the model's config.
/// Errors: kUsage for another name.
PostprocessOptions postprocess_of(const std::string& name, const Detector& detector);

/// Returns the extents at which an image of (H, W) is predicted: output_size, or its own size rounded up to a multiple;
/// batch 1.
Shape image_extents(const Dims& size, std::int64_t multiple, const Dims& output_size = {});

/// Returns a core's candidates for a sample from its part of all levels; boxes are clipped to (H, W) `size`. The core
/// must own a part of the sample, or nothing at all.
std::vector<BoxCandidate> candidates_of(const CoreSet& cores, std::size_t core, std::int64_t sample, const Dims& size,
                                        const ImagePrediction& options);

/// Returns the work of every process for predict_image(): each core's likeliest boxes; the note of a run is the image's
/// H and W.
CoreWork image_work(const ImagePrediction& options);

/// Returns the detections, best first; boxes are in pixels of the given image and clipped to it. Only the calling
/// process, the first process within coordinate(), holds the image; the other processes get the boxes of their cores.
///   pixels  (H, W, 3) f32, normalised
/// Errors: as run_cores().
std::vector<Detection> predict_image(Session& session, const Tensor& pixels, const ImagePrediction& options);

}  // namespace voxshard
