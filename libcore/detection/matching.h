// Matches anchors to objects: the input pipeline turns the boxes of an image into training targets.
//
//   ImageTargets t = detection_targets(anchor_levels({640, 480}, {}), {{.box = {10, 10, 90, 60}, .class_id = 3}});
//   t.levels[0].classes      // (1, 80, 60, 9) i32: 3 where an anchor has the object, -1 where it has none
//
// Source: tensorflow/tpu, models/official/detection/utils/object_detection/argmax_matcher.py and dataloader/anchor.py.
#pragma once

#include <span>

#include "libcore/detection/anchors.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ObjectBox {
  PixelBox box;
  std::int64_t class_id = 0;
};

struct MatchOptions {
  double matched = 0.5;    // an anchor is matched to the object it overlaps most, from this IoU on
  double unmatched = 0.5;  // below it has no object; between the two it is ignored
  bool force = true;       // each object also gets the anchor that overlaps it most
};

inline constexpr std::int32_t kNoObject = -1, kIgnored = -2;

/// Returns per anchor the index of its object, kNoObject or kIgnored. Ties go to the lower index (of objects, of
/// anchors); an anchor that is the best of several objects goes to the first. Objects that no anchor overlaps (of zero
/// area, far outside) are left out.   Cost: a few hundred to a few ten thousand IoU per object.
std::vector<std::int32_t> match_anchors(std::span<const AnchorLevel> levels, std::span<const ObjectBox> objects,
                                        const MatchOptions& options);

struct LevelTargets {
  int level = kFirstLevel;
  Tensor classes;  // (1, h, w, anchors) i32: class, kNoObject or kIgnored
  Tensor boxes;    // (1, h, w, 4 anchors) f32: {ty, tx, th, tw} of each anchor with an object, else 0
};

struct ImageTargets {
  std::vector<LevelTargets> levels;
  std::int64_t positives = 0;  // anchors with an object
};

/// Returns the targets of one image.
ImageTargets detection_targets(std::span<const AnchorLevel> levels, std::span<const ObjectBox> objects,
                               const MatchOptions& options = {});

}  // namespace voxshard
