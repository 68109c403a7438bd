// The curves of detail_sections.h.
#include <algorithm>
#include <limits>

#include "pipelines/report_page/detail_sections.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/line_chart.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"
#include "pipelines/report_page/validation_detail.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// The curves of one validation of a run.
struct Curves {
  const RunData* run;
  const Json* detail;
  std::size_t number;  // of the run
  bool is_best;        // of the best validation, which is another one than the last
};

std::vector<Curves> curves_of(std::span<const RunData> runs) {
  std::vector<Curves> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunData& run = runs[i];
    if (!part_of(run.last_detail, "/curves").is_null()) all.push_back({&run, &run.last_detail, i, false});
    if (run.best() != run.last() && !part_of(run.best_detail, "/curves").is_null())
      all.push_back({&run, &run.best_detail, i, true});
  }
  return all;
}

std::string curve_title(const Curves& one, bool alone) {
  return (alone ? "" : one.run->name + ": ") + (one.is_best ? "best" : "last") + " (" +
         title_of(*(one.is_best ? one.run->best() : one.run->last())) + ")";
}

/// Returns the precisions of a class; of all classes for an empty name; null where the validation has none.
const Json& precisions_of(const Json& detail, const std::string& name) {
  if (name.empty()) return part_of(detail, "/curves/all");
  const std::vector<std::string> names = classes_of_detail(detail);
  const auto it = std::ranges::find(names, name);
  return part_of(detail, "/curves/by_class/" + std::to_string(it - names.begin()));
}

std::string chart_of(const std::vector<Curves>& all, const std::string& name, bool alone) {
  LineChart chart{.title = name.empty() ? "precision over recall at IoU 0.5, mean of the classes" : name,
                  .x_title = "recall",
                  .from = 0,
                  .to = 1,
                  .lines = {},
                  .series = name.empty() ? "precision" : "precision:" + name};
  if (name.empty())
    chart.width = 480, chart.height = 320;
  else
    chart.width = 230, chart.height = 170;
  for (const Curves& one : all) {
    const Json &recall = part_of(*one.detail, "/curves/recall"), &precision = precisions_of(*one.detail, name);
    if (precision.is_null()) continue;
    ChartLine line{
        .name = curve_title(one, alone), .colour = static_cast<int>(one.number), .points = {}, .dashed = one.is_best};
    for (std::size_t i = 0; i < recall.size(); ++i)
      if (recall[i].is_number())
        line.points.push_back({recall[i].get<double>(), precision[i].is_number()
                                                            ? precision[i].get<double>()
                                                            : std::numeric_limits<double>::quiet_NaN()});
    chart.lines.push_back(std::move(line));
  }
  return chart.lines.empty() ? "" : to_svg(chart);
}

/// Returns the classes of all details, each once.
std::vector<std::string> classes_of_curves(const std::vector<Curves>& all) {
  std::vector<std::string> classes;
  for (const Curves& one : all)
    for (const Json& row : part_of(*one.detail, "/classes"))
      if (const std::string name = fact(row, "/class");
          std::ranges::find(classes, name) == classes.end() && classes.size() < kMostShownClasses)
        classes.push_back(name);
  return classes;
}

Cell cell_of(const Json& value) { return value.is_number() ? number_cell(value.get<double>()) : Cell{"-"}; }

/// Every tenth point of the curves of one validation.
std::string numbers_of(const Curves& one) {
  constexpr std::size_t kEvery = 10;
  HtmlTable table{.name = one.is_best ? "best-precision" : "last-precision", .head = {"recall", "all"}, .rows = {}};
  const std::vector<std::string> classes = classes_of_curves({one});
  table.head.insert(table.head.end(), classes.begin(), classes.end());
  const Json& recall = part_of(*one.detail, "/curves/recall");
  for (std::size_t i = 0; i < recall.size(); i += kEvery) {
    std::vector<Cell> row = {cell_of(recall[i])};
    const auto add = [&](const Json& precision) {
      row.push_back(cell_of(precision.is_null() ? precision : precision[i]));
    };
    add(precisions_of(*one.detail, ""));
    for (const std::string& name : classes) add(precisions_of(*one.detail, name));
    table.rows.push_back(std::move(row));
  }
  return to_html(table);
}

std::string points_table(const std::vector<Curves>& all, bool alone) {
  HtmlTable table{.name = "operating-points",
                  .head = {"validation", "score", "F1", "recall", "precision", "found", "wrong", "missed"},
                  .rows = {}};
  for (const Curves& one : all) {
    std::vector<Cell> row = {{curve_title(one, alone)}};
    for (const char* key : {"score", "f1", "recall", "precision"})
      row.push_back(cell_of(part_of(*one.detail, std::string("/operating_point/") + key)));
    for (const char* key : {"found", "wrong", "missed"}) {
      row.push_back(cell_of(part_of(*one.detail, std::string("/operating_point/") + key)));
      if (row.back().value) row.back().text = fact(*one.detail, std::string("/operating_point/") + key);
    }
    table.rows.push_back(std::move(row));
  }
  return "<p>The score at which the F1 over all classes is the highest, and what is found, wrong and missed of the "
         "objects by the detections of at least that score:</p>\n" +
         to_html(table);
}

}  // namespace

std::string precision_section(std::span<const RunData> runs) {
  const std::vector<Curves> all = curves_of(runs);
  if (all.empty()) return "";
  const bool alone = runs.size() == 1;
  std::string html = "<section id=\"precision\"><h2>Precision over recall</h2>\n";
  const std::string chart = chart_of(all, "", alone);
  html += chart.empty() ? "<p>No class has an object.</p>\n" : chart;
  if (alone && all.size() > 1) html += "<p class=\"soft\">Dashed: the best validation.</p>\n";
  html += "<div class=\"panels\">\n";
  for (const std::string& name : classes_of_curves(all)) html += chart_of(all, name, alone);
  html += "</div>\n" + points_table(all, alone);
  if (alone)
    for (const Curves& one : all)
      html += folded("Numbers of the curves, " + curve_title(one, alone) + ", every 10th point", numbers_of(one));
  return html + "</section>\n";
}

}  // namespace voxshard
