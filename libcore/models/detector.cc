#include "libcore/models/detector.h"

namespace voxshard {
namespace {

/// Anchors per pixel: the first level L has per_cell / 4^L, each later level a quarter of the one before, 4/3 of that
/// in all.
double anchors_per_pixel(const AnchorOptions& anchors) {
  const std::int64_t cell_pixels = std::int64_t{1} << (2 * anchors.first_level);
  return static_cast<double>(anchors.per_cell()) / (0.75 * static_cast<double>(cell_pixels));
}

}  // namespace

Detector anchor_detector(const AnchorOptions& anchors, std::int64_t first_class,
                         const PostprocessOptions& postprocess) {
  return {.first_class = first_class,
          .postprocess = postprocess,
          .anchors = anchors,
          .targets_per_pixel = anchors_per_pixel(anchors),
          .targets =
              [anchors](const Dims& size, std::span<const ObjectBox> objects) {
                return detection_targets(anchor_levels(size, anchors), objects);
              },
          .candidates =
              [anchors](const OwnedOutput& owned, std::int64_t sample, const Dims& extents, const Dims& image,
                        const PostprocessOptions& how) {
                std::vector<BoxCandidate> candidates;
                for (const AnchorLevel& level : anchor_levels(extents, anchors)) {
                  const std::string name = std::to_string(level.level);
                  const TensorView logits = owned("class_logits/" + name), boxes = owned("boxes/" + name);
                  if (!logits.box.empty()) append_candidates(logits, boxes, sample, level, image, how, candidates);
                }
                return candidates;
              }};
}

}  // namespace voxshard
