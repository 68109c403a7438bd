#include "pipelines/tasks/segmentation/quality/label_facts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "io/volume/largest_component.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr double kMlOfMm3 = 1e-3;
constexpr double kRounding = 1e-6;  // voxels

/// The borders at which the index of an axis begins and ends.
struct AxisBorders {
  std::size_t low = 0, high = 0;
  std::size_t patient_axis() const { return low / 2; }
};

/// Returns the borders of the axes x, y, z of a grid. Example: "LPS" grows from the right to the left.
std::array<AxisBorders, 3> borders_of(const Geometry& grid) {
  const std::string code = orientation_code(grid);
  std::array<AxisBorders, 3> borders;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t high = std::string_view("RLAPIS").find(code.at(a));
    borders[a] = {.low = high ^ 1, .high = high};
  }
  return borders;
}

/// Counts the voxels of the classes of a label map, in all and on its borders.
class VoxelCounts {
 public:
  VoxelCounts(const Geometry& grid, std::size_t classes) : grid_(grid), borders_(borders_of(grid)), counts_(classes) {}

  void see(const TensorView& slab) {
    const std::int64_t depth = grid_.size[2], height = grid_.size[1], width = slab.extent()[2];
    for (std::int64_t z = 0; z < slab.extent()[0]; ++z)
      for (std::int64_t y = 0; y < slab.extent()[1]; ++y) {
        const auto* row = slab.as<const std::int32_t>() + z * slab.strides[0] + y * slab.strides[1];
        const std::int64_t plane = slab.box.begin[0] + z, line = slab.box.begin[1] + y;
        for (std::int64_t x = 0; x < width; ++x)
          if (Count* of = count_of(row[x])) ++of->voxels, of->sums[0] += x, of->sums[1] += line, of->sums[2] += plane;
        if (plane == 0) add_row(row, width, borders_[2].low);
        if (plane == depth - 1) add_row(row, width, borders_[2].high);
        if (line == 0) add_row(row, width, borders_[1].low);
        if (line == height - 1) add_row(row, width, borders_[1].high);
        if (width == 0) continue;
        add_row(row, 1, borders_[0].low), add_row(row + width - 1, 1, borders_[0].high);
      }
  }

  LabelFacts facts() const {
    LabelFacts facts;
    const double voxel_mm3 = grid_.spacing[0] * grid_.spacing[1] * grid_.spacing[2];
    for (const Count& one : counts_) {
      ClassSeen& of = facts.classes.emplace_back();
      of.voxels = one.voxels, of.volume_ml = static_cast<double>(one.voxels) * voxel_mm3 * kMlOfMm3;
      if (one.voxels > 0) of.centre_mm = centre_of(one);
      for (std::size_t a = 0; a < 3; ++a)
        for (const std::size_t border : {borders_[a].low, borders_[a].high})
          of.border_mm2[border] = static_cast<double>(one.border[border]) * voxel_mm3 / grid_.spacing[a];
    }
    for (std::size_t a = 0; a < 3; ++a)
      facts.view_mm[borders_[a].patient_axis()] = static_cast<double>(grid_.size[a]) * grid_.spacing[a];
    return facts;
  }

 private:
  struct Count {
    std::int64_t voxels = 0;
    std::array<std::int64_t, 3> sums{};  // of the indices x, y, z of its voxels
    std::array<std::int64_t, kBorders> border{};
  };

  std::array<double, 3> centre_of(const Count& count) const {
    std::array<double, 3> mean{};
    for (std::size_t a = 0; a < 3; ++a)
      mean[a] = static_cast<double>(count.sums[a]) / static_cast<double>(count.voxels);
    return grid_.world(mean);
  }

  /// Returns the count of a class; null for the background and for what is no class.
  Count* count_of(std::int32_t label) {
    return label > 0 && static_cast<std::size_t>(label) < counts_.size() ? &counts_[label] : nullptr;
  }
  void add_row(const std::int32_t* row, std::int64_t count, std::size_t border) {
    for (std::int64_t x = 0; x < count; ++x)
      if (Count* of = count_of(row[x])) ++of->border[border];
  }

  Geometry grid_;
  std::array<AxisBorders, 3> borders_;
  std::vector<Count> counts_;  // by class
};

/// The parts of the classes, as long as there is memory for them.
class PartCounts {
 public:
  PartCounts(std::size_t classes, std::int64_t most_bytes) : components_(std::in_place, all_of(classes), most_bytes) {}

  void see(const TensorView& slab) {
    if (!components_) return;
    try {
      components_->see(slab);
    } catch (const Error& error) {
      if (error.code() != std::string_view("E_BUDGET")) throw;
      components_.reset();
    }
  }
  void seen() {
    if (components_) components_->seen();
  }
  std::optional<std::int64_t> of(std::size_t label, std::int64_t least_voxels) {
    return components_ ? std::optional(components_->parts(label, least_voxels)) : std::nullopt;
  }

 private:
  static std::vector<char> all_of(std::size_t classes) {
    std::vector<char> all(classes, 1);
    if (!all.empty()) all[0] = 0;
    return all;
  }
  std::optional<LargestComponents> components_;
};

/// Returns the least number of voxels of a part that counts: one more than the class has where no part of it does.
std::int64_t least_voxels(double least_ml, const ClassSeen& of) {
  if (!(least_ml > 0)) return 1;
  const auto all = static_cast<double>(of.voxels);
  const double least = least_ml / of.volume_ml * all;  // beyond any whole number where voxels hardly have a volume
  if (!(least <= all + 1)) return of.voxels + 1;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(least - kRounding)));
}

}  // namespace

LabelFacts label_facts(const LabelSlabs& labels, const Geometry& grid, const std::vector<double>& least_part_ml,
                       std::int64_t most_bytes) {
  VoxelCounts voxels(grid, least_part_ml.size());
  PartCounts parts(least_part_ml.size(), most_bytes);
  labels.for_each([&](const TensorView& slab) { voxels.see(slab), parts.see(slab); });
  parts.seen();
  LabelFacts facts = voxels.facts();
  for (std::size_t c = 1; c < facts.classes.size(); ++c) {
    ClassSeen& of = facts.classes[c];
    if (of.voxels == 0) {
      of.parts = 0;
      continue;
    }
    of.parts = parts.of(c, least_voxels(least_part_ml[c], of));
  }
  return facts;
}

}  // namespace voxshard
