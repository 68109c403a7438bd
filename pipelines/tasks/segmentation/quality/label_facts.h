// The numbers of one label map from which its flags follow: the extents that it shows, and of each class its volume,
// its centre, its area on each border, and its connected parts. The map is seen slab by slab; nothing of its size is
// held beside it.
//
//   const LabelFacts facts = label_facts(LabelSlabs::of(labels.voxels), labels.geometry, {0, 0.2}, left_bytes);
//   facts.classes[1].volume_ml, facts.classes[1].parts
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "io/volume/geometry.h"
#include "pipelines/engine/label_slabs.h"

namespace voxshard {

/// The borders of an image by the direction in the patient in which they lie.
inline constexpr const char* kBorderNames[] = {"right", "left", "front", "back", "foot", "head"};
inline constexpr std::size_t kBorders = 6;
/// How one thing lies to another along the axes of the patient (LPS): of a negative offset, and of a positive one.
inline constexpr const char* kPlaceWords[3][2] = {
    {"to the right of", "to the left of"}, {"in front of", "behind"}, {"below", "above"}};

/// A class of a label map.
struct ClassSeen {
  std::int64_t voxels = 0;
  double volume_ml = 0;
  std::array<double, 3> centre_mm{};          // mean position of its voxels, LPS; of none: 0
  std::array<double, kBorders> border_mm2{};  // of its voxels on the outermost plane of the image, by kBorderNames
  std::optional<std::int64_t> parts;          // none: they lie in more runs than memory has room for
};

struct LabelFacts {
  std::array<double, 3> view_mm{};  // extent of the image from right to left, front to back, foot to head
  std::vector<ClassSeen> classes;   // by class; [0], the background, stays empty
};

/// Returns the facts of a label map. Labels that are no class are passed over.
///   labels         all of its slabs, i32
///   grid           of the map; its axes may lie in any direction
///   least_part_ml  by class: smaller parts do not count; voxels that share a face, an edge or a corner are connected
///   most_bytes     memory for the parts, 12 bytes for each run of a class along a row; 0: no limit
LabelFacts label_facts(const LabelSlabs& labels, const Geometry& grid, const std::vector<double>& least_part_ml,
                       std::int64_t most_bytes);

}  // namespace voxshard
