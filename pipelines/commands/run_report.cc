#include "pipelines/commands/run_report.h"

#include <algorithm>

#include "io/output/manifest.h"
#include "libcore/base/text.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/report_page/score_words.h"
#include "pipelines/report_page/spread_section.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const RunData& run) {
  std::string text = run.name + ": " + std::to_string(run.rows) + (run.rows == 1 ? " step" : " steps");
  if (run.best() != nullptr)
    text += ", best " + run.metric + " " + fixed_text(run.best()->score) + " (" + title_of(*run.best()) + ")";
  text += "\n";
  for (const std::string& line : missed_classes(run)) text += "  missed: " + line + "\n";
  return text;
}

Json json_of(const RunData& run) {
  return {{"run", run.name},
          {"steps", run.rows},
          {"best_" + run.metric, run.best() == nullptr ? Json() : json_number(run.best()->score)},
          {"last_" + run.metric, run.last() == nullptr ? Json() : json_number(run.last()->score)},
          {"missed", missed_classes(run)}};
}

/// Adds mean and spread of the best validations of several runs.
void add_spread(TaskReport& report, const std::vector<RunData>& runs) {
  const ScoreSpread spread = spread_of_runs(runs);
  if (runs.size() < 2 || spread.empty()) return;
  report.json["spread"] = spread.to_json();
  report.text += "best validations, with mean and standard deviation of the sample:\n" + spread.to_text();
}

/// True for what a task has predicted: a JSON file, or a folder with its manifest or with volumes, that is no run.
bool holds_predictions(const fs::path& path) {
  std::error_code unseen;
  if (fs::is_regular_file(path, unseen)) return true;
  if (!fs::is_directory(path, unseen) || fs::exists(path / "run.json", unseen)) return false;
  if (const auto manifest = read_manifest(path)) return manifest->command == "predict";
  return std::ranges::any_of(fs::directory_iterator(path, unseen),
                             [](const fs::directory_entry& entry) { return volume_stem(entry.path()).has_value(); });
}

TaskReport report_predictions(const ReportOptions& o, Progress& progress, const TaskTable& tasks) {
  const fs::path& predictions = o.runs.front();
  const SheetRequest request{
      .predictions = predictions, .images = o.images, .file = o.file.empty() ? predictions / kReportPage : o.file};
  std::error_code unseen;
  if (fs::is_directory(predictions, unseen))
    require_output_file(request.file, report_page_file(),
                        {.inputs = {o.images}, .own = predictions, .option = "{output}"});
  return task_predicting(tasks, predictions).contact_sheet(request, progress);
}

}  // namespace

TaskReport run_report(const ReportOptions& o, Progress& progress, const TaskTable& tasks) {
  if (o.runs.size() == 1 && holds_predictions(o.runs.front())) return report_predictions(o, progress, tasks);
  if (!o.images.empty())
    throw Error(ErrorKind::kUsage, "[report] {images} is for a folder of predicted volumes, and " +
                                       o.runs.at(0).string() + " is none; leave it out");
  if (o.file.empty() && o.runs.size() > 1)
    throw Error(ErrorKind::kUsage,
                "[report] a page of several runs belongs to none of their folders; say where it goes "
                "with {output}, like {output} runs.html");
  const fs::path file = o.file.empty() ? o.runs.at(0) / kReportPage : o.file;
  require_output_file(file, report_page_file(),
                      {.inputs = {}, .own = o.runs.size() == 1 ? o.runs.front() : fs::path(), .option = "{output}"});
  const std::vector<RunData> runs = write_report_page(o.runs, file);
  TaskReport report{.json = {{"report", file.string()}, {"runs", Json::array()}}};
  for (const RunData& run : runs) {
    report.json["runs"].push_back(json_of(run));
    report.text += text_of(run);
  }
  add_spread(report, runs);
  report.text += "written: " + file.string() + "\n";
  return report;
}

}  // namespace voxshard
