// The objects in one image, whole, by a session in its prediction phase.
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

/// Returns the detector of a spec's model. Errors: kConfig for a model that is none.
Detector detector_of(const ModelSpec& spec);

/// How boxes are chosen, by name: detection, legacy, legacy_export, or auto, as the model's config has it. Errors:
/// kUsage for another.
PostprocessOptions postprocess_of(const std::string& name, const Detector& detector);

/// The extents that an image of (H, W) is predicted at: those of an output, or its own rounded up to a multiple;
/// batch 1.
Shape image_extents(const Dims& size, std::int64_t multiple, const Dims& output_size = {});

/// What a core finds of a sample in its boxes of all levels; boxes are cut to (H, W) `size`. The sample must have a
/// part in what the core owns, or the core owns nothing.
std::vector<BoxCandidate> candidates_of(const CoreSet& cores, std::size_t core, std::int64_t sample, const Dims& size,
                                        const ImagePrediction& options);

/// What every process does for predict_image(): finds each core's likeliest boxes; the note of a run is the image's H
/// and W.
CoreWork image_work(const ImagePrediction& options);

/// Best first; boxes in pixels of the image as it is given, cut to it. The process that calls it, within
/// coordinate(), alone holds the image; the others get the boxes of their cores.
///   pixels  (H, W, 3) f32, normalised
/// Errors: as run_cores().
std::vector<Detection> predict_image(Session& session, const Tensor& pixels, const ImagePrediction& options);

}  // namespace voxshard
