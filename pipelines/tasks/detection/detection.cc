#include "pipelines/tasks/detection/detection.h"

#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/settings/setting.h"
#include "pipelines/settings/word_list.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/dataset/detection_info.h"
#include "pipelines/tasks/detection/demo_images.h"
#include "pipelines/tasks/detection/golden_image.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/detection/samples/image_memory.h"
#include "pipelines/tasks/detection/scores/evaluate_images.h"
#include "pipelines/tasks/detection/scores/froc_report.h"
#include "pipelines/tasks/detection/scores/predict_image.h"
#include "pipelines/tasks/group_folds.h"
#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/video_info.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

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

std::vector<Setting> training_settings(DetectionTaskOptions& o) {
  const std::string samples = "Samples", image_samples = "Samples of pictures";
  ImageSampling& s = o.sampling;
  std::vector<Setting> settings = {
      {"fold", kFoldHelp, "Training",
       [&h = o.held_out](const std::string& text) { h.validate = text != "all", h.fold = h.validate ? text : ""; }},
      {"crop", "H x W of the crops, or whole; default: whole", samples,
       [&s](const std::string& text) { s.crop = crop_from_text(text, 2); }},
      {"output-size",
       "H x W that every picture is scaled to fit into, by one factor, and padded to at the bottom and right, as the "
       "original does; in training and prediction; none: pictures keep their size",
       image_samples,
       [&s](const std::string& text) { s.output_size = text == "none" ? Dims() : crop_from_text(text, 2); }},
      {"foreground", "Share of crops that hold a random object", samples, &s.foreground, {{0, 1}}},
      {"pad-multiple", "What is whole is padded to a multiple of this; default: 32", samples, &s.pad_multiple,
       kPadMultiples},
      most_pixels_setting(s.most_pixels),
      {.name = "val",
       .help = "COCO JSON of the pictures that validate; default: the data folder's own, else a share of all",
       .group = image_samples,
       .value = &o.held_out.file},
      {"val-fraction",
       "Share of the pictures that validates when nothing names them",
       image_samples,
       &o.held_out.fraction,
       {{0, 0.99}}},
      {"mosaic",
       "Share of samples that show parts of four pictures, which meet at a random point",
       image_samples,
       &s.mosaic,
       {{0, 1}}}};
  for (Setting& setting : augmentation_settings(s.augmentation)) settings.push_back(std::move(setting));
  for (Setting& setting : settings_of(o.frames)) settings.push_back(std::move(setting));
  return settings;
}

std::vector<Setting> prediction_settings(DetectionPrediction& o) {
  const std::string group = "Prediction on a video";
  std::vector<Setting> settings = {
      draw_setting(o.draw),
      {"postprocess", "Of a detector: detection, legacy, legacy_export, or auto: as its variant is evaluated", "",
       &o.postprocess},
      {"min-score",
       "Least score of a box in every output of a detector, the drawn ones too; 0: all that {postprocess} keeps, as "
       "evaluate wants them, at most 100 a picture; drawn then from 0.3 on",
       "",
       &o.min_score,
       {{0, 1}}},
      keep_names_setting(o.keep_names),
      most_pixels_setting(o.most_pixels),
      {"coco", "COCO results to write too; the image id is the number of the frame from 0", group, &o.video.coco},
      {"mot", "MOT text to write too", group, &o.video.mot},
      {"track-iou",
       "Least overlap of a detection with the last box of its track",
       group,
       &o.video.tracks.least_iou,
       {{0, 1}}},
      {"track-score", "Least score of a detection in a track", group, &o.video.tracks.least_score, {{0, 1}}},
      {"track-gap",
       "Frames in a row in which a track may not be found before it ends",
       group,
       &o.video.tracks.most_missed,
       {{0, 1e9}}}};
  for (Setting& setting : settings_of(o.frames)) settings.push_back(std::move(setting));
  return settings;
}

std::vector<Setting> evaluation_settings(EvaluateDetectionOptions& o) {
  std::vector<Setting> settings = detection_metric_settings(o);
  for (Setting& setting : settings_of(o.frames)) settings.push_back(std::move(setting));
  return settings;
}

/// Warns of settings for FROC when it is not among the metrics.
void warn_of_settings_of_froc(const EvaluateOptions& options, const EvaluateDetectionOptions& o, Progress& progress) {
  if (is_chosen_metric(o.metric_keys, "froc")) return;
  for (const GivenSetting& given : options.task.given)
    if (given.name.starts_with("froc-"))
      progress.warn("[evaluate] {" + given.name +
                    "} has no effect: it is for the metric froc, which {metrics} does not "
                    "have");
}

