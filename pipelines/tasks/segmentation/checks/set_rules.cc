// The rules that compare files of different cases, and labels with their images by what is usual in the set.
//
//   find_doubles(set)      // case_7 has the image of case_3
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "libcore/base/text.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"
#include "pipelines/tasks/segmentation/checks/patients.h"
#include "pipelines/tasks/segmentation/quality/leave_one_out.h"

namespace voxshard {
namespace {

/// The least contrast of labels that fit, where too few other cases show what is usual.
constexpr double kUsualContrast = 1.35;

/// Returns the contrast of each case's borders, and the least that a case with this contrast should have.
struct Contrasts {
  explicit Contrasts(const CheckedSet& set)
      : values([&] {
          std::vector<double> all;
          for (const CaseFacts& facts : set.cases)
            if (facts.fit) all.push_back(facts.fit->contrast - 1);
          return all;
        }()) {}
  bool enough() const { return values.others() >= kFewestOthers; }
  double least(const BorderFit& fit) const {
    return enough() ? 1 + kFitShare * std::max(0.0, values.median_without(fit.contrast - 1)) : kUsualContrast;
  }
  LeaveOneOut values;
};

bool is_shifted(const BorderFit& fit, const Contrasts& contrasts) {
  const bool is_far =
      std::any_of(fit.shift.begin(), fit.shift.end(), [](int voxels) { return std::abs(voxels) >= kLeastShiftVoxels; });
  return is_far && fit.best_contrast >= kShiftGain * fit.contrast && fit.best_contrast >= contrasts.least(fit);
}

/// The places of the largest steps along each axis, of all cases that have one.
struct Peaks {
  explicit Peaks(const CheckedSet& set)
      : values{LeaveOneOut(along(set, 0)), LeaveOneOut(along(set, 1)), LeaveOneOut(along(set, 2))} {}
  static std::vector<double> along(const CheckedSet& set, std::size_t axis) {
    std::vector<double> all;
    for (const CaseFacts& facts : set.cases)
      if (facts.fit && facts.fit->peak[axis]) all.push_back(*facts.fit->peak[axis]);
    return all;
  }
  /// True when the place lies elsewhere than in the other cases along an axis.
  bool are_unusual(const BorderFit& fit) const {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (fit.peak[axis])
        if (const auto score = values[axis].score(*fit.peak[axis], kPeakFloorVoxels);
            score && std::abs(*score) > kMostScore)
          return true;
    return false;
  }
  /// "1.0, 0.0, -0.1": what the labels are to be moved by, to lie as those of the other cases.
  std::string moves_text(const BorderFit& fit) const {
    std::string text;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double peak = fit.peak[axis].value_or(0);
      const bool compared = fit.peak[axis] && values[axis].others() > 0;
      const double move = compared ? peak - values[axis].median_without(peak) : 0;
      text += (axis > 0 ? ", " : "") + fixed_text(std::abs(move) < 0.05 ? 0 : move, 1);
    }
    return text;
  }
  std::array<LeaveOneOut, 3> values;
};

/// True for labels that lie by half a voxel or more beside where those of the other cases lie, but fit there.
bool is_beside(const BorderFit& fit, const Contrasts& contrasts, const Peaks& peaks) {
  return contrasts.enough() && fit.best_contrast >= contrasts.least(fit) && peaks.are_unusual(fit);
}

std::string part_text(const CaseFacts& facts, const CaseFacts& other) {
  return facts.part == other.part ? "" : " (" + facts.part + " and " + other.part + ")";
}

/// Tells the patients of cases: by the headers where these name one, else by the ids.
class Patients {
 public:
  explicit Patients(const CheckedSet& set) {
    for (const CaseFacts& facts : set.cases)
      if (facts.patient != 0) of_case_[facts.id] = facts.patient;
  }
  /// Returns what is the same for all cases of a patient. What headers tell has no name: a number is no part of an id.
  std::pair<int, std::string> of(const std::string& id) const {
    const auto at = of_case_.find(id);
    return at != of_case_.end() ? std::pair(at->second, std::string()) : std::pair(0, patient_of(id));
  }

