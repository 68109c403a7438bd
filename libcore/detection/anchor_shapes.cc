#include "libcore/detection/anchor_shapes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>

#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

constexpr double kLeastSide = 0.01, kMostSide = 1000;             // of a shape, cells
constexpr std::size_t kMostBoxes = 500;                           // that a fit looks at
constexpr std::array<double, 3> kSpread = {1 / 1.25, 1.0, 1.25};  // of each side of each box
constexpr double kCandidatesPerOctave = 8;                        // of each side
constexpr int kMostRounds = 20;                                   // of k-means

double iou_of(const Aspect& a, const Aspect& b) {
  const double shared = std::min(a.height, b.height) * std::min(a.width, b.width);
  return shared / (a.height * a.width + b.height * b.width - shared);
}

Aspect scaled(const Aspect& shape, double by) { return {shape.height * by, shape.width * by}; }
double stride_of(int level) { return std::exp2(static_cast<double>(level)); }
bool is_smaller(const Aspect& a, const Aspect& b) {
  return std::tuple(a.height * a.width, a.height, a.width) < std::tuple(b.height * b.width, b.height, b.width);
}

/// The level on which a shape overlaps a box most, and by how much.
struct Best {
  int level = kFirstLevel;
  double iou = 0;
};
Best best_level(const Aspect& box, const Aspect& shape, const AnchorOptions& anchors) {
  Best best{.level = anchors.first_level};
  for (int level = anchors.first_level; level <= anchors.last_level; ++level)
    if (const double overlap = iou_of(box, scaled(shape, stride_of(level))); overlap > best.iou)
      best = {level, overlap};
  return best;
}

/// Boxes that stand for all, with those a little larger and smaller, in an order that depends on their sizes alone.
std::vector<Aspect> spread(std::span<const Aspect> sizes) {
  std::vector<Aspect> sorted(sizes.begin(), sizes.end());
  std::ranges::sort(sorted, is_smaller);
  const std::size_t count = std::min(sorted.size(), kMostBoxes);
  std::vector<Aspect> made;
  for (std::size_t i = 0; i < count; ++i) {
    const Aspect& box = sorted[(2 * i + 1) * sorted.size() / (2 * count)];
    for (const double by_height : kSpread)
      for (const double by_width : kSpread) made.push_back({box.height * by_height, box.width * by_width});
  }
  return made;
}

/// A box in cells of the level on which its side is one to two times anchors.side, or of the first or the last level.
Aspect in_cells(const Aspect& box, const AnchorOptions& anchors) {
  const double side = std::sqrt(box.height * box.width);
  int level = anchors.first_level;
  while (level < anchors.last_level && side >= 2 * anchors.side * stride_of(level)) ++level;
  return scaled(box, 1 / stride_of(level));
}

/// Boxes in cells, each side rounded to a grid of logarithms, each once.
std::vector<Aspect> candidates(std::span<const Aspect> boxes, const AnchorOptions& anchors) {
  const auto step = [](double side) { return std::llround(kCandidatesPerOctave * std::log2(side)); };
  std::set<std::pair<std::int64_t, std::int64_t>> steps;
  for (const Aspect& box : boxes) {
    const Aspect shape = in_cells(box, anchors);
    steps.emplace(step(shape.height), step(shape.width));
  }
  const auto side = [](std::int64_t s) { return std::exp2(static_cast<double>(s) / kCandidatesPerOctave); };
  std::vector<Aspect> made;
  for (const auto& [height, width] : steps) made.push_back({side(height), side(width)});
  return made;
}

/// Chooses one candidate after the other, each time the one with which the sum of the best overlaps grows most.
std::vector<Aspect> chosen_greedily(std::span<const Aspect> boxes, const AnchorOptions& like) {
  const std::vector<Aspect> all = candidates(boxes, like);
  std::vector<std::vector<double>> overlaps;  // by candidate, by box
  for (const Aspect& shape : all) {
    std::vector<double>& row = overlaps.emplace_back();
    for (const Aspect& box : boxes) row.push_back(best_level(box, shape, like).iou);
  }
  std::vector<double> most(boxes.size(), 0.0);
  std::vector<Aspect> chosen;
  while (std::ssize(chosen) < like.per_cell()) {
    std::size_t best = 0;
    double best_sum = -1;
    for (std::size_t c = 0; c < all.size(); ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < most.size(); ++i) sum += std::max(most[i], overlaps[c][i]);
      if (sum > best_sum) best = c, best_sum = sum;
    }
    chosen.push_back(all[best]);
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], overlaps[best][i]);
  }
  return chosen;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Moves each shape to the median of the boxes that overlap it most, in cells of their levels.
