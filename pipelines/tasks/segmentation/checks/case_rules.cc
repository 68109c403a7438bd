// The rules about one case: the grids of image and label, the values of labels and images, left and right.
//
//   find_wrong_sides(facts, set)      // LeftParotid (4) lies 81 mm to the right of RightParotid (3)
#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"
#include "pipelines/tasks/segmentation/dataset/source_case.h"
#include "pipelines/tasks/sided_classes.h"

namespace voxshard {
namespace {

/// Air is -1000 HU and water 0 by the definition of the unit; scanners store 12 bits from -1024 to 3071, more with an
/// extended scale for metal, and down to -3024 outside of the field of view.
constexpr float kAirAtMostHu = -200, kTissueAtLeastHu = 0, kLowestHu = -5000, kHighestHu = 40000;

bool same_sizes(const Geometry& a, const Geometry& b) { return a.size == b.size; }

template <std::size_t N>
bool differ(const std::array<double, N>& a, const std::array<double, N>& b) {
  for (std::size_t i = 0; i < N; ++i)
    if (!(std::abs(a[i] - b[i]) <= kGridTolerance)) return true;
  return false;
}

std::string size_text(const Geometry& g) { return joined_text(g.size.data(), 3); }

std::string numbers_text(const std::array<double, 3>& numbers) {
  return joined(numbers, ", ", [](double number) { return fixed_text(number, 2); });
}

/// Returns a trouble for each image that `is_odd` finds beside the label; `text` says what differs.
template <class IsOdd, class Text>
std::vector<Trouble> compare_grids(const CaseFacts& facts, const IsOdd& is_odd, const Text& text) {
  std::vector<Trouble> found;
  if (!facts.label) return found;
  for (const GridFacts& image : facts.images)
    if (is_odd(image.geometry, facts.label->geometry))
      found.push_back({facts.id, facts.label->file + " " + text(facts.label->geometry) + ", its image " + image.file +
                                     " " + text(image.geometry)});
  return found;
}

}  // namespace

std::vector<Trouble> find_other_shape(const CaseFacts& facts, const CheckedSet&) {
  return compare_grids(
      facts, [](const Geometry& a, const Geometry& b) { return !same_sizes(a, b); },
      [](const Geometry& g) { return "has " + size_text(g) + " voxels"; });
}

std::vector<Trouble> find_other_spacing(const CaseFacts& facts, const CheckedSet&) {
  return compare_grids(
      facts, [](const Geometry& a, const Geometry& b) { return same_sizes(a, b) && differ(a.spacing, b.spacing); },
      [](const Geometry& g) { return "has voxels of " + numbers_text(g.spacing) + " mm"; });
}

std::vector<Trouble> find_other_origin(const CaseFacts& facts, const CheckedSet&) {
  return compare_grids(
      facts, [](const Geometry& a, const Geometry& b) { return same_sizes(a, b) && differ(a.origin, b.origin); },
      [](const Geometry& g) { return "begins at " + numbers_text(g.origin) + " mm (LPS)"; });
}

std::vector<Trouble> find_other_direction(const CaseFacts& facts, const CheckedSet&) {
  return compare_grids(
      facts, [](const Geometry& a, const Geometry& b) { return same_sizes(a, b) && differ(a.direction, b.direction); },
      [](const Geometry& g) { return "has the orientation " + orientation_code(g); });
}

std::vector<Trouble> find_wrong_labels(const CaseFacts& facts, const CheckedSet& set) {
  if (facts.wrong_voxels == 0) return {};
  return {{facts.id, std::to_string(facts.wrong_voxels) + " voxels have a label outside of the classes 0 to " +
                         std::to_string(static_cast<int>(set.class_names.size()) - 1) + ", the first is " +
                         std::to_string(facts.first_wrong)}};
}

std::vector<Trouble> find_empty_label(const CaseFacts& facts, const CheckedSet&) {
  if (!facts.label_is_read || !facts.classes.empty() || facts.wrong_voxels > 0) return {};
  return {{facts.id, "the label map holds the background alone"}};
}

std::vector<Trouble> find_no_hounsfield(const CaseFacts& facts, const CheckedSet& set) {
  if (!set.is_ct || !facts.hu) return {};
  const auto [low, high] = *facts.hu;
  const std::string range = "values run from " + number_text(low) + " to " + number_text(high);
  if (low < kLowestHu || high > kHighestHu) return {{facts.id, range + ", beyond what a CT measures"}};
  if (low > kAirAtMostHu) return {{facts.id, range + ": no voxel is as low as air, -1000 HU"}};
  if (high < kTissueAtLeastHu) return {{facts.id, range + ": no voxel is as high as water, 0 HU"}};
  return {};
}

std::vector<Trouble> find_wrong_sides(const CaseFacts& facts, const CheckedSet& set) {
  std::vector<Trouble> found;
  for (const auto& [left, right] : side_pairs(set.class_names)) {
    if (!facts.classes.contains(left) || !facts.classes.contains(right)) continue;
    const double left_mm = facts.classes.at(left).centre_mm[0] - facts.classes.at(right).centre_mm[0];
    if (left_mm < 0)  // x grows to the patient's left
      found.push_back(
          {facts.id,
           class_text(set, left) + " lies " + fixed_text(-left_mm, 0) + " mm to the right of " + class_text(set, right),
           {left, right}});
  }
  return found;
}

}  // namespace voxshard
