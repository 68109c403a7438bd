#include "libcore/detection/nms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "libcore/tensor/rows.h"

namespace voxshard {
namespace {

void to_scores(std::span<double> logits, bool softmax) {
  if (!softmax) {
    for (double& x : logits) x = 1 / (1 + std::exp(-x));
    return;
  }
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (double& x : logits) total += x = std::exp(x - top);
  for (double& x : logits) x /= total;
}

bool better(const BoxCandidate& a, const BoxCandidate& b) {
  return std::tuple(-a.score, a.anchor, a.class_id) < std::tuple(-b.score, b.anchor, b.class_id);
}

/// Keeps the best `count`, sorted best first.
void keep_best(std::vector<BoxCandidate>& candidates, std::int64_t count) {
  const auto kept = std::min(candidates.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept), candidates.end(),
                    better);
  candidates.resize(kept);
}

/// Returns the mean of the boxes of a class that overlap `box` by at least `least_iou`, by their scores. It is summed
/// as the differences from `box`, so that a box alone stays as it is.
PixelBox voted(const PixelBox& box, const std::vector<BoxCandidate>& of_class, double least_iou) {
  PixelBox moved{0, 0, 0, 0};
  double weights = 0;
  for (const BoxCandidate& c : of_class) {
    if (iou(box, c.box) < least_iou) continue;
    weights += c.score;
    moved.y0 += c.score * (c.box.y0 - box.y0), moved.x0 += c.score * (c.box.x0 - box.x0);
    moved.y1 += c.score * (c.box.y1 - box.y1), moved.x1 += c.score * (c.box.x1 - box.x1);
  }
  if (!(weights > 0)) return box;
  return {box.y0 + moved.y0 / weights, box.x0 + moved.x0 / weights, box.y1 + moved.y1 / weights,
          box.x1 + moved.x1 / weights};
}

/// Returns those candidates of one class, sorted best first, that no better one overlaps.
std::vector<Detection> suppress(const std::vector<BoxCandidate>& sorted, const PostprocessOptions& options) {
  std::vector<Detection> kept;
  for (const BoxCandidate& c : sorted) {
    if (static_cast<std::int64_t>(kept.size()) == options.most_detections) break;
    const bool covered = std::any_of(kept.begin(), kept.end(),
                                     [&](const Detection& d) { return iou(d.box, c.box) > options.iou_threshold; });
    if (!covered) kept.push_back({c.class_id, c.score, c.box});
  }
  return kept;
}

}  // namespace

void append_candidates(const TensorView& logits, const TensorView& boxes, std::int64_t sample, const AnchorLevel& level,
                       const Dims& size, const PostprocessOptions& options, std::vector<BoxCandidate>& candidates) {
  const std::int64_t anchors = level.per_cell(), classes = logits.extent().back() / anchors;
  std::vector<double> scores(static_cast<std::size_t>(classes));
  for_each_row(sample_of(logits.box, sample), [&](const Dims& at) {
    for (std::int64_t a = 0; a < anchors; ++a) {
      load_row(logits, offset_at(logits, at) + a * classes, classes, scores.data());
      to_scores(scores, options.softmax);
      for (std::int64_t c = options.background ? 1 : 0; c < classes; ++c) {
        const double score = scores[c];
        if (!(score > options.score_threshold)) continue;
        Dims corner = at;
        corner[corner.axes() - 1] = boxes.box.begin.back();
        BoxCode code;
        load_row(boxes, offset_at(boxes, corner) + 4 * a, 4, code.data());
        const PixelBox box = clipped(decode(code, level.box(at[1], at[2], a)), static_cast<double>(size[0]),
                                     static_cast<double>(size[1]));
        if (box.area() > 0) candidates.push_back({level.number(at[1], at[2], a), c, score, box});
      }
      if (!options.per_class && static_cast<std::int64_t>(candidates.size()) >= 2 * options.most_candidates + classes)
        keep_best(candidates, options.most_candidates);
    }
  });
}

std::vector<Detection> detect(std::vector<BoxCandidate> candidates, const PostprocessOptions& options) {
  if (!options.per_class) keep_best(candidates, options.most_candidates);
  std::map<std::int64_t, std::vector<BoxCandidate>> by_class;
  for (BoxCandidate& c : candidates) by_class[c.class_id].push_back(c);
  std::vector<Detection> found;
  for (auto& [class_id, of_class] : by_class) {
    keep_best(of_class, options.per_class ? options.most_candidates : static_cast<std::int64_t>(of_class.size()));
    const auto kept = suppress(of_class, options);
    found.insert(found.end(), kept.begin(), kept.end());
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  if (static_cast<std::int64_t>(found.size()) > options.most_detections) found.resize(options.most_detections);
  if (options.vote_iou > 0)
    for (Detection& d : found) d.box = voted(d.box, by_class.at(d.class_id), options.vote_iou);
  return found;
}

PostprocessOptions detection_postprocess() { return {}; }

PostprocessOptions legacy_evaluation_postprocess() {
  return {.background = false, .per_class = false, .score_threshold = 0};
}

PostprocessOptions legacy_export_postprocess() {
  return {.softmax = true, .background = false, .per_class = false, .most_candidates = 1000, .iou_threshold = 0.3};
}

}  // namespace voxshard
