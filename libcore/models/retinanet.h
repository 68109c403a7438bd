// RetinaNet (Lin et al. 2017) as Cloud TPU trains it: a ResNet backbone, a feature pyramid of levels 3 to 7, and two
// heads that all levels share. With ResNet-50, 3 channels and 91 classes it has 34,091,159 parameters.
//
//   head: 4 x (3x3 convolution, norm of the level's own, ReLU), then a 3x3 convolution to anchors * classes logits, or
// 4 * anchors box codes. Kernels are initialised normal, the bias of the logits with -log(99): every score begins at
// 0.01.
//
//   Graph g = build_retinanet({}, {.size = {320, 384}}, op_table());   // g.outputs: "loss", "class_logits/3",
//   "boxes/3", ...
//
// Sources: tensorflow/tpu, models/official/detection/modeling/architecture/heads.py and configs/retinanet_config.py;
// the legacy variant models/official/retinanet.
#pragma once

#include <string>

#include "libcore/models/detector.h"
#include "libcore/models/model.h"
#include "libcore/models/resnet.h"

namespace voxshard {

enum class RetinaNetVariant {
  kDetection,  // models/official/detection: classes with background; aspects 1, 2, 1/2 of equal area; last kernels'
               // deviation 1e-5
  kLegacy,     // models/official/retinanet: classes without background; aspects 1x1, 1.4x0.7, 0.7x1.4; deviation 0.01
};

enum class Decay {
  kKernels,              // as models/official/detection
  kAllButBackboneNorms,  // as the legacy model: all whose name there lacks "batch_normalization"; includes norms of
                         // pyramid and heads
};
enum class Frozen { kNone, kStem };  // kStem: the first convolution, as the legacy model

struct RetinaNetConfig {
  Backbone backbone = Backbone::kResNet50;
  RetinaNetVariant variant = RetinaNetVariant::kDetection;
  std::int64_t channels = 3;
  std::int64_t classes = 91;  // those of COCO and the background; the legacy variant has 90
  std::int64_t filters = 64;  // of the stem
  std::int64_t pyramid_filters = 256;
  double norm_momentum = 0.997;       // of the running statistics; lower it for runs of a few hundred steps
  Decay decay = Decay::kKernels;      // parameters that weight decay applies to
  Frozen frozen = Frozen::kNone;      // parameters that are not trained
  std::string anchors = "reference";  // the variant's; kFittedAnchors; or shapes_text() of as many as that has
  BoxLossKind box_loss = BoxLossKind::kHuber;
  double box_vote = 0;  // PostprocessOptions::vote_iou of the detector; the reference has none
};

/// Builds a graph with the inputs "image" (N, H, W, channels) in `dtype` and, in training, per level L of 3 to 7
/// "class_targets/L" (N, h, w, anchors) i32 and "box_targets/L" (N, h, w, 4 anchors) f32 (matching.h makes them), h =
/// ceil(H / 2^L). Outputs per level "class_logits/L" (N, h, w, anchors * classes) and "boxes/L" (N, h, w, 4 anchors),
/// f32; in training "loss" (f64) and "loss_sums" (1 or replicas, 3) (kernels/detection_loss.h). L2 is the optimizer's
/// weight decay. Errors: kConfig.
Graph build_retinanet(const RetinaNetConfig& config, const GraphOptions& options, const OpTable& ops);

/// Its row in the table of models.
Model retinanet();

/// Returns the variant's anchors, or those shapes; while they are still to be fitted, the variant's.
AnchorOptions anchor_options(const RetinaNetConfig& config);
/// The id of the first object class: 1 where class 0 is the background, else 0.
std::int64_t first_class(const RetinaNetConfig& config);
/// Makes the detector with its anchors, and the post-processing used when training is evaluated.
Detector retinanet_detector(const RetinaNetConfig& config);

}  // namespace voxshard