constexpr std::size_t kShown[] = {0, 1, 2, 8};  // the numbers shown class by class, of twelve

/// Returns the same numbers as coco_text(), and the mean sensitivity of FROC, for comparisons; -1 is no number.
std::vector<ClassScore> scores_of(const DetectionReport& r) {
  std::vector<ClassScore> scores;
  const auto add = [&](const std::string& scored, const std::string& metric, double value) {
    scores.push_back({scored, metric, value < 0 ? std::nan("") : value});
  };
  for (const ClassDetectionScores& c : r.classes)
    for (const std::size_t i : kShown)
      if (r.coco) add(c.name, coco_names()[i], c.summary[i]);
  for (std::size_t i = 0; i < kCocoNumbers && r.coco; ++i) add("", coco_names()[i], r.summary[i]);
  for (std::size_t c = 0; r.froc && c < r.classes.size(); ++c) add(r.classes[c].name, "cpm", r.froc->classes[c].cpm());
  if (r.froc) add("", "cpm", r.froc->all.cpm());
  return scores;
}

/// Returns the twelve numbers, and four of them class by class.
std::string coco_text(const DetectionReport& r) {
  std::vector<std::vector<std::string>> rows = {{"", "value"}};
  for (std::size_t i = 0; i < kCocoNumbers; ++i) rows.push_back({coco_names()[i], fixed_text(r.summary[i])});
  std::string text = text_table(rows);
  rows = {{"class", "boxes"}};
  for (const std::size_t i : kShown) rows[0].push_back(coco_names()[i]);
  for (const auto& c : r.classes) {
    rows.push_back({c.name, std::to_string(c.boxes)});
    for (const std::size_t i : kShown) rows.back().push_back(fixed_text(c.summary[i]));
  }
  return text + text_table(rows);
}

/// Returns lines on the classes with boxes of which nothing was found at an overlap of 0.5.
std::string missed_text_of(const DetectionReport& r) {
  constexpr std::size_t kAp50 = 1;
  std::vector<ScoresOfClass> classes;
  for (const ClassDetectionScores& c : r.classes)
    if (r.coco && c.boxes > 0) classes.push_back({c.name, c.summary[kAp50]});
  return missed_text(missed_classes(classes, {.metric = coco_names()[kAp50], .over_all = "over all", .unscored = ""}));
}

class DetectionRow : public Task {
 public:
  explicit DetectionRow(const BoxFormats& formats) : formats_(formats) {}

  const char* name() const override { return "detection"; }
  TaskWords words() const override {
    const std::string files = box_files_text(formats_);
    const BoxWords boxes = box_words(formats_);
    return {.demo_cases = "120 pictures",
            .demo_test_cases = "30 pictures",
            .training_data = "of RetinaNet " + files + ", or a folder with " + or_text(boxes.names) +
                             " files, whose pictures lie beside or below them",
            .inputs = "of a detector pictures, " + files + ", or a video",
            .outputs = "of a detector the file of COCO results, or of what is in a video, .json",
            .json_predictions = "COCO results",
            .references = "or " + or_text(boxes.image_files) + ", or a " + or_text(boxes.folders) + " folder",
            .run_data = "of a detector images with boxes",
            .scores = "or the twelve numbers of COCO",
            .data_files = joined(boxes.image_files, ", "),
            .data_sets = joined(boxes.images, ", ")};
  }
  bool learns(const ModelSpec& spec) const override { return spec.model->data == kBoxes; }

  std::vector<Setting> settings(TaskCommand command, TaskOptions& options) const override {
    if (command == TaskCommand::kTrain) return training_settings(options.of<DetectionTaskOptions>());
    if (command == TaskCommand::kPredict) return prediction_settings(options.of<DetectionPrediction>());
    if (command == TaskCommand::kEvaluate) return evaluation_settings(options.of<EvaluateDetectionOptions>());
    return {};
  }

  DemoReport demo(const DemoOptions& options, int scale, Progress& progress) const override {
    return demo_images(options, scale, progress);
  }

