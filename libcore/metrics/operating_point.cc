#include "libcore/metrics/operating_point.h"

#include <algorithm>
#include <array>
#include <utility>

namespace voxshard {
namespace {

constexpr AreaRange kAnyArea = {"all", 0, 1e10};
constexpr std::array<double, 1> kOperatingIous = {kOperatingIou};

bool is_object(const TrueBox& truth) { return !truth.crowd && !truth.ignore; }

/// The boxes of an image over all classes, and what of them is matched.
struct SceneOfImage {
  std::vector<const TrueBox*> truths;
  std::vector<const ScoredBox*> detections;  // best score first
  std::vector<bool> taken, matched;
};

/// Returns the free object that a detection overlaps most, of its own class or of another one; -1: there is none.
std::ptrdiff_t best_free(const SceneOfImage& scene, const ScoredBox& detection, bool own_class) {
  double best = kOperatingIou;
  std::ptrdiff_t found = -1;
  for (std::size_t t = 0; t < scene.truths.size(); ++t) {
    const TrueBox& truth = *scene.truths[t];
    if (scene.taken[t] || !is_object(truth) || (truth.category == detection.category) != own_class) continue;
    const double iou = coco_iou(detection.box, truth.box, false);
    if (iou >= best) best = iou, found = static_cast<std::ptrdiff_t>(t);  // among equals the last one, as COCO has it
  }
  return found;
}

/// True for a detection of a crowd or of an object to be ignored, which is neither right nor wrong.
bool lies_on_ignored(const SceneOfImage& scene, const ScoredBox& detection) {
  return std::ranges::any_of(scene.truths, [&](const TrueBox* truth) {
    return !is_object(*truth) && truth->category == detection.category &&
           coco_iou(detection.box, truth->box, truth->crowd) >= kOperatingIou;
  });
}

}  // namespace

std::optional<OperatingPoint> best_operating_point(std::span<const TrueBox> truths,
                                                   std::span<const ScoredBox> detections, const BoxCounts& box_counts) {
  std::int64_t objects = 0;
  std::vector<std::pair<double, bool>> scored;  // the score, and whether it finds an object
  for (const auto& images : boxes_by_class(truths, detections, box_counts))
    for (const auto& [image, boxes] : images) {
      const std::vector<double> ious = iou_table(boxes.truths, boxes.detections);
      const MatchedBoxes matched = match_boxes(boxes.truths, boxes.detections, ious, kAnyArea, kOperatingIous);
      objects += matched.counted;
      for (std::size_t d = 0; d < matched.scores.size(); ++d)
        if (const MatchOutcome outcome = matched.outcome(0, d); outcome != MatchOutcome::kIgnored)
          scored.emplace_back(matched.scores[d], outcome == MatchOutcome::kFound);
    }
  std::ranges::sort(scored, std::greater(), &std::pair<double, bool>::first);
  std::optional<OperatingPoint> best;
  OperatingPoint at{.missed = objects};
  for (std::size_t i = 0; i < scored.size(); ++i) {
    at.score = scored[i].first;
    if (scored[i].second)
      ++at.found, --at.missed;
    else
      ++at.wrong;
    const bool goes_on = i + 1 < scored.size() && scored[i + 1].first == at.score;
    if (!goes_on && at.found > 0 && (!best || at.f1() > best->f1())) best = at;
  }
  return best;
}

std::vector<std::int64_t> detection_confusion(std::span<const TrueBox> truths, std::span<const ScoredBox> detections,
                                              const BoxCounts& box_counts, double score) {
  std::map<std::int64_t, SceneOfImage> scenes;
  for (const auto& images : boxes_by_class(truths, detections, box_counts))
    for (const auto& [image, boxes] : images) {
      SceneOfImage& scene = scenes[image];
      scene.truths.insert(scene.truths.end(), boxes.truths.begin(), boxes.truths.end());
      for (const ScoredBox* detection : boxes.detections)
        if (detection->score >= score) scene.detections.push_back(detection);
    }
  const auto nothing = static_cast<std::size_t>(box_counts.categories), side = nothing + 1;
  std::vector<std::int64_t> confusion(side * side);
  for (auto& [image, scene] : scenes) {
    std::ranges::stable_sort(scene.detections, std::greater(), &ScoredBox::score);
    scene.taken.assign(scene.truths.size(), false), scene.matched.assign(scene.detections.size(), false);
    for (const bool own_class : {true, false})
      for (std::size_t d = 0; d < scene.detections.size(); ++d) {
        const ScoredBox& detection = *scene.detections[d];
        if (scene.matched[d]) continue;
        if (!own_class && lies_on_ignored(scene, detection)) {
          scene.matched[d] = true;
          continue;
        }
        const std::ptrdiff_t t = best_free(scene, detection, own_class);
        if (t < 0) continue;
        scene.matched[d] = scene.taken[t] = true;
        const auto row = static_cast<std::size_t>(scene.truths[t]->category);
        ++confusion[row * side + static_cast<std::size_t>(detection.category)];
      }
    for (std::size_t t = 0; t < scene.truths.size(); ++t)
      if (!scene.taken[t] && is_object(*scene.truths[t]))
        ++confusion[static_cast<std::size_t>(scene.truths[t]->category) * side + nothing];
    for (std::size_t d = 0; d < scene.detections.size(); ++d)
      if (!scene.matched[d]) ++confusion[nothing * side + static_cast<std::size_t>(scene.detections[d]->category)];
  }
  return confusion;
}

}  // namespace voxshard
