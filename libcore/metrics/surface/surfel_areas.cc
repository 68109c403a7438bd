#include "libcore/metrics/surface/surfel_areas.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

namespace voxshard {
namespace {

using Point = std::array<double, 3>;
using Corner = std::array<int, 3>;  // 0 or 1 along D, H, W

constexpr int kCorners = 8;
Corner corner(int number) { return {number >> 2 & 1, number >> 1 & 1, number & 1}; }

int differences(int a, int b) { return std::popcount(static_cast<unsigned>(a ^ b)); }

/// A cut through an edge of the cube, from a corner inside to one outside.
struct Cut {
  int inside, outside;

  Point middle() const {
    Point p;
    for (std::size_t x = 0; x < 3; ++x) p[x] = (corner(inside)[x] + corner(outside)[x]) / 2.0;
    return p;
  }
};

/// The corners of a code's smaller side in groups that edges of the cube connect.
std::vector<std::vector<int>> groups_of(unsigned code) {
  if (std::popcount(code) > 4) code = ~code & 0xffU;
  std::vector<int> left;
  for (int c = 0; c < kCorners; ++c)
    if (code >> (kCorners - 1 - c) & 1U) left.push_back(c);
  std::vector<std::vector<int>> groups;
  while (!left.empty()) {
    std::vector<int>& group = groups.emplace_back(1, left.front());
    left.erase(left.begin());
    for (std::size_t g = 0; g < group.size(); ++g)
      for (std::size_t i = 0; i < left.size();) {
        if (differences(group[g], left[i]) != 1)
          ++i;
        else
          group.push_back(left[i]), left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      }
  }
  return groups;
}

/// True when both cuts lie on one face of the cube and the surface runs from one to the other on it. Where four cuts
/// lie on a face, with its inner corners on a diagonal, it runs around each of these corners.
bool joined(const std::vector<Cut>& cuts, const Cut& a, const Cut& b) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      const auto lies = [&](const Cut& c) { return corner(c.inside)[axis] == side && corner(c.outside)[axis] == side; };
      if (!lies(a) || !lies(b)) continue;
      int on_face = 0;
      for (const Cut& c : cuts) on_face += lies(c) ? 1 : 0;
      if (on_face == 2 || a.inside == b.inside) return true;
    }
  return false;
}

/// The middles of the cuts around a group, in the order of the closed line that they form.
std::vector<Point> line_around(const std::vector<int>& group) {
  std::vector<Cut> cuts;
  for (const int inside : group)
    for (const int axis : {1, 2, 4}) {
      const int outside = inside ^ axis;
      if (std::find(group.begin(), group.end(), outside) == group.end()) cuts.push_back({inside, outside});
    }
  std::vector<Point> line = {cuts[0].middle()};
  std::vector<char> used(cuts.size(), 0);
  used[0] = 1;
  for (std::size_t at = 0; line.size() < cuts.size();) {
    std::size_t next = 0;
    while (next < cuts.size() && (used[next] || !joined(cuts, cuts[at], cuts[next]))) ++next;
    ensure(next < cuts.size(), "the cuts around a group of corners form one line");
    used[next] = 1, at = next;
    line.push_back(cuts[next].middle());
  }
  return line;
}

/// Half the cross product of two sides of a triangle: its areas as seen along D, H, W.
Point seen_areas(const Point& a, const Point& b, const Point& c) {
  Point u, v, areas;
  for (std::size_t x = 0; x < 3; ++x) u[x] = b[x] - a[x], v[x] = c[x] - a[x];
  for (std::size_t x = 0; x < 3; ++x) {
    const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
    areas[x] = (u[y] * v[z] - u[z] * v[y]) / 2;
  }
  return areas;
}

double area(const std::vector<Point>& triangles, const GridSpacing& spacing) {
  double sum = 0;
  for (const Point& t : triangles)
    sum += std::hypot(t[0] * spacing[1] * spacing[2], t[1] * spacing[0] * spacing[2], t[2] * spacing[0] * spacing[1]);
  return sum;
}

/// The triangulation of largest area, each triangle by its seen areas. The side from the first to the last point
/// belongs to one triangle, whose third corner is tried in turn; at most six points, so 14 triangulations.
std::vector<Point> largest_triangulation(std::span<const Point> line) {
  std::vector<Point> best;
  for (std::size_t k = 1; k + 1 < line.size(); ++k) {
    std::vector<Point> tried = largest_triangulation(line.first(k + 1));
    const std::vector<Point> rest = largest_triangulation(line.subspan(k));
    tried.insert(tried.end(), rest.begin(), rest.end());
    tried.push_back(seen_areas(line.front(), line[k], line.back()));
    if (area(tried, {1, 1, 1}) > area(best, {1, 1, 1})) best = std::move(tried);
  }
  return best;
}

/// The triangles of all codes.
const std::array<std::vector<Point>, 256>& triangles_by_code() {
  static const auto kTriangles = [] {
    std::array<std::vector<Point>, 256> table;
    for (unsigned code = 1; code < 255; ++code)
      for (const std::vector<int>& group : groups_of(code))
        for (const Point& t : largest_triangulation(line_around(group))) table[code].push_back(t);
    return table;
  }();
  return kTriangles;
}

}  // namespace

SurfelAreas surfel_areas(const GridSpacing& spacing_mm) {
  SurfelAreas areas{};
  for (std::size_t code = 0; code < areas.size(); ++code) areas[code] = area(triangles_by_code()[code], spacing_mm);
  return areas;
}

}  // namespace voxshard
