#include "libcore/detection/matching.h"

#include <algorithm>
#include <cmath>

namespace voxshard {
namespace {

/// The cells [begin, end) of an axis whose anchors of that half side overlap [from, to).
std::pair<std::int64_t, std::int64_t> cells_over(const AnchorLevel& level, std::int64_t cells, double half, double from,
                                                 double to) {
  const double stride = static_cast<double>(level.stride), last = static_cast<double>(cells);
  const double begin = std::floor((from - half) / stride - 0.5), end = std::ceil((to + half) / stride - 0.5);
  return {static_cast<std::int64_t>(std::clamp(begin, 0.0, last)),
          static_cast<std::int64_t>(std::clamp(end, 0.0, last))};
}

/// Calls body(number, iou) for the anchors that overlap `box`, not in the order of their numbers.
template <class Body>
void for_each_overlap(const AnchorLevel& level, const PixelBox& box, Body body) {
  for (std::int64_t a = 0; a < level.per_cell(); ++a) {
    const Aspect& half = level.halves[a];
    const auto [top, bottom] = cells_over(level, level.height, half.height, box.y0, box.y1);
    const auto [left, right] = cells_over(level, level.width, half.width, box.x0, box.x1);
    for (std::int64_t y = top; y < bottom; ++y)
      for (std::int64_t x = left; x < right; ++x)
        if (const double overlap = iou(level.box(y, x, a), box); overlap > 0) body(level.number(y, x, a), overlap);
  }
}

std::size_t anchor_count(std::span<const AnchorLevel> levels) {
  std::int64_t count = 0;
  for (const AnchorLevel& level : levels) count += level.count();
  return static_cast<std::size_t>(count);
}

}  // namespace

std::vector<std::int32_t> match_anchors(std::span<const AnchorLevel> levels, std::span<const ObjectBox> objects,
                                        const MatchOptions& options) {
  const std::size_t count = anchor_count(levels);
  std::vector<std::int32_t> match(count, kNoObject), best_object(count, kNoObject);
  std::vector<double> most(count, 0.0);
  std::vector<std::int64_t> best_anchor(objects.size(), -1);
  for (std::size_t o = 0; o < objects.size(); ++o) {
    if (const double area = objects[o].box.area(); !(area > 0) || !std::isfinite(area)) continue;
    double widest = 0;
    for (const AnchorLevel& level : levels)
      for_each_overlap(level, objects[o].box, [&](std::int64_t number, double overlap) {
        const auto anchor = static_cast<std::size_t>(number);
        if (overlap > most[anchor]) {
          most[anchor] = overlap;
          best_object[anchor] = static_cast<std::int32_t>(o);
        }
        if (overlap > widest || (overlap == widest && number < best_anchor[o])) {
          widest = overlap;
          best_anchor[o] = number;
        }
      });
  }
  for (std::size_t anchor = 0; anchor < count; ++anchor) {
    if (best_object[anchor] == kNoObject || most[anchor] < options.unmatched) continue;
    match[anchor] = most[anchor] >= options.matched ? best_object[anchor] : kIgnored;
  }
  for (std::size_t o = objects.size();
       options.force && o-- > 0;)  // backwards: of several objects the first gets the anchor
    if (best_anchor[o] >= 0) match[best_anchor[o]] = static_cast<std::int32_t>(o);
  return match;
}

ImageTargets detection_targets(std::span<const AnchorLevel> levels, std::span<const ObjectBox> objects,
                               const MatchOptions& options) {
  const std::vector<std::int32_t> match = match_anchors(levels, objects, options);
  ImageTargets targets;
  for (const AnchorLevel& level : levels) {
    LevelTargets made{level.level, Tensor(DType::kI32, {1, level.height, level.width, level.per_cell()}),
                      Tensor(DType::kF32, {1, level.height, level.width, 4 * level.per_cell()})};
    auto* classes = made.classes.as<std::int32_t>();
    auto* codes = made.boxes.as<float>();
    for (std::int64_t i = 0; i < level.count(); ++i) {
      const std::int32_t object = match[level.first + i];
      classes[i] = object;
      if (object < 0) continue;
      const ObjectBox& owner = objects[object];
      const std::int64_t cell = i / level.per_cell();
      const BoxCode code = encode(owner.box, level.box(cell / level.width, cell % level.width, i % level.per_cell()));
      classes[i] = static_cast<std::int32_t>(owner.class_id);
      for (std::size_t k = 0; k < code.size(); ++k)
        codes[4 * i + static_cast<std::int64_t>(k)] = static_cast<float>(code[k]);
      ++targets.positives;
    }
    targets.levels.push_back(std::move(made));
  }
  return targets;
}

}  // namespace voxshard
