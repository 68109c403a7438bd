#include "pipelines/tasks/detection/scores/evaluate_detections.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/boxes/coco.h"
#include "io/files/atomic_file.h"
#include "io/files/csv.h"
#include "io/output/output_file.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/dataset/image_places.h"
#include "pipelines/tasks/detection/dataset/video_dataset.h"
#include "pipelines/tasks/detection/scores/froc_report.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCurvesHead = "class,iou,recall,precision";

Json summary_json(const CocoSummary& summary) {
  Json json;
  for (std::size_t i = 0; i < kCocoNumbers; ++i) json[coco_names()[i]] = summary[i];
  return json;
}

std::string curves_csv(const AveragePrecision& scores, const DetectionDataset& truth) {
  const CocoOptions& o = scores.options;
  std::string text = kCurvesHead + std::string("\n");
  CocoIndex at;
  for (at.category = 0; at.category < truth.classes.size(); ++at.category)
    for (at.iou = 0; at.iou < o.iou_thresholds.size(); ++at.iou)
      for (at.recall = 0; at.recall < o.recall_points.size(); ++at.recall)
        text += csv_text(truth.classes[at.category].name) + "," + csv_text(o.iou_thresholds[at.iou]) + "," +
                csv_text(o.recall_points[at.recall]) + "," + csv_text(scores.precision_at(at)) + "\n";
  return text;
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  if (path.has_parent_path()) make_output_folder(path.parent_path());
  write_text_atomically(path, text);
}

/// Finds images among the names of a prediction ("17 a.png"), whose numbers may be those of a folder of images: by
/// number and name, else by a name that one image alone has.
class PredictedNames {
 public:
  PredictedNames(const DetectionDataset& truth, const SeenInputs& seen) {
    for (const DetectionImage& image : truth.images) ++images_[image.file.filename().string()];
    for (const auto* list : {&seen.trained_on, &seen.left_out})
      for (const std::string& name : *list)
        whole_.insert(name), by_file_.emplace(name.substr(name.find(' ') + 1), name);
  }

  std::string of(const DetectionImage& image) const {
    std::string whole = seen_name(image.id, image.file);
    const std::string file = image.file.filename().string();
    if (whole_.contains(whole) || images_.at(file) > 1 || by_file_.count(file) != 1) return whole;
    return by_file_.find(file)->second;
  }

 private:
  std::map<std::string, int> images_;  // by the name of the file
  std::set<std::string> whole_;
  std::multimap<std::string, std::string> by_file_;
};

/// Leaves out images that were not predicted because the run was trained on them. Returns the names of the others.
std::vector<std::string> leave_out_unasked(DetectionDataset& truth, std::vector<ScoredBox>& found,
                                           const SeenInputs& seen) {
  const PredictedNames predicted(truth, seen);
  const std::set<std::string> unasked(seen.left_out.begin(), seen.left_out.end());
  keep_images(truth, found, [&](const DetectionImage& image) { return !unasked.contains(predicted.of(image)); });
  std::vector<std::string> names;
  for (const DetectionImage& image : truth.images) names.push_back(predicted.of(image));
  return names;
}

/// Reads the results of all files as one set.
CocoResults read_results(const EvaluateDetectionOptions& options, const DetectionDataset& truth) {
  CocoResults all = read_coco_results(options.predictions, truth);
  for (const std::filesystem::path& file : options.further) {
    CocoResults more = read_coco_results(file, truth);
    all.boxes.insert(all.boxes.end(), more.boxes.begin(), more.boxes.end());
    for (auto& note : more.notes) all.notes.push_back(std::move(note));
  }
  return all;
}

void require_metric_of_curves(const std::filesystem::path& file, bool chosen, const std::string& option,
                              const std::string& metric) {
  if (!file.empty() && !chosen)
    throw Error(ErrorKind::kUsage, "[usage] {" + option + "} is for the metric " + metric +
                                       ", which {metrics} does not have; add it there");
}

std::vector<std::string> class_names_of(const DetectionReport& report) {
  std::vector<std::string> names;
  for (const ClassDetectionScores& one : report.classes) names.push_back(one.name);
  return names;
}

}  // namespace

const std::vector<std::string>& detection_metric_names() {
  static const std::vector<std::string> kNames = {"coco", "froc"};
  return kNames;
}

bool is_chosen_metric(const std::vector<std::string>& keys, const std::string& key) {
  const auto& known = detection_metric_names();
  for (const std::string& one : keys)
    if (std::ranges::count(known, one) == 0 || std::ranges::count(keys, one) > 1)
      throw Error(ErrorKind::kUsage, "[usage] {metrics} has \"" + one + "\"" +
                                         (std::ranges::count(keys, one) > 1 ? " twice" : "") +
                                         "; of detections expected some of " + joined(known, ","));
  return keys.empty() ? key == known.front() : std::ranges::count(keys, key) > 0;
}