std::vector<Aspect> moved(std::span<const Aspect> boxes, std::vector<Aspect> shapes, const AnchorOptions& like) {
  std::vector<std::vector<double>> heights(shapes.size()), widths(shapes.size());
  for (const Aspect& box : boxes) {
    std::size_t owner = 0;
    Best best;
    for (std::size_t s = 0; s < shapes.size(); ++s)
      if (const Best one = best_level(box, shapes[s], like); one.iou > best.iou) owner = s, best = one;
    const Aspect cells = scaled(box, 1 / stride_of(best.level));
    heights[owner].push_back(cells.height);
    widths[owner].push_back(cells.width);
  }
  for (std::size_t s = 0; s < shapes.size(); ++s)
    if (!heights[s].empty()) shapes[s] = {median(heights[s]), median(widths[s])};
  return shapes;
}

Aspect rounded(const Aspect& shape) {
  const auto side = [](double value) { return std::clamp(std::round(100 * value) / 100, kLeastSide, kMostSide); };
  return {side(shape.height), side(shape.width)};
}

AnchorOptions with_shapes(AnchorOptions anchors, std::vector<Aspect> shapes) {
  anchors.shapes = std::move(shapes);
  return anchors;
}

}  // namespace

double mean_best_iou(std::span<const Aspect> sizes, const AnchorOptions& anchors) {
  const std::vector<Aspect> shapes = anchors.shapes_of_cell();
  double sum = 0;
  for (const Aspect& box : sizes) {
    double most = 0;
    for (const Aspect& shape : shapes) most = std::max(most, best_level(box, shape, anchors).iou);
    sum += most;
  }
  return sizes.empty() ? 0 : sum / static_cast<double>(sizes.size());
}

std::vector<Aspect> fitted_shapes(std::span<const Aspect> sizes, const AnchorOptions& like) {
  std::vector<Aspect> best = like.shapes_of_cell();
  if (sizes.empty()) return best;
  const std::vector<Aspect> boxes = spread(sizes);
  double best_iou = mean_best_iou(boxes, like);
  std::vector<Aspect> shapes = chosen_greedily(boxes, like);
  for (int round = 0; round < kMostRounds; ++round) {
    std::ranges::transform(shapes, shapes.begin(), rounded);
    std::ranges::sort(shapes, is_smaller);
    const double overlap = mean_best_iou(boxes, with_shapes(like, shapes));
    if (overlap > best_iou)
      best = shapes, best_iou = overlap;
    else if (round > 0)
      break;
    shapes = moved(boxes, std::move(shapes), like);
  }
  return best;
}

std::string shapes_text(std::span<const Aspect> shapes) {
  std::string text;
  for (const Aspect& shape : shapes)
    text += (text.empty() ? "" : ",") + number_text(shape.height) + "x" + number_text(shape.width);
  return text;
}

std::vector<Aspect> shapes_from_text(std::string_view text, std::int64_t count) {
  std::vector<Aspect> shapes;
  const char *at = text.data(), *end = at + text.size();
  bool good = true;
  const auto side = [&](double& value) {
    const auto [rest, error] = std::from_chars(at, end, value, std::chars_format::fixed);
    good = good && error == std::errc() && value >= kLeastSide && value <= kMostSide;
    at = rest;
  };
  const auto take = [&](char mark) { good = good && at != end && *at++ == mark; };
  while (good && std::ssize(shapes) < count) {
    Aspect& shape = shapes.emplace_back();
    if (shapes.size() > 1) take(',');
    side(shape.height), take('x'), side(shape.width);
  }
  if (good && at == end) return shapes;
  throw Error(ErrorKind::kConfig, "[anchors] expected " + std::to_string(count) +
                                      " shapes HxW, in cells of a level, with sides of " + number_text(kLeastSide) +
                                      " to " + number_text(kMostSide) + ", like 4x4,4x5.66,...; got " +
                                      std::string(text.substr(0, 60)));
}

}  // namespace voxshard
