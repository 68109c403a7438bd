#include "pipelines/commands/run_report.h"

#include "libcore/base/text.h"
#include "pipelines/commands/score_spread.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/report_page/score_words.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string text_of(const RunData& run) {
  std::string text = run.name + ": " + std::to_string(run.rows) + " steps";
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

/// Returns the scores of the best validation by class, for comparisons.
std::vector<ClassScore> scores_of(const RunData& run) {
  std::vector<ClassScore> scores;
  if (run.best() == nullptr) return scores;
  for (std::size_t c = 0; c < run.classes.size() && c < run.best()->by_class.size(); ++c)
    scores.push_back({run.classes[c], run.metric, run.best()->by_class[c]});
  scores.push_back({"", run.metric, run.best()->score});
  return scores;
}

/// Adds mean and spread of the best validations of several runs.
void add_spread(TaskReport& report, const std::vector<RunData>& runs) {
  std::vector<std::string> names;
  std::vector<std::vector<ClassScore>> scores;
  for (const RunData& run : runs) names.push_back(run.name), scores.push_back(scores_of(run));
  const ScoreSpread spread(names, scores);
  if (runs.size() < 2 || spread.empty()) return;
  report.json["spread"] = spread.to_json();
  report.text += "best validations, with mean and standard deviation of the sample:\n" + spread.to_text();
}

}  // namespace

TaskReport run_report(const ReportOptions& o) {
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
