#include "pipelines/report_page/score_sections.h"

#include <algorithm>
#include <limits>

#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/line_chart.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"

namespace voxshard {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostStepRows = 250, kMostNamedCases = 3;

/// Returns a line for each kind of weights of each run, of what `of` gives for a validation.
template <class Of>
std::vector<ChartLine> validation_lines(std::span<const RunData> runs, Of of) {
  std::vector<ChartLine> lines;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const char* weights : {kLastWeights, kAveragedWeights}) {
      const bool averaged = weights == std::string_view(kAveragedWeights);
      ChartLine line{.name = runs[i].name + (averaged ? ", averaged weights" : ""),
                     .colour = static_cast<int>(i),
                     .points = {},
                     .dashed = averaged};
      for (const ValidationData& one : runs[i].validations)
        if (one.weights == weights) line.points.push_back({static_cast<double>(one.step), of(runs[i], one)});
      if (!line.points.empty()) lines.push_back(std::move(line));
    }
  return lines;
}

std::vector<ChartLine> loss_lines(std::span<const RunData> runs) {
  std::vector<ChartLine> lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<ChartPoint> points;
    for (const StepData& one : runs[i].steps) points.push_back({static_cast<double>(one.step), one.loss});
    const int colour = static_cast<int>(i);
    const std::vector<ChartPoint> mean = moving_mean(points);
    lines.push_back({.name = runs[i].name, .colour = colour, .points = std::move(points), .faint = true});
    lines.push_back({.name = runs[i].name + ", moving mean", .colour = colour, .points = mean});
  }
  return lines;
}

/// Returns the classes of all runs, each once, in the order in which they come.
std::vector<std::string> all_classes(std::span<const RunData> runs) {
  std::vector<std::string> classes;
  for (const RunData& run : runs)
    for (const std::string& name : run.classes)
      if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
  return classes;
}

/// Returns the score of a class in a validation; NaN where the run does not know the class.
double score_of(const RunData& run, const ValidationData* one, const std::string& name) {
  const auto it = std::ranges::find(run.classes, name);
  if (one == nullptr || it == run.classes.end()) return kNone;
  return one->by_class[it - run.classes.begin()];
}

/// Scores of metrics that are shares lie between 0 and 1; others have the range of their values.
bool is_share(std::span<const RunData> runs) {
  for (const RunData& run : runs)
    for (const ValidationData& one : run.validations)
      if (one.score > 1 || one.score < 0) return false;
  return true;
}

std::string steps_table(const RunData& run) {
  HtmlTable table{.name = "", .head = {"step", "loss", "gradient norm", "learning rate", "seconds"}, .rows = {}};
  const std::size_t every = (run.steps.size() + kMostStepRows - 1) / kMostStepRows;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    if (i % every != 0 && i + 1 != run.steps.size()) continue;
    const StepData& one = run.steps[i];
    table.rows.push_back({{std::to_string(one.step)},
                          number_cell(one.loss, 4),
                          number_cell(one.gradient_norm, 4),
                          number_cell(one.learning_rate, 6),
                          number_cell(one.seconds, 2)});
  }
  return to_html(table);
}

std::string validations_table(const RunData& run) {
  HtmlTable table{.name = "", .head = {"step", "weights", run.metric}, .rows = {}};
  table.head.insert(table.head.end(), run.classes.begin(), run.classes.end());
  for (const ValidationData& one : run.validations) {
    std::vector<Cell> row = {{std::to_string(one.step)}, {one.weights}, number_cell(one.score)};
    for (const double score : one.by_class) row.push_back(number_cell(score));
    table.rows.push_back(std::move(row));
  }
  return to_html(table);
}

/// What the score of a validation is over: the accuracy of a classifier is no mean of the recalls of its classes.
std::string overall_name(const RunData& run) { return run.metric == "accuracy" ? "all items" : "mean"; }