DetectionReport evaluate_detections(const EvaluateDetectionOptions& options, Progress& progress) {
  std::vector<std::filesystem::path> inputs = {options.predictions, options.references};
  inputs.insert(inputs.end(), options.further.begin(), options.further.end());
  const bool by_coco = is_chosen_metric(options.metric_keys, "coco"),
             by_froc = is_chosen_metric(options.metric_keys, "froc");
  require_metric_of_curves(options.curves, by_coco, "curves", "coco");
  require_metric_of_curves(options.froc_curves, by_froc, "froc-curves", "froc");
  if (!options.curves.empty() &&
      std::filesystem::weakly_canonical(options.curves) == std::filesystem::weakly_canonical(options.froc_curves))
    throw Error(ErrorKind::kUsage, "[usage] {curves} and {froc-curves} are both " + options.curves.string() +
                                       "; give each a file of its own");
  require_output_file(options.summary,
                      {"scores of voxshard evaluate", {".json"}, begins_with({R"({"AP":)", R"({"froc":)"})},
                      {.inputs = inputs});
  require_output_file(options.froc_curves, {"FROC of voxshard evaluate", {".csv"}, begins_with({kFrocCsvHead})},
                      {.inputs = inputs, .option = "{froc-curves}"});
  require_output_file(options.curves, {"curves of voxshard evaluate", {".csv"}, begins_with({kCurvesHead})},
                      {.inputs = inputs, .option = "{curves}"});
  DetectionDataset truth =
      read_detection_dataset(options.references, DetectionUse::kScoring, kMostPixels, options.formats);
  CocoResults found = read_results(options, truth);
  if (const auto frames = options.frames.selection()) keep_frames(truth, found.boxes, *frames);
  const std::vector<std::string> names = leave_out_unasked(truth, found.boxes, options.seen);
  const auto truths = true_boxes(truth);
  const AveragePrecision scores = average_precision(truths, found.boxes,
                                                    {.images = static_cast<std::int64_t>(truth.images.size()),
                                                     .categories = static_cast<std::int64_t>(truth.classes.size())});
  DetectionReport report{.coco = by_coco,
                         .froc = {},
                         .summary = scores.summary(),
                         .classes = {},
                         .images = static_cast<std::int64_t>(truth.images.size()),
                         .boxes = static_cast<std::int64_t>(truths.size()),
                         .detections = static_cast<std::int64_t>(found.boxes.size()),
                         .names = names,
                         .seen = seen_among(options.seen, names),
                         .failures = note_failures(truth.notes)};
  for (std::size_t c = 0; c < truth.classes.size(); ++c) {
    const auto counts = [&](const TrueBox& t) {
      return t.category == static_cast<std::int64_t>(c) && !t.crowd && !t.ignore;
    };
    report.classes.push_back({.name = truth.classes[c].name,
                              .id = truth.classes[c].id,
                              .boxes = std::count_if(truths.begin(), truths.end(), counts),
                              .summary = scores.summary_of(c)});
  }
  for (auto& failure : note_failures(found.notes)) report.failures.push_back(std::move(failure));
  constexpr std::size_t kMostLines = 20;
  for (std::size_t i = 0; i < std::min(kMostLines, report.failures.size()); ++i)
    progress.warn(report.failures[i].id + ": " + report.failures[i].code + " " + report.failures[i].message);
  if (report.failures.size() > kMostLines)
    progress.warn("... and " + std::to_string(report.failures.size() - kMostLines) + " more entries left out");
  if (by_froc) {
    FrocOptions rules = options.froc;
    rules.images = report.images, rules.categories = static_cast<std::int64_t>(truth.classes.size());
    report.froc = froc(truths, found.boxes, rules);
  }
  if (!options.curves.empty()) write_text_file(options.curves, curves_csv(scores, truth));
  if (!options.froc_curves.empty())
    write_text_file(options.froc_curves, froc_csv(*report.froc, class_names_of(report)));
  if (!options.summary.empty()) write_text_file(options.summary, to_json(report).dump(2) + "\n");
  return report;
}

Json to_json(const DetectionReport& report) {
  Json json = report.coco ? summary_json(report.summary) : Json::object();
  if (report.froc) json["froc"] = froc_json(*report.froc, class_names_of(report));
  if (report.coco)
    json["rule"] =
        "COCO: means over IoU .50:.05:.95 and 101 recall points, at most 100 detections of an image and class; "
        "-1: no such object";
  json["images"] = report.images;
  json["boxes"] = report.boxes;
  json["detections"] = report.detections;
  json["classes"] = Json::array();
  for (const auto& c : report.classes) {
    Json entry = {{"id", c.id}, {"name", c.name}, {"boxes", c.boxes}};
    if (report.coco) entry.update(summary_json(c.summary));
    json["classes"].push_back(std::move(entry));
  }
  json["failed"] = report.failures.size();
  json["failures"] = to_json(report.failures);
  if (report.seen.any()) add_counts(json, report.seen);
  return json;
}

}  // namespace voxshard
