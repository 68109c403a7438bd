// From the outputs of the heads to detections: scores and boxes of likely anchors, then non-maximum suppression class
// by class.
//
//   std::vector<BoxCandidate> all;
//   for each level (or a core's part of it):  append_candidates(logits, boxes, sample, level, size, options, all);
//   std::vector<Detection> found = detect(std::move(all), options);      // best first
//
// There are three interpretations of the original, see the functions at the end. Sources: tensorflow/tpu,
// models/official/ detection/ops/postprocess_ops.py; for (a)
// models/official/retinanet/{anchors,retinanet_model,postprocess}.py.
#pragma once

#include "libcore/detection/anchors.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct PostprocessOptions {
  bool softmax = false;    // softmax over the classes of an anchor, else a sigmoid per class
  bool background = true;  // class 0 is the background and never detected
  bool per_class = true;   // the limit on candidates holds per class, else over all classes
  std::int64_t most_candidates = 5000;
  double score_threshold = 0.05;  // a score must be above this
  double iou_threshold = 0.5;     // a box that overlaps a better one of its class by more is dropped
  std::int64_t most_detections = 100;
  /// Candidates of a class that overlap a kept box by at least this are averaged with it, each with its score as its
  /// weight; 0: the kept box stays as it is. Source: Gidaris and Komodakis 2015 (box voting).
  double vote_iou = 0;
};

struct BoxCandidate {
  std::int64_t anchor = 0;  // anchor number, see anchors.h
  std::int64_t class_id = 0;
  double score = 0;
  PixelBox box;  // inside the image
};

struct Detection {
  std::int64_t class_id = 0;
  double score = 0;
  PixelBox box;
  friend bool operator==(const Detection&, const Detection&) = default;
};

/// Appends the candidates above the score threshold of the cells in `logits.box`, so that each core can process its
/// own. With a limit over all classes, candidates that can no longer be among the likeliest are dropped on the way.
///   logits  (N, h, w, anchors * classes)     boxes  (N, h, w, 4 anchors), any box of the level that covers that of the
///   logits size    (H, W) of the image, to which boxes are clipped; a box outside is no candidate
void append_candidates(const TensorView& logits, const TensorView& boxes, std::int64_t sample, const AnchorLevel& level,
                       const Dims& size, const PostprocessOptions& options, std::vector<BoxCandidate>& candidates);

/// Returns the detections of an image, best first. Equal scores: the lower class, then the lower anchor.
/// Cost: per class, candidates x detections IoU; votes add candidates x detections.
std::vector<Detection> detect(std::vector<BoxCandidate> candidates, const PostprocessOptions& options);

/// (b), models/official/detection: sigmoid, class 0 is the background, 5000 candidates per class, score .05, IoU .5,
/// 100 detections.
PostprocessOptions detection_postprocess();
/// (a) in evaluation: sigmoid, no background class, 5000 candidates over all classes, no minimum score, IoU .5, 100
/// detections.
PostprocessOptions legacy_evaluation_postprocess();
/// (a) in prediction and export: softmax, no background class, 1000 candidates over all classes, score .05, IoU .3, 100
/// detections.
PostprocessOptions legacy_export_postprocess();

}  // namespace voxshard