std::string class_table(std::span<const RunData> runs) {
  HtmlTable table{.name = "classes", .head = {"class"}, .rows = {}};
  const bool alone = runs.size() == 1, has_cases = alone && runs[0].last() != nullptr && !runs[0].last()->cases.empty();
  for (const RunData& run : runs) {
    const std::string of = alone ? "" : run.name + ": ";
    if (run.last() == nullptr) continue;
    table.head.push_back(of + "last (" + title_of(*run.last()) + ")");
    table.head.push_back(of + "best (" + title_of(*run.best()) + ")");
  }
  if (has_cases) table.head.insert(table.head.end(), {"cases", "missed in", "worst case", "its score"});
  for (const std::string& name : all_classes(runs)) {
    std::vector<Cell> row = {{name}};
    for (const RunData& run : runs) {
      if (run.last() == nullptr) continue;
      row.push_back(number_cell(score_of(run, run.last(), name)));
      if (row.back().value.value_or(1) < kMissedBelow && run.higher_is_better) row.back().style = "missed";
      row.push_back(number_cell(score_of(run, run.best(), name)));
    }
    if (has_cases) {
      const auto c = static_cast<std::size_t>(std::ranges::find(runs[0].classes, name) - runs[0].classes.begin());
      const ClassCases cases = cases_of_class(*runs[0].last(), c, runs[0].higher_is_better);
      row.push_back({std::to_string(cases.scored)});
      row.push_back({std::to_string(cases.missed)});
      row.push_back({cases.worst == nullptr ? "-" : cases.worst->name});
      row.push_back(number_cell(cases.worst == nullptr ? kNone : cases.worst->by_class[c]));
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<Cell> row = {{overall_name(runs[0])}};
  for (const RunData& run : runs)
    if (run.last() != nullptr)
      row.push_back(number_cell(run.last()->score)), row.push_back(number_cell(run.best()->score));
  table.rows.push_back(std::move(row));
  return to_html(table);
}

std::string case_table(const RunData& run, const ValidationData& one, const std::string& id) {
  HtmlTable table{.name = id, .head = {"case, worst first", "mean"}, .rows = {}};
  table.head.insert(table.head.end(), run.classes.begin(), run.classes.end());
  for (const CaseData* item : worst_first(one, run.higher_is_better)) {
    std::vector<Cell> row = {{item->name}, number_cell(item->mean())};
    for (const double score : item->by_class) {
      row.push_back(number_cell(score));
      if (score < kMissedBelow && run.higher_is_better) row.back().style = "missed";
    }
    table.rows.push_back(std::move(row));
  }
  return to_html(table);
}

/// Returns the mean of each case that validated in every run, at the last validation of each.
std::string common_cases_table(std::span<const RunData> runs) {
  HtmlTable table{.name = "common-cases", .head = {"case"}, .rows = {}};
  for (const RunData& run : runs) {
    if (run.last() == nullptr) return "";
    table.head.push_back(run.name);
  }
  for (const CaseData* first : worst_first(*runs[0].last(), runs[0].higher_is_better)) {
    std::vector<Cell> row = {{first->name}};
    for (const RunData& run : runs)
      if (const auto it = std::ranges::find(run.last()->cases, first->name, &CaseData::name);
          it != run.last()->cases.end())
        row.push_back(number_cell(it->mean()));
    if (row.size() == table.head.size()) table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return "";
  return "<p>Cases that validate in every run, by their mean at the last validation:</p>\n" + to_html(table);
}

/// "phantom_003 (0.271), phantom_008 (0.402)".
std::string named_cases(const std::vector<const CaseData*>& cases) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamedCases, cases.size()); ++i)
    text += (text.empty() ? "" : ", ") + cases[i]->name + " (" + number_cell(cases[i]->mean()).text + ")";
  return text;
}

std::string scores_of_run(const RunData& run, bool alone, std::size_t index) {
  std::string html =
      alone ? "" : "<h3><i class=\"key k" + std::to_string(index) + "\"></i>" + html_text(run.name) + "</h3>\n";
  const ValidationData* last = run.last();
  if (last == nullptr) return html + "<p>Nothing was validated yet.</p>\n";
  if (fact(run.facts, "/report/chosen_on_test") == "true")
    html +=
        "<p>The test part of the data validates: the best checkpoint is chosen on it, and its score is not that on "
        "unseen data.</p>\n";
  const std::vector<std::string> missed = missed_classes(run);
  if (!missed.empty()) {
    html += "<div class=\"alert\"><b>Missed at the last validation</b><ul>";
    for (const std::string& line : missed) html += "<li>" + html_text(line) + "</li>";
    html += "</ul></div>\n";
  }
  std::vector<const CaseData*> cases = worst_first(*last, run.higher_is_better);
  if (cases.empty()) return html;
  html += "<p>Worst cases at " + html_text(title_of(*last)) + ": " + html_text(named_cases(cases)) + ".";
  std::ranges::reverse(cases);
  html += " Best cases: " + html_text(named_cases(cases)) + ".</p>\n";
  html +=
      folded("Scores of every case at " + title_of(*last), case_table(run, *last, "cases-" + std::to_string(index)));
  if (run.best() != last && !run.best()->cases.empty())
    html += folded("Scores of every case at the best validation, " + title_of(*run.best()),
                   case_table(run, *run.best(), "best-cases-" + std::to_string(index)));
  return html;
}

}  // namespace

std::string curves_section(std::span<const RunData> runs) {
  std::string html = "<section id=\"curves\"><h2>Curves</h2>\n";
  html += to_svg({.title = "loss of the steps, and its moving mean",
                  .x_title = "step",
                  .lines = loss_lines(runs),
                  .series = "loss"});
  const std::optional<double> from = is_share(runs) ? std::optional(0.0) : std::nullopt,
                              to = is_share(runs) ? std::optional(1.0) : std::nullopt;
  const auto score = validation_lines(runs, [](const RunData&, const ValidationData& one) { return one.score; });
  if (!score.empty()) {
    html += to_svg({.title = runs[0].metric + " of the validations, " +
                             (overall_name(runs[0]) == "mean" ? "mean over classes" : overall_name(runs[0])),
                    .x_title = "step",
                    .from = from,
                    .to = to,
                    .lines = score,
                    .series = "score"});
    html += "<div class=\"panels\">\n";
    for (const std::string& name : all_classes(runs))
      html +=
          to_svg({.title = name,
                  .x_title = "step",
                  .width = 230,
                  .height = 150,
                  .from = from,
                  .to = to,
                  .lines = validation_lines(
                      runs, [&](const RunData& run, const ValidationData& one) { return score_of(run, &one, name); }),
                  .series = "class:" + name});
    html += "</div>\n";
  }
  for (const RunData& run : runs) {
    const std::string of = runs.size() == 1 ? "" : " of " + run.name;
    if (!run.validations.empty()) html += folded("Numbers of the validations" + of, validations_table(run));
    const std::string rows =
        run.every == 1 ? "" : ", every " + std::to_string(run.every) + "th of " + std::to_string(run.rows);
    html += folded("Numbers of the steps" + of + rows, steps_table(run));
  }
  return html + "</section>\n";
}

std::string scores_section(std::span<const RunData> runs) {
  std::string html = "<section id=\"scores\"><h2>Scores</h2>\n";
  const bool alone = runs.size() == 1;
  if (!all_classes(runs).empty()) html += class_table(runs);
  if (!alone) html += common_cases_table(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) html += scores_of_run(runs[i], alone, i);
  return html + "</section>\n";
}

}  // namespace voxshard
