// Which pairs of sided classes a training set allows to be joined, and the rule by which predictions are split again,
// from where the classes lie in its cases.
//
//   std::vector<CaseSides> cases;
//   for (...) cases.push_back(case_sides(grid, foreground, class_voxels, pairs));
//   const FittedSides fitted = fit_sides(cases, pairs, Sides::kAuto);
//   fitted.rule.pairs, fitted.kept
#pragma once

#include <cstdint>
#include <span>

#include "io/volume/geometry.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/segmentation/sides/side_rule.h"

namespace voxshard {

/// What becomes of classes that differ in their side alone. kJoin: one class, unless they lie the other way round in
/// most training cases; kAuto: one class where these cases agree on the plane between them.
enum class Sides { kKeep, kAuto, kJoin };
inline constexpr const char* kSidesNames[] = {"keep", "auto", "join"};

/// Where the classes of a training case lie.
struct CaseSides {
  FoundMarks marks;
  std::vector<std::vector<float>> x_mm;  // by class of the data: x of some voxels, sorted; of sided classes alone
};

/// Returns the places of a case from some voxels of each class, spread evenly over it.
///   rows          by class: (n, 3) i32, each row (z, y, x); may be empty
///   class_voxels  by class
CaseSides case_sides(const Geometry& grid, std::span<const Tensor> rows, std::span<const std::int64_t> class_voxels,
                     const std::vector<SidePair>& pairs);

/// A pair that stays two classes, and why.
struct KeptPair {
  SidePair classes;
  std::string why;
};

struct FittedSides {
  SideRule rule;
  std::vector<KeptPair> kept;
};

/// Fits the rule of each pair. `auto` joins a pair that at least 3 cases have both sides of, where in all of these the
/// left one lies on the left, and where the plane that the other cases tell leaves at least 99.5 % of the volume of all
/// of them, and 95 % of that of each, on its own side. Of more than 200 cases, 200 that are spread evenly are taken.
///   cases  at least one; all with the same number of classes
FittedSides fit_sides(const std::vector<CaseSides>& cases, const std::vector<SidePair>& pairs, Sides sides);

/// Returns a sentence for each pair.
///   names  by class of the data
std::vector<std::string> to_text(const FittedSides& fitted, const std::vector<std::string>& names);

}  // namespace voxshard
