// Free-response ROC of detections: the sensitivity at 1/8, 1/4, 1/2, 1, 2, 4 and 8 false positives per image, and the
// mean of these seven numbers, the competition performance metric (CPM) of LUNA16.
//
//   Froc f = froc(truths, detections, {.images = 72, .categories = 3, .hit = find_froc_hit("centre")});
//   f.all.cpm()                        // 0.84, all classes together
//   f.classes[2].sensitivity_at(1)     // 0.91 at one false positive per image
//
// An operating point takes all detections with at least some score, so that equal scores come together, in whatever
// order they stand. Between two points the sensitivity is interpolated linearly from (0, 0) on; beyond the last it
// stays. Source: LUNA16's noduleCADEvaluationLUNA16.py (computeFROC: sklearn.metrics.roc_curve and numpy.interp), and
// MIC-DKFZ/nnDetection, commit 00f21fe, nndet/evaluator/detection/froc.py, which does the same.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libcore/tensor/pixel_box.h"

namespace voxshard {

inline constexpr std::size_t kFrocRates = 7;
/// False positives per image at which the sensitivity is reported.
inline constexpr std::array<double, kFrocRates> kFalsePositivesPerImage = {0.125, 0.25, 0.5, 1, 2, 4, 8};

/// When a detection hits an object.
struct FrocHit {
  const char* name;
  const char* rule;  // for readers of the results; IOU is replaced by the least IoU
  bool (*hits)(double iou, bool centre_inside, double least_iou);
};
/// iou (the default), centre, both and either. The centre of a detection lies in the box of an object also on its
/// edges.
const std::vector<FrocHit>& froc_hits();
/// Returns the row of this name; null for no row.
const FrocHit* find_froc_hit(const std::string& name);

/// How hits are counted. Detections that hit nothing but crowds and boxes to be ignored count nowhere in either row.
struct FrocMatching {
  const char* name;
  const char* rule;  // for readers of the results
  bool once;         // true: a detection finds at most one object, and is false when that has been found already
};
/// once (the default): best score first, each detection finds the free object that it overlaps most (of equals the last
/// one); what hits found objects only is false. Source: COCO, nnDetection.
/// any: an object is found by the best of all detections that hit it, the others count nowhere. Source: LUNA16.
const std::vector<FrocMatching>& froc_matchings();
/// Returns the row of this name; null for no row.
const FrocMatching* find_froc_matching(const std::string& name);

struct FrocOptions {
  std::int64_t images = 0, categories = 0;  // image and category indices are below these
  const FrocHit* hit = &froc_hits().front();
  const FrocMatching* matching = &froc_matchings().front();
  double least_iou = 0.1;  // of the rules that ask for it
};

/// What is reached with all detections of at least this score.
struct FrocPoint {
  double score = 0, false_positives_per_image = 0, sensitivity = 0;
};

struct FrocCurve {
  std::int64_t objects = 0;       // that count: neither crowds nor to be ignored
  std::vector<FrocPoint> points;  // by falling score

  /// -1 without objects, as COCO's numbers.
  double sensitivity_at(double false_positives_per_image) const;
  std::array<double, kFrocRates> sensitivities() const;
  /// The mean of sensitivities(); -1 without objects.
  double cpm() const;
};

struct Froc {
  FrocOptions options;
  std::vector<FrocCurve> classes;
  FrocCurve all;  // objects and false positives of all classes together
  /// The mean over the classes with objects; -1 without any.
  double mean_class_cpm() const;
};

/// Matches and counts. Boxes of different classes never hit each other.
///   truths      in the order of their file
///   detections  in the order of their file; among equal scores the earlier one finds first
/// Errors: kInternal for an index out of range.   Cost: per image and class detections x truths.
Froc froc(std::span<const TrueBox> truths, std::span<const ScoredBox> detections, const FrocOptions& options);

/// "a detection hits with IoU >= 0.1; ...": the chosen rules in words.
std::string rules_of(const FrocOptions& options);

}  // namespace voxshard
