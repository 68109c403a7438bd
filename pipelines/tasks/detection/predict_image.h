// The objects in one picture, whole, by a session in its prediction phase.
//
//   std::vector<Detection> found = predict_image(session, normalised(rgb, preparation), {.config = config});
#pragma once

#include "libcore/models/retinanet.h"
#include "pipelines/runs/lead.h"

namespace voxshard {

struct ImagePrediction {
  RetinaNetConfig config;
  PostprocessOptions postprocess;
  std::int64_t pad_multiple = 32;
  Dims output_size = {};  // H W that pictures are scaled into (image_preparation.h); empty: they keep their size
};

/// How boxes are chosen, by name: detection, legacy, legacy_export, or auto, as the model's config has it. Errors: kUsage for another.
PostprocessOptions postprocess_of(const std::string& name, const RetinaNetConfig& config);

/// The extents that a picture of (H, W) is predicted at: those of an output, or its own rounded up to a multiple; batch 1.
Shape image_extents(const Dims& size, std::int64_t multiple, const Dims& output_size = {});

/// What all ranks do for predict_image(): each core's likeliest boxes; the note of a run is the picture's H and W.
RankWork image_work(const ImagePrediction& options);

/// Best first; boxes in pixels of the picture as it is given, cut to it. Of several ranks the first calls it, within lead();
/// it alone holds the picture, the others get the boxes of their cores.
///   pixels  (H, W, 3) f32, normalised
/// Errors: as run_led().
std::vector<Detection> predict_image(Session& session, const Tensor& pixels, const ImagePrediction& options);

}  // namespace voxshard
