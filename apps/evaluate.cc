// voxshard evaluate: Dice and IoU of a folder of predictions, or COCO's numbers of a file of detections.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/text_table.h"
#include "apps/video_args.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_evaluate_detection.h"

namespace voxshard {
namespace {

std::string report_text(const EvaluateReport& r) {
  const bool baseline = r.baseline_mean_dice.has_value();
  std::vector<std::vector<std::string>> rows = {{"class", "Dice", "IoU"}};
  if (baseline) rows[0].insert(rows[0].end(), {"threshold Dice", "best HU range"});
  for (const auto& c : r.classes) {
    rows.push_back({c.name, fixed_text(c.dice), fixed_text(c.iou)});
    if (!c.baseline_dice) continue;
    const auto& t = r.thresholds[c.label];
    rows.back().insert(rows.back().end(),
                       {fixed_text(*c.baseline_dice), std::to_string(t.low_hu) + " to " + std::to_string(t.high_hu)});
  }
  rows.push_back({"mean", fixed_text(r.mean_dice), fixed_text(r.mean_iou)});
  if (baseline) rows.back().push_back(fixed_text(*r.baseline_mean_dice));
  std::string text = text_table(rows);
  text += std::to_string(r.cases.size()) + " cases scored, " + std::to_string(r.failures.size()) + " not\n";
  for (const auto& f : r.failures) text += "  " + f.id + ": " + f.code + " " + f.message + "\n";
  return text;
}

std::string report_text(const DetectionReport& r) {
  std::vector<std::vector<std::string>> rows = {{"", "value"}};
  for (std::size_t i = 0; i < kCocoNumbers; ++i) rows.push_back({coco_names()[i], fixed_text(r.summary[i])});
  std::string text = text_table(rows);
  constexpr std::size_t kShown[] = {0, 1, 2, 8};  // of the twelve, class by class
  rows = {{"class", "boxes"}};
  for (const std::size_t i : kShown) rows[0].push_back(coco_names()[i]);
  for (const auto& c : r.classes) {
    rows.push_back({c.name, std::to_string(c.boxes)});
    for (const std::size_t i : kShown) rows.back().push_back(fixed_text(c.summary[i]));
  }
  text += text_table(rows);
  return text + std::to_string(r.images) + " images, " + std::to_string(r.boxes) + " boxes, " +
         std::to_string(r.detections) + " detections; " + std::to_string(r.failures.size()) + " entries left out\n";
}

Outcome evaluate_detection(const EvaluateOptions& o, const std::filesystem::path& curves,
                           const std::optional<FrameSelection>& frames, const Context& context) {
  if (!o.dataset.empty() || !o.png.empty() || o.threshold_baseline)
    throw Error(ErrorKind::kUsage, "[evaluate] --dataset, --baseline and --png are for label maps; " +
                                       o.predictions.string() + " is a file of detections");
  const DetectionReport report = run_evaluate_detection(
      {.predictions = o.predictions, .references = o.references, .summary = o.summary, .curves = curves, .frames = frames},
      *context.progress);
  return {.json = to_json(report),
          .text = report_text(report),
          .exit_code = report.failures.empty() ? kExitOk : kExitPartial};
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<EvaluateOptions>();
  auto baseline = std::make_shared<std::string>("none");
  auto curves = std::make_shared<std::filesystem::path>();
  app.add_option("predictions", o->predictions, "Folder of predicted label maps, or a JSON file of COCO results")
      ->required();
  app.add_option("references", o->references,
                 "Folder of reference label maps with the same file names, or COCO JSON, or a Pascal VOC folder")
      ->required();
  app.add_option("-o,--output", o->summary, "summary.json to write, in nnU-Net's form, or the twelve numbers of COCO");
  app.add_option("--curves", *curves, "CSV to write: precision by recall, class and IoU (detections)");
  app.add_option("--dataset", o->dataset, "Data set folder: class names, and images for --baseline and --png");
  app.add_option("--baseline", *baseline, "threshold: the best HU interval of each class, fitted on the training cases")
      ->check(CLI::IsMember({"none", "threshold"}))
      ->capture_default_str();
  app.add_option("--png", o->png, "Picture to write: slices with prediction (filled) and reference (outlined)");
  auto video = std::make_shared<VideoArgs>();
  add_frame_options(app, *video);
  return [o, baseline, curves, video](const Context& context) {
    o->threshold_baseline = *baseline == "threshold";
    o->threads = context.threads;
    if (o->predictions.extension() == ".json") return evaluate_detection(*o, *curves, frame_selection(*video), context);
    if (!curves->empty() || frame_selection(*video))
      throw Error(ErrorKind::kUsage, "[evaluate] --curves, --range, --stride and --fps are for detections; expected "
                                     "PREDICTIONS.json, got " +
                                         o->predictions.string());
    const EvaluateReport report = run_evaluate(*o, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = report_text(report),
                   .exit_code = report.failures.empty() ? kExitOk : kExitPartial};
  };
}

}  // namespace

Command evaluate_command() {
  return {"evaluate",
          "Dice and IoU per class and case, beside the best HU threshold if asked; COCO's numbers of detections.",
          "voxshard evaluate predictions data/labelsTs --dataset data --baseline threshold -o summary.json", add};
}

}  // namespace voxshard
