// The rules of `check`: one row each, with a stable code, what it finds, what to do next, and a function that finds it
// from the facts about the cases. A rule looks at one case or at all cases; no rule reads a file.
//
//   const std::vector<Finding> found = apply_rules(check_rules(), set);
//   found[0].code;        // "W_VOLUME"
//
// How the thresholds were chosen: each case of a set of 40 head and neck CTs with 5 to 7 classes was judged by the
// others. kMostScore is the smallest whole number of deviations beyond which at most 3 findings remain (2: parotids of
// one patient with contrast agent). In place, borders had 1.51 to 2.37 times the steps of shifted ones, and no shift
// had larger ones; the limits lie between these numbers and those of labels without a relation to their image, 1. The
// largest steps lay -0.13 to 0.36 voxels from the place of the labels, within 0.34 voxels of the median of the others.
#pragma once

#include <string>
#include <vector>

#include "io/datasets/dataset.h"
#include "pipelines/tasks/segmentation/checks/case_facts.h"

namespace voxshard {

/// Deviations (leave_one_out.h) from the other cases beyond which a class is unusual.
inline constexpr double kMostScore = 4;
/// The least deviations that count, as kLogVolumeFloor: of the natural logarithm of the spread, and of mean HU.
inline constexpr double kLogSpreadFloor = 0.1, kMeanHuFloor = 20;
/// Labels count as shifted when the steps at their borders become larger by this factor elsewhere.
inline constexpr double kShiftGain = 1.05;
/// Shifts by less are no findings where too few other cases show where borders usually lie: contours may stop a voxel
/// inside or outside of an edge.
inline constexpr int kLeastShiftVoxels = 2;
/// The least deviation that counts of the place of the largest steps: kMostScore of them are half a voxel.
inline constexpr double kPeakFloorVoxels = 0.125;
/// Labels count as fitting when the excess of their contrast over 1 is this share of the usual one of the set.
inline constexpr double kFitShare = 0.4;

/// The facts of all cases, and the description of the data set.
struct CheckedSet {
  std::vector<std::string> class_names;  // [0] is the background
  bool is_ct = false;                    // true: the first channel is called CT
  std::vector<CaseFacts> cases;
  std::vector<Split> splits;
};

/// The finding of a rule, about one case or two.
struct Trouble {
  std::string id;
  std::string what;               // without a full stop
  std::vector<int> classes = {};  // that are concerned
  std::string other = {};         // the id of a second case
};

/// How slices show a finding: not at all, by the labels on the voxels of their image, as a training would lay them, or
/// beside them by an outline where the header of the label map places them.
enum class Picture : std::uint8_t { kNone, kOnVoxels, kInTheWorld };

struct CheckRule {
  const char* code;
  const char* finds;  // a clause for the list of rules
  const char* next;   // what to do about a finding
  bool deep;          // true: needs facts of a deep check
  Picture picture;    // how slices of the case show it
  std::vector<Trouble> (*of_case)(const CaseFacts& facts, const CheckedSet& set) = nullptr;
  std::vector<Trouble> (*of_set)(const CheckedSet& set) = nullptr;  // one of the two
};

struct Finding {
  std::string code;
  std::string id;
  std::string what;
  std::string next;
  std::vector<int> classes = {};
  std::string other = {};
  Picture shown = Picture::kNone;
  std::string picture = {};  // name of the file in the output folder; empty: none
};

const std::vector<CheckRule>& check_rules();

/// Returns the findings, by case, then in the order of the rules. The problems of files in the facts are the first
/// findings of a case.
std::vector<Finding> apply_rules(const std::vector<CheckRule>& rules, const CheckedSet& set);

/// True for codes that begin with E_: such a case cannot be trained on.
bool excludes(const Finding& finding);

/// "Mandible (5)".
std::string class_text(const CheckedSet& set, int label_class);

// The functions of the rows.
std::vector<Trouble> find_other_shape(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_other_spacing(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_other_origin(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_other_direction(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_wrong_labels(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_empty_label(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_no_hounsfield(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_wrong_sides(const CaseFacts& facts, const CheckedSet& set);
std::vector<Trouble> find_shifts(const CheckedSet& set);
std::vector<Trouble> find_misfits(const CheckedSet& set);
std::vector<Trouble> find_doubles(const CheckedSet& set);
std::vector<Trouble> find_shared_patients(const CheckedSet& set);
std::vector<Trouble> find_odd_volumes(const CheckedSet& set);
std::vector<Trouble> find_odd_extents(const CheckedSet& set);
std::vector<Trouble> find_odd_intensities(const CheckedSet& set);
std::vector<Trouble> find_odd_places(const CheckedSet& set);
std::vector<Trouble> find_odd_orders(const CheckedSet& set);

}  // namespace voxshard
