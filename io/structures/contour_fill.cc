#include "io/structures/contour_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "io/files/file_error.h"
#include "io/structures/steady_index.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Coordinates are decimal text that some exporters round to 0.1 mm: in a plane that is oblique in the world, points
/// lie up to half of that times the square root of 3 on either side of it.
constexpr double kFlatMm = 0.2;
/// Planes that are closer than this, and than a quarter of a slice step, are one.
constexpr double kSamePlaneMm = 0.1, kSamePlaneSteps = 0.25;

/// Returns the first index at or after `index`, within [least, most].
std::int64_t first_from(double index, std::int64_t least, std::int64_t most) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(index), static_cast<double>(least), static_cast<double>(most)));
}

/// The least and the largest index of contours along an axis.
struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(const Contour& contour, std::size_t axis) {
    for (const auto& point : contour) least = std::min(least, point[axis]), most = std::max(most, point[axis]);
  }
  double middle() const { return (least + most) / 2; }
};

Range range_of(const Contour& contour, std::size_t axis) {
  Range range;
  range.add(contour, axis);
  return range;
}

}  // namespace

ContourFill::ContourFill(const Geometry& image, std::vector<StructureContours> structures,
                         const std::vector<std::string>& names, const std::filesystem::path& path)
    : image_(image), structures_(std::move(structures)), path_(path) {
  to_indices();
  choose_axes();
  require_flat(names);
}

void ContourFill::to_indices() {
  for (StructureContours& structure : structures_)
    for (Contour& contour : structure.contours)
      for (auto& point : contour) {
        point = image_.index_of(point);
        for (double& index : point) index = steady_index(index);
      }
}

double ContourFill::spread_mm(const Contour& contour, std::size_t axis) const {
  const Range range = range_of(contour, axis);
  return (range.most - range.least) * image_.spacing[axis];
}

/// Chooses the axis across which all contours are flat; z, then y, before x. Without one, the axis across which they
/// are flattest, for the message.
void ContourFill::choose_axes() {
  std::array<double, 3> widest{};
  for (const StructureContours& structure : structures_)
    for (const Contour& contour : structure.contours)
      for (std::size_t a = 0; a < 3; ++a) widest[a] = std::max(widest[a], spread_mm(contour, a));
  std::size_t across = 2;
  for (const std::size_t a : {1U, 0U})
    if (widest[across] > kFlatMm && widest[a] < widest[across]) across = a;
  axes_ = {across == 0 ? 1U : 0U, across == 2 ? 1U : 2U, across};
}

void ContourFill::require_flat(const std::vector<std::string>& names) const {
  for (std::size_t s = 0; s < structures_.size(); ++s)
    for (const Contour& contour : structures_[s].contours)
      if (const double spread = spread_mm(contour, axes_[2]); spread > kFlatMm)
        throw input_error(
            path_,
            "has a contour of \"" + names[s] + "\" that lies in no plane of the image's voxels: around slice " +
                fixed_text(range_of(contour, axes_[2]).middle() + 1, 1) + " it reaches over " + fixed_text(spread, 2) +
                " mm across the slices",
            "export the structures on this image, or give the image that they were drawn on", "E_OBLIQUE");
}

bool ContourFill::is_within(const Contour& contour) const {
  for (const std::size_t axis : {axes_[0], axes_[1]}) {
    const Range range = range_of(contour, axis);
    if (range.least < -0.5 || range.most > static_cast<double>(image_.size[axis]) - 0.5) return false;
  }
  return true;
}

/// Returns the nearest slice, or -1 outside of the image.
std::int64_t ContourFill::slice_of(const Plane& plane) const {
  const double slice = std::floor(plane.at + 0.5);
  return slice >= 0 && slice < static_cast<double>(image_.size[axes_[2]]) ? static_cast<std::int64_t>(slice) : -1;
}

/// Returns the planes within the image, in their order along the slices, without contours that are there twice.
std::vector<ContourFill::Plane> ContourFill::planes_of(const std::vector<Contour>& contours,
                                                       ContourCounts& counts) const {
  std::vector<std::pair<double, const Contour*>> sorted;
  for (const Contour& contour : contours) sorted.emplace_back(range_of(contour, axes_[2]).middle(), &contour);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double same = std::min(kSamePlaneMm / image_.spacing[axes_[2]], kSamePlaneSteps);
  std::vector<Plane> planes;
  std::set<Contour> seen;  // in the plane, their points sorted: the first point and the direction do not count
  for (const auto& [at, contour] : sorted) {
    if (planes.empty() || at - planes.back().at > same) planes.push_back({.at = at}), seen.clear();
    if (slice_of({.at = at}) < 0 || !is_within(*contour)) ++counts.outside;
    Contour points = *contour;
    for (auto& point : points) point[axes_[2]] = 0;
    std::sort(points.begin(), points.end());
    if (seen.insert(std::move(points)).second)
      planes.back().contours.push_back(contour);
    else
      ++counts.doubled;
  }
  std::erase_if(planes, [&](const Plane& plane) { return slice_of(plane) < 0; });
  return planes;
}