 private:
  std::map<std::string, int> of_case_;
};

/// Adds a trouble for each pair of a patient's cases, one of `first` and one of `second`.
void compare_patients(const Patients& patients, const std::vector<std::string>& first,
                      const std::vector<std::string>& second, const std::string& where, std::vector<Trouble>& found) {
  std::map<std::pair<int, std::string>, std::string> by_patient;
  for (const std::string& id : first) by_patient.emplace(patients.of(id), id);
  for (const std::string& id : second)
    if (const auto at = by_patient.find(patients.of(id)); at != by_patient.end())
      found.push_back({id,
                       (at->first.first != 0 ? "its patient, by the patient ids of the headers, is in "
                                             : "the patient " + at->first.second + " is in ") +
                           where,
                       {},
                       at->second});
}

}  // namespace

std::vector<Trouble> find_shifts(const CheckedSet& set) {
  std::vector<Trouble> found;
  if (!set.is_ct) return found;
  const Contrasts contrasts(set);
  const Peaks peaks(set);
  for (const CaseFacts& facts : set.cases) {
    if (!facts.fit) continue;
    const BorderFit& fit = *facts.fit;
    if (is_shifted(fit, contrasts))
      found.push_back({facts.id, "the labels fit best when they are moved by " + std::to_string(fit.shift[0]) + ", " +
                                     std::to_string(fit.shift[1]) + ", " + std::to_string(fit.shift[2]) +
                                     " voxels along x, y, z: the steps of HU at their borders are then " +
                                     fixed_text(fit.best_contrast / fit.contrast, 2) + " times as large"});
    else if (is_beside(fit, contrasts, peaks))
      found.push_back({facts.id, "the labels lie as those of the other cases when they are moved by " +
                                     peaks.moves_text(fit) +
                                     " voxels along x, y, z, to where the steps of HU at their borders are largest"});
  }
  return found;
}

std::vector<Trouble> find_misfits(const CheckedSet& set) {
  std::vector<Trouble> found;
  const Contrasts contrasts(set);
  if (!set.is_ct || !contrasts.enough()) return found;
  const Peaks peaks(set);
  for (const CaseFacts& facts : set.cases) {
    if (!facts.fit || facts.fit->contrast >= contrasts.least(*facts.fit)) continue;
    if (is_shifted(*facts.fit, contrasts) || is_beside(*facts.fit, contrasts, peaks)) continue;
    const double usual = 1 + contrasts.values.median_without(facts.fit->contrast - 1);
    found.push_back({facts.id, "the steps of HU at the borders of the labels are " +
                                   fixed_text(facts.fit->contrast, 2) +
                                   " times those some voxels beside them; usual in this set: " + fixed_text(usual, 2)});
  }
  return found;
}

std::vector<Trouble> find_doubles(const CheckedSet& set) {
  std::vector<Trouble> found;
  std::map<std::vector<std::string>, const CaseFacts*> images;
  std::map<std::string, const CaseFacts*> labels;
  for (const CaseFacts& facts : set.cases) {
    const CaseFacts *image = &facts, *label = &facts;
    if (!facts.image_hashes.empty()) image = images.emplace(facts.image_hashes, &facts).first->second;
    if (!facts.classes.empty()) label = labels.emplace(facts.label_hash, &facts).first->second;
    if (image == &facts && label == &facts) continue;
    const CaseFacts& other = image != &facts ? *image : *label;
    const std::string both = image != &facts && image == label ? "image and the label map"
                             : image != &facts                 ? "image"
                                                               : "label map";
    found.push_back({facts.id, "the " + both + " of " + other.id + " again" + part_text(facts, other), {}, other.id});
  }
  return found;
}

std::vector<Trouble> find_shared_patients(const CheckedSet& set) {
  std::vector<Trouble> found;
  const Patients patients(set);
  std::map<std::string, std::vector<std::string>> parts;
  for (const CaseFacts& facts : set.cases) parts[facts.part].push_back(facts.id);
  compare_patients(patients, parts["training"], parts["test"], "the training part and in the test part", found);
  for (std::size_t fold = 0; fold < set.splits.size(); ++fold)
    compare_patients(patients, set.splits[fold].train, set.splits[fold].val,
                     "the training and the validation part of fold " + std::to_string(fold) + " of splits_final.json",
                     found);
  return found;
}

}  // namespace voxshard