  bool info(const fs::path& path, const InfoOptions&, InfoReport& report) const override {
    InfoSection& sets = report.set("detection_sets");
    std::error_code error;
    if (fs::exists(path / "dataset.json", error)) return false;
    const auto annotations = annotations_in(path, formats_);
    for (const auto& file : annotations) {
      const DetectionSetInfo set = read_detection_info(file, formats_);
      sets.add(set);
      report.failures.insert(report.failures.end(), set.failures.begin(), set.failures.end());
      if (report.next.empty()) report.next = {"train", path.string(), "{output}", "run", "{model}", "retinanet"};
    }
    return !annotations.empty() && (!fs::is_directory(path, error) || video_files(path).empty());
  }

  std::unique_ptr<TrainingTask> training(const TrainingData& data, const TaskOptions& options,
                                         const ModelSpec& spec) const override {
    DetectionTaskOptions o = options.of<DetectionTaskOptions>();
    o.data = data.data, o.seed = data.seed, o.formats = formats_;
    o.pass = {.threads = data.threads, .memory_bytes = data.memory_bytes, .stop = data.stop};
    o.kept = data.kept;
    require_scales(o.sampling.augmentation, 0, 16);
    require_pad_multiple(o.sampling.pad_multiple);
    if (!o.sampling.crop.empty() && !o.sampling.output_size.empty())
      throw Error(ErrorKind::kUsage,
                  "[usage] {crop} cuts pictures and {output-size} scales them; give one of them ({output-size} none)");
    return detection_task(o, detector_of(spec));
  }

  PredictReport predict(const PredictOptions& options, TrainedRun run, const RunContext& context) const override {
    DetectionPrediction o = options.task.of<DetectionPrediction>();
    o.formats = formats_;
    return predict_detections(options, o, std::move(run), context);
  }

  void golden_input(const TrainedRun&, const fs::path& folder) const override { write_golden_image(folder); }
  AnswerDifference answer_difference(const fs::path& reference, const fs::path& found, DType) const override {
    return detections_difference(reference, found);
  }

  bool predicted(const fs::path& predictions) const override { return predictions.extension() == ".json"; }

  TaskReport evaluate(const EvaluateOptions& options, const RunContext& context) const override {
    EvaluateDetectionOptions o = options.task.of<EvaluateDetectionOptions>();
    o.predictions = options.predictions, o.references = options.references, o.summary = options.summary;
    o.seen = options.seen, o.formats = formats_;
    warn_of_settings_of_froc(options, o, context.progress());
    o.further = options.further;
    ProcessPlan memory = evaluating_detections_plan(o.predictions, o.references);
    for (const fs::path& further : o.further) memory += evaluating_detections_plan(further, {});
    require_fits(base_plan(context.base_bytes()) + memory, context.budget_bytes(), ErrorKind::kBudget,
                 "counting " + o.predictions.filename().string(), "Score fewer pictures at a time");
    const DetectionReport report = evaluate_detections(o, context.progress());
    TaskReport result{.json = to_json(report),
                      .text = to_text(report) + missed_text_of(report),
                      .partial = !report.failures.empty(),
                      .memory = memory};
    result.scores = scores_of(report), result.cases = report.names;
    if (o.curves.empty() && report.coco)
      result.next = {"evaluate", o.predictions.string(), o.references.string(), "{curves}",
                     (o.summary.parent_path() / "curves.csv").string()};
    return result;
  }

  TaskReport evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context) const override {
    require_settings_of_run(options, {}, "detections");
    const auto evaluation = evaluate_images({.data = options.references, .formats = formats_}, run, context);
    return report_run_scores(options, std::move(run), context, *evaluation);
  }

  /// Records are JPEG files, decoded at the rate of unpacking, one byte per channel of a pixel. bf16 pixels are sent to
  /// the cores, and per anchor an i32 class and four f32 codes. Source: tensorflow/tpu,
  /// models/official/detection/dataloader.
  RecordFormat records() const override { return {.image_bytes = 2, .one_hot = false, .unpacked_image_bytes = 1}; }

 private:
  BoxFormats formats_;
};

}  // namespace

std::shared_ptr<const Task> detection(const BoxFormats& formats) { return std::make_shared<DetectionRow>(formats); }

std::string to_text(const DetectionReport& r) {
  std::string text = seen_text(r.seen) + (r.coco ? coco_text(r) : "");
  std::vector<std::string> classes;
  for (const ClassDetectionScores& one : r.classes) classes.push_back(one.name);
  if (r.froc) text += froc_text(*r.froc, classes);
  return text + counted(r.images, "image") + ", " + counted(r.boxes, "box", "boxes") + ", " +
         counted(r.detections, "detection") + "; " + counted(std::ssize(r.failures), "entry", "entries") +
         " left out\n";
}

}  // namespace voxshard
