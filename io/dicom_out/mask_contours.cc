#include "io/dicom_out/mask_contours.h"

#include <algorithm>
#include <cstddef>

namespace voxshard {
namespace {

/// A step along one edge of a pixel, from its corner to the next one. The mask lies to the right of it where y grows
/// downwards: outer contours are walked clockwise, holes counter-clockwise.
struct Step {
  std::int32_t x = 0, y = 0;    // where it begins
  std::int32_t dx = 0, dy = 0;  // its direction
  std::int32_t next = -1;       // step that follows
  bool seen = false;
};

class Tracer {
 public:
  Tracer(const std::vector<std::uint8_t>& mask, std::int64_t rows, std::int64_t columns)
      : mask_(mask), rows_(rows), columns_(columns) {}

  std::vector<PixelContour> contours() {
    add_steps();
    join_steps();
    const std::vector<std::int32_t> outer = separate();
    std::vector<PixelContour> all;
    for (const std::int32_t first : outer) all.push_back(corners_of(first));
    return all;
  }

 private:
  bool inside(std::int64_t x, std::int64_t y) const {
    return x >= 0 && x < columns_ && y >= 0 && y < rows_ && mask_[y * columns_ + x] != 0;
  }
  std::size_t corner(std::int64_t x, std::int64_t y) const { return static_cast<std::size_t>(y * (columns_ + 1) + x); }

  /// Makes the steps around each pixel of the mask on whose other side there is background. At most two begin at one
  /// corner.
  void add_steps() {
    begin_.assign(static_cast<std::size_t>((rows_ + 1) * (columns_ + 1)), {-1, -1});
    upward_.assign(static_cast<std::size_t>(rows_ * (columns_ + 1)), -1);
    for (std::int64_t y = 0; y < rows_; ++y)
      for (std::int64_t x = 0; x < columns_; ++x) {
        if (!inside(x, y)) continue;
        if (!inside(x, y - 1)) add(x, y, 1, 0);
        if (!inside(x + 1, y)) add(x + 1, y, 0, 1);
        if (!inside(x, y + 1)) add(x + 1, y + 1, -1, 0);
        if (!inside(x - 1, y)) {
          upward_[y * (columns_ + 1) + x] = static_cast<std::int32_t>(steps_.size());
          add(x, y + 1, 0, -1);
        }
      }
  }
  void add(std::int64_t x, std::int64_t y, std::int32_t dx, std::int32_t dy) {
    auto& at = begin_[corner(x, y)];
    (at[0] < 0 ? at[0] : at[1]) = static_cast<std::int32_t>(steps_.size());
    steps_.push_back({.x = static_cast<std::int32_t>(x), .y = static_cast<std::int32_t>(y), .dx = dx, .dy = dy});
  }

  /// Lets each step be followed by the one that begins where it ends. Where two begin, it turns towards the mask, to
  /// the right: pixels that meet at that corner alone stay apart.
  void join_steps() {
    for (Step& step : steps_) {
      const auto& at = begin_[corner(step.x + step.dx, step.y + step.dy)];
      step.next = at[0];
      if (at[1] >= 0) {
        const Step& first = steps_[at[0]];
        const bool turns_right = first.dx == -step.dy && first.dy == step.dx;
        if (!turns_right) step.next = at[1];
      }
    }
  }

  /// Finds the loops and joins each hole to the loop around it. Returns the first step of each outer loop.
  std::vector<std::int32_t> separate() {
    std::vector<std::int32_t> outer, holes;
    const auto traced = static_cast<std::int32_t>(steps_.size());
    for (std::int32_t i = 0; i < traced; ++i) {
      if (steps_[i].seen) continue;
      std::int64_t doubled_area = 0;
      std::int32_t highest = i;  // the step that begins at the uppermost corner, there the leftmost one
      for (std::int32_t s = i; !steps_[s].seen; s = steps_[s].next) {
        Step& step = steps_[s];
        step.seen = true;
        doubled_area += std::int64_t{step.x} * step.dy - std::int64_t{step.y} * step.dx;
        const Step& best = steps_[highest];
        if (step.y < best.y || (step.y == best.y && step.x < best.x)) highest = s;
      }
      (doubled_area > 0 ? outer : holes).push_back(highest);
    }
    for (const std::int32_t hole : holes) join_hole(hole);
    return outer;
  }

  /// Joins a hole to what bounds the mask to the left of its uppermost, leftmost corner: the pixels between the two
  /// belong to the mask. That loop reaches higher, or as high and further to the left, so that no circle of holes is
  /// left over.
  void join_hole(std::int32_t hole) {
    const std::int32_t top_x = steps_[hole].x, y = steps_[hole].y;
    std::int32_t x = top_x;
    do --x;
    while (inside(x - 1, y));
    // The step up that ends at (x, y): the keyhole leaves there, walks around the hole and comes back.
    const std::int32_t up = upward_[y * (columns_ + 1) + x];
    std::int32_t last = hole;
    while (steps_[last].next != hole) last = steps_[last].next;
    const auto there = static_cast<std::int32_t>(steps_.size()), back = there + 1;
    const std::int32_t after = steps_[up].next;
    steps_.push_back({.x = x, .y = y, .dx = top_x - x, .dy = 0, .next = hole});
    steps_.push_back({.x = top_x, .y = y, .dx = x - top_x, .dy = 0, .next = after});
    steps_[up].next = there;
    steps_[last].next = back;
  }

  /// Returns the corners at which a contour turns, also back.
  PixelContour corners_of(std::int32_t first) const {
    PixelContour contour;
    const auto sign = [](std::int32_t value) { return value > 0 ? 1 : value < 0 ? -1 : 0; };
    std::int32_t s = first;
    do {
      const Step& step = steps_[s];
      const Step& after = steps_[step.next];
      if (sign(step.dx) != sign(after.dx) || sign(step.dy) != sign(after.dy)) contour.push_back({after.x, after.y});
      s = step.next;
    } while (s != first);
    return contour;
  }

  const std::vector<std::uint8_t>& mask_;
  std::int64_t rows_, columns_;
  std::vector<Step> steps_;
  std::vector<std::array<std::int32_t, 2>> begin_;  // steps that begin at a corner; -1: none
  std::vector<std::int32_t> upward_;                // step up along the left edge of a pixel; -1: none
};

}  // namespace

std::vector<PixelContour> mask_contours(const std::vector<std::uint8_t>& mask, std::int64_t rows,
                                        std::int64_t columns) {
  return Tracer(mask, rows, columns).contours();
}

}  // namespace voxshard
