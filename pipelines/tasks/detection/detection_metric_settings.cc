#include "pipelines/tasks/detection/detection_metric_settings.h"

#include "libcore/base/text.h"
#include "pipelines/settings/word_list.h"

namespace voxshard {
std::vector<Setting> detection_metric_settings(EvaluateDetectionOptions& o) {
  const std::string group = "FROC of detections";
  return {
      {"metrics",
       "Metrics to compute, joined by commas, of " + joined(detection_metric_names(), ",") +
           "; default: " + detection_metric_names().front(),
       "Metrics", [&o](const std::string& text) { o.metric_keys = split_words(text, ','); }},
      {"curves", "CSV to write: precision by recall, class and IoU (detections)", "", &o.curves},
      {.name = "froc-hit",
       .help = "When a detection hits an object: iou, by {froc-iou}; centre, when its centre lies in the box; both; "
               "either; default: iou",
       .group = group,
       .value = [&o](const std::string& text) { o.froc.hit = find_froc_hit(text); },
       .choices = row_names(froc_hits())},
      {"froc-iou", "Least IoU of a hit", group, &o.froc.least_iou, {{0, 1}}},
      {.name = "froc-matching",
       .help = "once: a detection finds one object, further hits are false (COCO, nnDetection); any: the best hit of "
               "an object counts, others do not (LUNA16); default: once",
       .group = group,
       .value = [&o](const std::string& text) { o.froc.matching = find_froc_matching(text); },
       .choices = row_names(froc_matchings())},
      {"froc-curves", "CSV to write: sensitivity by false positives per image, for every score", group,
       &o.froc_curves}};
}

}  // namespace voxshard
