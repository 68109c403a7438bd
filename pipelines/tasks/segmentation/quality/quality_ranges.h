// What is usual of the cases that a run was trained on: the ranges against which `predict` holds each label map and its
// image. They are fitted once when training begins, and stand in the preparation of each checkpoint and in plans.json.
//
//   const QualityRanges ranges = fit_ranges(facts, 8);
//   preparation[kUsualCases] = to_json(ranges);
//   quality_ranges_of(run.preparation, 8)             // none: a run of before
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "pipelines/tasks/segmentation/quality/intensity_quantiles.h"
#include "pipelines/tasks/segmentation/quality/label_facts.h"
#include "pipelines/tasks/segmentation/quality/leave_one_out.h"

namespace voxshard {

/// Deviations beyond which a volume is flagged. `check` lists what lies beyond 4, for a person who looks through a data
/// set once; a flag interrupts somebody at each case.
inline constexpr double kMostFlagScore = 6;
/// The same of the place of a class. Held against 40 head and neck CTs, by true labels, the classes of 16 others lie at
/// most 2.5 deviations from their usual places; those of 12 lie beyond 5 when head and foot are swapped, and of all 16
/// when the parotids are (tests: QualityReal).
inline constexpr double kMostPlaceScore = 5;
/// The same of a distance of intensities. Held against 40 head and neck CTs none of 16 others lies beyond; all do with
/// noise of 100 HU, and shifted by 150 HU up and down 17 of 32 (tests: QualityReal).
inline constexpr double kMostDistanceScore = 3;
/// Parts of a class below this share of its usual volume do not count.
inline constexpr double kLeastPartShare = 0.02;

/// The facts of one case.
struct QualityFacts {
  LabelFacts labels;
  std::vector<Quantiles> channels;                 // of the prepared image
  std::optional<std::vector<int>> annotated = {};  // of a training case: the annotated classes; none: all of them
};

/// What is usual of a class in the training cases that have it.
struct ClassRange {
  std::int64_t cases = 0;  // training cases that have it
  bool always = false;     // so many training cases as are needed were annotated with it, and all of them have it
  Usual log_ml;            // of the natural logarithm of its volume in ml
  std::optional<std::array<Usual, 3>> place_mm;  // of class_place(), by axis; none: a run of before, or of no others
  std::array<double, kBorders> border_mm2{};     // its largest area on each border of the image
  std::optional<std::int64_t> parts;             // the most that one case has; none: they were not counted
  double least_part_ml = 0;                      // of a part that counts
  /// False for a class of too few cases: it is not judged.
  bool enough() const { return cases >= static_cast<std::int64_t>(kFewestOthers); }
  friend bool operator==(const ClassRange&, const ClassRange&) = default;
};

/// What is usual of the intensities of a channel.
struct IntensityRange {
  Quantiles usual;            // the median over the training cases, quantile by quantile
  double usual_distance = 0;  // median of the distances of the training cases, each from the others; > 0
  double most_distance = 0;   // usual_distance + kMostDistanceScore deviations
  friend bool operator==(const IntensityRange&, const IntensityRange&) = default;
};

struct QualityRanges {
  std::int64_t cases = 0;  // training cases that were read
  std::array<double, 3> least_view_mm{};
  std::vector<ClassRange> classes;       // by class of the data; [0] stays empty
  std::vector<IntensityRange> channels;  // without quantiles where training cases have none or one value: not judged
  /// False for too few cases: nothing is judged.
  bool enough() const { return cases >= static_cast<std::int64_t>(kFewestOthers); }
  /// Returns the classes that all training cases have: places are told by them.
  std::vector<std::size_t> in_all_cases() const;
  friend bool operator==(const QualityRanges&, const QualityRanges&) = default;
};

/// Returns the place of a class among the others (mm, LPS): from the median of their centres, axis by axis, to its own
/// centre. None where it or one of the others has no voxel, and where there are no others.
///   others  classes; the class itself is passed over
std::optional<std::array<double, 3>> class_place(const LabelFacts& facts, std::size_t label_class,
                                                 const std::vector<std::size_t>& others);

/// Returns the least volume of a part that counts, by class, from the volumes of the class in the cases that have it.
std::vector<double> least_part_ml(const std::vector<std::vector<double>>& volumes_ml);

/// Fits the ranges.
///   cases          all with the same classes and channels
///   least_part_ml  by class, as the facts were taken with
QualityRanges fit_ranges(const std::vector<QualityFacts>& cases, const std::vector<double>& least_part_ml);

nlohmann::ordered_json to_json(const QualityRanges& ranges);
/// Returns the ranges of a run from its preparation; none where it holds none. Errors: kCheckpoint for what to_json()
/// does not write, or for other numbers of classes or channels.
std::optional<QualityRanges> quality_ranges_of(const nlohmann::json& preparation, std::size_t classes,
                                               std::size_t channels);

}  // namespace voxshard
