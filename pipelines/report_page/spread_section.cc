#include "pipelines/report_page/spread_section.h"

#include "pipelines/report_page/html.h"

namespace voxshard {
namespace {

std::vector<ClassScore> best_scores_of(const RunData& run) {
  std::vector<ClassScore> scores;
  if (run.best() == nullptr) return scores;
  for (std::size_t c = 0; c < run.classes.size() && c < run.best()->by_class.size(); ++c)
    scores.push_back({run.classes[c], run.metric, run.best()->by_class[c]});
  scores.push_back({"", run.metric, run.best()->score});
  return scores;
}

}  // namespace

ScoreSpread spread_of_runs(std::span<const RunData> runs) {
  std::vector<std::string> names;
  std::vector<std::vector<ClassScore>> scores;
  for (const RunData& run : runs) names.push_back(run.name), scores.push_back(best_scores_of(run));
  return ScoreSpread(std::move(names), scores);
}

std::string spread_section(std::span<const RunData> runs) {
  const ScoreSpread spread = spread_of_runs(runs);
  if (runs.size() < 2 || spread.empty()) return "";
  HtmlTable table{
      .name = "spread", .head = {"class", "metric", "runs", "mean", "deviation", "least", "largest"}, .rows = {}};
  for (const std::string& name : spread.names()) table.head.push_back(name);
  for (const ScoreSpread::Row& row : spread.rows()) {
    const Spread s = row.spread();
    std::vector<Cell> cells = {{row.scored.empty() ? "all" : row.scored}, {row.metric}, {std::to_string(s.n)}};
    for (const double value : {s.mean, s.deviation, s.least, s.largest})
      cells.push_back(number_cell(value, row.digits));
    for (const double value : row.values) cells.push_back(number_cell(value, row.digits));
    table.rows.push_back(std::move(cells));
  }
  return "<section><h2>Mean and spread</h2>\n<p>Scores of the best validation of each run; the deviation is that of "
         "the sample, with the divisor n - 1. A run without a score does not count.</p>\n" +
         to_html(table) + "</section>\n";
}

}  // namespace voxshard
