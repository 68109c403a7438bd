#include "pipelines/tasks/segmentation/sides/placed_pairs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "pipelines/tasks/segmentation/sides/side_rule.h"

namespace voxshard {
namespace {

constexpr std::size_t kFewestOfBoth = 5;
constexpr double kMostApart = 0.25;  // of the distance between the two
constexpr double kMostLarger = 1.5;  // of the two volumes
constexpr double kMostCasesOff = 0.1;

/// How far two classes of a case are from mirroring each other: 0 for mirror images, over 1 for others.
double unlikeness(const CasePlaces& item, const CasePlaces::Place& left, const CasePlaces::Place& right) {
  const double apart = left.centre_mm[0] - right.centre_mm[0];
  double most = std::abs((left.centre_mm[0] + right.centre_mm[0]) / 2 - item.middle_mm);
  for (std::size_t axis = 1; axis < 3; ++axis)
    most = std::max(most, std::abs(left.centre_mm[axis] - right.centre_mm[axis]));
  const double larger = std::abs(std::log(left.volume_mm3 / right.volume_mm3));
  return std::max(most / (kMostApart * apart), larger / std::log(kMostLarger));
}

struct Candidate {
  SidePair pair;
  double unlikeness = 0;  // the mean over the cases that have both
};

/// Returns the pair of two classes, the left one by where they lie; nothing where they are none.
std::optional<Candidate> candidate(const std::vector<CasePlaces>& cases, std::size_t a, std::size_t b) {
  std::size_t both = 0, one = 0, a_is_left = 0, off = 0;
  double sum = 0;
  for (const CasePlaces& item : cases) {
    const auto &of_a = item.classes.at(a), &of_b = item.classes.at(b);
    one += of_a.has_value() != of_b.has_value();
    if (!of_a || !of_b) continue;
    ++both;
    const bool left = of_a->centre_mm[0] > of_b->centre_mm[0];
    a_is_left += left;
    if (of_a->centre_mm[0] == of_b->centre_mm[0]) return std::nullopt;
    const double here = left ? unlikeness(item, *of_a, *of_b) : unlikeness(item, *of_b, *of_a);
    off += here > 1, sum += here;
  }
  if (both < kFewestOfBoth || one > both || (a_is_left != 0 && a_is_left != both)) return std::nullopt;
  if (static_cast<double>(off) > kMostCasesOff * static_cast<double>(both)) return std::nullopt;
  const int first = static_cast<int>(a), second = static_cast<int>(b);
  return Candidate{a_is_left == 0 ? SidePair{second, first} : SidePair{first, second}, sum / static_cast<double>(both)};
}

}  // namespace

CasePlaces case_places(const Geometry& grid, std::span<const Tensor> rows, std::span<const std::int64_t> class_voxels) {
  CasePlaces places{.middle_mm = marks_of_grid(grid, 0).middle_mm,
                    .classes = std::vector<std::optional<CasePlaces::Place>>(rows.size())};
  const double voxel_mm3 = grid.spacing[0] * grid.spacing[1] * grid.spacing[2];
  for (std::size_t c = 1; c < rows.size(); ++c) {
    const std::int64_t count = rows[c].empty() ? 0 : rows[c].shape()[0];
    if (count == 0) continue;
    std::array<double, 3> sum{};  // of the indices along x, y, z
    for (std::int64_t row = 0; row < count; ++row)
      for (std::size_t a = 0; a < 3; ++a) sum[a] += rows[c].as<std::int32_t>()[3 * row + 2 - static_cast<int>(a)];
    for (double& index : sum) index /= static_cast<double>(count);
    places.classes[c] = {.centre_mm = grid.world(sum), .volume_mm3 = static_cast<double>(class_voxels[c]) * voxel_mm3};
  }
  return places;
}

std::vector<SidePair> pairs_by_place(const std::vector<CasePlaces>& cases, const std::vector<SidePair>& named) {
  if (cases.empty()) return {};
  std::set<int> taken;
  for (const SidePair& pair : named) taken.insert({pair.left, pair.right});
  std::vector<Candidate> candidates;
  const std::size_t classes = cases.front().classes.size();
  for (std::size_t a = 1; a < classes; ++a)
    for (std::size_t b = a + 1; b < classes; ++b)
      if (!taken.contains(static_cast<int>(a)) && !taken.contains(static_cast<int>(b)))
        if (const auto found = candidate(cases, a, b)) candidates.push_back(*found);
  std::ranges::stable_sort(candidates, {}, &Candidate::unlikeness);
  std::vector<SidePair> pairs;
  for (const Candidate& one : candidates) {
    if (taken.contains(one.pair.left) || taken.contains(one.pair.right)) continue;
    taken.insert({one.pair.left, one.pair.right});
    pairs.push_back(one.pair);
  }
  return pairs;
}

}  // namespace voxshard
