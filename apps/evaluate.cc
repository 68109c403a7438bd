// voxshard evaluate: Dice and IoU of a folder of predictions.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/text_table.h"
#include "pipelines/run_evaluate.h"

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

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<EvaluateOptions>();
  auto baseline = std::make_shared<std::string>("none");
  app.add_option("predictions", o->predictions, "Folder of predicted label maps")->required();
  app.add_option("references", o->references, "Folder of reference label maps with the same file names")->required();
  app.add_option("-o,--output", o->summary, "summary.json to write, in nnU-Net's form");
  app.add_option("--dataset", o->dataset, "Data set folder: class names, and images for --baseline and --png");
  app.add_option("--baseline", *baseline, "threshold: the best HU interval of each class, fitted on the training cases")
      ->check(CLI::IsMember({"none", "threshold"}))
      ->capture_default_str();
  app.add_option("--png", o->png, "Picture to write: slices with prediction (filled) and reference (outlined)");
  return [o, baseline](const Context& context) {
    o->threshold_baseline = *baseline == "threshold";
    o->threads = context.threads;
    const EvaluateReport report = run_evaluate(*o, *context.progress);
    return Outcome{.json = to_json(report),
                   .text = report_text(report),
                   .exit_code = report.failures.empty() ? kExitOk : kExitPartial};
  };
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "Dice and IoU per class and case, beside the best HU threshold if asked.",
          "voxshard evaluate predictions data/labelsTs --dataset data --baseline threshold -o summary.json", add};
}

}  // namespace voxshard
