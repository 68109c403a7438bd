#include "pipelines/tasks/segmentation/sides/side_split.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// Calls body(first label of a row, d, h) for the rows of a box, d and h counted in the box.
template <class Body>
void each_row(const TensorView& labels, const Body& body) {
  for (std::int64_t d = 0; d < labels.extent()[0]; ++d)
    for (std::int64_t h = 0; h < labels.extent()[1]; ++h) body(d * labels.strides[0] + h * labels.strides[1], d, h);
}

}  // namespace

SideSplit::SideSplit(const SideRule& rule, const Geometry& grid)
    : rule_(rule), joined_(rule.joined()), grid_(grid), sums_(static_cast<std::size_t>(joined_.classes())) {}

template <class Label>
void SideSplit::see_as(const TensorView& labels) {
  const Dims& begin = labels.box.begin;
  each_row(labels, [&](std::int64_t at, std::int64_t d, std::int64_t h) {
    const Label* row = labels.as<const Label>() + at;
    for (std::int64_t w = 0; w < labels.extent()[2]; ++w) {
      if (row[w] <= 0 || static_cast<std::size_t>(row[w]) >= sums_.size()) continue;
      Sums& sums = sums_[row[w]];
      ++sums.voxels;
      sums.index[0] += begin[2] + w, sums.index[1] += begin[1] + h, sums.index[2] += begin[0] + d;
    }
  });
}

void SideSplit::see(const TensorView& labels) {
  if (labels.dtype == DType::kU8) return see_as<std::uint8_t>(labels);
  ensure(labels.dtype == DType::kI32, "labels are u8 or i32");
  see_as<std::int32_t>(labels);
}

std::vector<double> SideSplit::planes_mm() const {
  FoundMarks found = marks_of_grid(grid_, rule_.classes);
  const double voxel_mm3 = grid_.spacing[0] * grid_.spacing[1] * grid_.spacing[2];
  for (int c = 1; c < joined_.classes(); ++c) {
    const Sums& sums = sums_[c];
    if (sums.voxels == 0 || joined_.is_joined(c)) continue;
    std::array<double, 3> centre{};
    for (std::size_t a = 0; a < 3; ++a)
      centre[a] = static_cast<double>(sums.index[a]) / static_cast<double>(sums.voxels);
    found.classes[joined_.parts(c).left] = {.centre_mm = grid_.world(centre)[0],
                                            .volume_mm3 = static_cast<double>(sums.voxels) * voxel_mm3};
  }
  std::vector<double> planes;
  for (const SidedPair& pair : rule_.pairs) planes.push_back(plane_mm(pair.marks, found));
  return planes;
}

template <class Label>
void SideSplit::split_as(const TensorView& labels, const TensorView& to) const {
  const std::vector<double> planes = planes_mm();
  std::vector<int> pair_of(sums_.size(), -1);  // by class of the model
  for (std::size_t p = 0; p < rule_.pairs.size(); ++p)
    pair_of[joined_.of(rule_.pairs[p].classes.left)] = static_cast<int>(p);
  const Dims& begin = labels.box.begin;
  each_row(labels, [&](std::int64_t at, std::int64_t d, std::int64_t h) {
    const Label* row = labels.as<const Label>() + at;
    std::int32_t* written = to.as<std::int32_t>() + d * to.strides[0] + h * to.strides[1];
    for (std::int64_t w = 0; w < labels.extent()[2]; ++w) {
      const auto label = static_cast<std::int32_t>(row[w]);
      if (label <= 0 || static_cast<std::size_t>(label) >= sums_.size()) {
        written[w] = label;
        continue;
      }
      const SidePair both = joined_.parts(label);
      written[w] = both.left;
      const int pair = pair_of[label];
      if (pair < 0) continue;
      const double x_mm = grid_.world(
          {static_cast<double>(begin[2] + w), static_cast<double>(begin[1] + h), static_cast<double>(begin[0] + d)})[0];
      if (x_mm < planes[pair]) written[w] = both.right;
    }
  });
}

void SideSplit::split(const TensorView& labels, const TensorView& to) const {
  ensure(to.dtype == DType::kI32 && to.extent() == labels.extent(), "classes of the data are i32, box by box");
  if (labels.dtype == DType::kU8) return split_as<std::uint8_t>(labels, to);
  ensure(labels.dtype == DType::kI32, "labels are u8 or i32");
  split_as<std::int32_t>(labels, to);
}

void split_sides(const SideRule& rule, const Volume& labels) {
  if (rule.empty()) return;
  SidesStep step(rule, labels.geometry);
  rewrite_slabs(LabelSlabs::of(labels.voxels), {&step});
}

}  // namespace voxshard