/// Leaves one plane to each slice, the nearest.
std::vector<ContourFill::Plane> ContourFill::nearest_planes(std::vector<Plane> planes, ContourCounts& counts) const {
  std::vector<Plane> nearest;
  for (Plane& plane : planes) {
    const auto slice = static_cast<double>(slice_of(plane));
    if (nearest.empty() || slice_of(nearest.back()) != slice_of(plane)) {
      if (!nearest.empty()) counts.gaps += slice_of(plane) - slice_of(nearest.back()) - 1;
      nearest.push_back(std::move(plane));
      continue;
    }
    ++counts.between;
    if (std::abs(plane.at - slice) < std::abs(nearest.back().at - slice)) nearest.back() = std::move(plane);
  }
  return nearest;
}

ContourCounts ContourFill::paint(std::size_t structure, const std::function<void(std::int64_t voxel)>& take) {
  ContourCounts counts;
  for (const Plane& plane : nearest_planes(planes_of(structures_[structure].contours, counts), counts))
    paint_slice(plane, take);
  return counts;
}

void ContourFill::spend(std::int64_t work) {
  work_ += work;
  if (work_ > kMostContourVoxels)
    throw input_error(path_, "has contours that cover more than " + std::to_string(kMostContourVoxels) + " voxels",
                      "export the structures that are needed", "E_LIMIT");
}

/// Changes the parity at the first voxel behind each crossing of a contour with a row of voxel centres. An edge crosses
/// the rows from its lower end on, its upper end excluded: where two edges meet, one of them crosses.
void ContourFill::toggle(const Contour& contour, const Window& w) {
  const auto [column, row, across] = axes_;
  for (std::size_t i = 0; i < contour.size(); ++i) {
    const auto *low = &contour[i], *high = &contour[(i + 1) % contour.size()];
    if ((*low)[row] > (*high)[row]) std::swap(low, high);
    const double y = (*low)[row], x = (*low)[column];
    const std::int64_t begin = first_from(y, w.first_row, w.first_row + w.rows);
    const std::int64_t end = first_from((*high)[row], w.first_row, w.first_row + w.rows);
    spend(end - begin);
    for (std::int64_t j = begin; j < end; ++j) {
      const double part = (static_cast<double>(j) - y) / ((*high)[row] - y);
      const double crossing = steady_index(x + part * ((*high)[column] - x));
      const std::int64_t at = first_from(crossing, w.first_column, w.first_column + w.columns) - w.first_column;
      parity_[(j - w.first_row) * (w.columns + 1) + at] ^= 1U;
    }
  }
}

void ContourFill::paint_slice(const Plane& plane, const std::function<void(std::int64_t voxel)>& take) {
  Range columns, rows;
  for (const Contour* contour : plane.contours) columns.add(*contour, axes_[0]), rows.add(*contour, axes_[1]);
  Window w{.first_column = first_from(columns.least, 0, image_.size[axes_[0]]),
           .first_row = first_from(rows.least, 0, image_.size[axes_[1]])};
  w.columns = first_from(columns.most, 0, image_.size[axes_[0]]) - w.first_column;
  w.rows = first_from(rows.most, 0, image_.size[axes_[1]]) - w.first_row;
  spend(w.rows * (w.columns + 1));
  parity_.assign(static_cast<std::size_t>(w.rows * (w.columns + 1)), 0);
  for (const Contour* contour : plane.contours) toggle(*contour, w);
  const std::array<std::int64_t, 3> stride{1, image_.size[0], image_.size[0] * image_.size[1]};
  const std::int64_t slice = slice_of(plane) * stride[axes_[2]];
  for (std::int64_t j = 0; j < w.rows; ++j) {
    const std::uint8_t* row = parity_.data() + j * (w.columns + 1);
    std::uint8_t inside = 0;
    for (std::int64_t i = 0; i < w.columns; ++i)
      if (inside ^= row[i]; inside != 0)
        take(slice + (w.first_row + j) * stride[axes_[1]] + (w.first_column + i) * stride[axes_[0]]);
  }
}

}  // namespace voxshard
