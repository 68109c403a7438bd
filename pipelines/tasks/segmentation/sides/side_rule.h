// The rule by which a joined class is split into left and right: a plane across the patient's x axis (LPS, which grows
// to the left), placed by marks that the volume itself shows, the centres of other predicted classes. Training writes
// the rule down in each checkpoint; `predict` and validation read it.
//
//   SideRule rule = side_rule_of(run.preparation);            // empty: nothing is joined
//   plane_mm(rule.pairs[0].marks, found)                      // x of the plane between the two
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/geometry.h"
#include "pipelines/tasks/segmentation/sides/joined_classes.h"

namespace voxshard {

/// The key of a run's preparation that lists the classes of its model, where they are not those of the data.
inline constexpr const char* kTrainedClasses = "trained_classes";

/// A mark that tells where the plane lies.
struct SideMark {
  int of = 0;               // the class of the data whose centre it is; 0: the middle of the volume
  double offset_mm = 0;     // from the mark to the plane, along x
  double deviation_mm = 0;  // of the offset over the training cases
  double usual_mm3 = 0;     // the median volume of the class; 0 for the middle of the volume
  friend bool operator==(const SideMark&, const SideMark&) = default;
};

struct SidedPair {
  SidePair classes;                           // of the data
  std::vector<SideMark> marks;                // classes, the steadiest first, and the middle of the volume at the end
  int cases = 0;                              // training cases that have both sides
  std::optional<double> own_side_share = {};  // of their volume in these, each judged by the others; none: of one case
  friend bool operator==(const SidedPair&, const SidedPair&) = default;
};

struct SideRule {
  int classes = 0;  // of the data, with the background
  std::vector<SidedPair> pairs;

  bool empty() const { return pairs.empty(); }
  JoinedClasses joined() const;
  friend bool operator==(const SideRule&, const SideRule&) = default;
};

/// The place of a class in one volume.
struct ClassPlace {
  double centre_mm = 0;  // x, LPS
  double volume_mm3 = 0;
};

/// The marks of one volume.
struct FoundMarks {
  double middle_mm = 0;                            // x of the middle of the volume, LPS
  std::vector<std::optional<ClassPlace>> classes;  // by class of the data; none: no voxel, or a class that is joined
};

/// Returns the marks of a volume in which no class was seen yet.
FoundMarks marks_of_grid(const Geometry& grid, int classes);

/// Returns x (mm, LPS) of the plane: the median of what up to three classes tell, the steadiest of those with at least
/// a tenth of their usual volume here, and no class of more than twice the deviation of the steadiest and 1 mm; where
/// no class is there, what the middle of the volume tells. What lies at or beyond the plane is left.
///   marks  of SidedPair
double plane_mm(const std::vector<SideMark>& marks, const FoundMarks& found);

/// Returns "LeftParotid and RightParotid".
std::string pair_text(const SidePair& pair, const std::vector<std::string>& names);
/// Returns "the centres of Brainstem, Mandible": what places the plane where all marks are there.
std::string marks_text(const SidedPair& pair, const std::vector<std::string>& names);
/// Returns the line that `predict` logs of a pair.
std::string sided_text(const SidedPair& pair, const std::vector<std::string>& names);

/// Returns the list of the model's classes with their names; those that are joined have their rule.
nlohmann::ordered_json to_json(const SideRule& rule, const std::vector<std::string>& names);
/// Returns the rule of a run from its preparation; an empty one where nothing is joined. Errors: kCheckpoint for a list
/// that to_json() does not write.
SideRule side_rule_of(const nlohmann::json& preparation);

}  // namespace voxshard
