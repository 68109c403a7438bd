#include "pipelines/report_page/report_page.h"

#include <algorithm>
#include <map>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/report_page/detail_sections.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/html_page.h"
#include "pipelines/report_page/methods.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/plan_section.h"
#include "pipelines/report_page/score_sections.h"
#include "pipelines/report_page/score_words.h"
#include "pipelines/report_page/slices_section.h"
#include "pipelines/report_page/spread_section.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t last_step(const RunData& run) { return run.steps.empty() ? 0 : run.steps.back().step; }

/// "finished", "stopped", "going on, or killed".
std::string state_of(const RunData& run) {
  const std::string done = std::to_string(last_step(run)) + " of " + fact(run.facts, "/training/steps") + " steps";
  const Json& stopped = part_of(run.facts, "/report/interrupted");
  if (stopped.is_null()) return done + "; still going on, or ended without a report";
  return done + (stopped.is_boolean() && stopped.get<bool>() ? "; stopped before its end" : "; finished");
}

std::string tile(const std::string& value, const std::string& name) {
  return value.empty() ? "" : "<div><b>" + html_text(value) + "</b><span>" + html_text(name) + "</span></div>";
}

std::string tiles(const RunData& run) {
  std::string html = "<div class=\"tiles\">";
  if (const ValidationData* best = run.best(); best != nullptr)
    html += tile(fixed_text(best->score), "best " + run.metric + ", " + title_of(*best));
  if (const ValidationData* last = run.last(); last != nullptr)
    html += tile(fixed_text(last->score), "last " + run.metric + ", " + title_of(*last));
  if (!run.steps.empty()) html += tile(fixed_text(run.steps.back().loss, 4), "last loss");
  html += tile(fact(run.facts, "/training/cases"), "training cases");
  html += tile(fact(run.facts, "/report/validation_cases"), "validation cases");
  return html + tile(fact(run.facts, "/report/parameters"), "parameters") + "</div>\n";
}

std::string overview(std::span<const RunData> runs) {
  HtmlTable table{.name = "overview", .head = {"run"}, .rows = {}};
  for (const RunData& run : runs) table.head.push_back(run.name);
  const auto row = [&](const std::string& name, const auto& of) {
    std::vector<Cell> cells = {{name}};
    for (const RunData& run : runs) cells.push_back(of(run));
    table.rows.push_back(std::move(cells));
  };
  row("state", [](const RunData& run) { return Cell{state_of(run)}; });
  row("best score", [](const RunData& run) { return run.best() ? number_cell(run.best()->score) : Cell{"-"}; });
  row("at", [](const RunData& run) { return Cell{run.best() ? title_of(*run.best()) : "-"}; });
  row("last score", [](const RunData& run) { return run.last() ? number_cell(run.last()->score) : Cell{"-"}; });
  row("last loss",
      [](const RunData& run) { return run.steps.empty() ? Cell{"-"} : number_cell(run.steps.back().loss, 4); });
  row("seconds of a step", [](const RunData& run) {
    return run.rows == 0 ? Cell{"-"} : number_cell(run.step_seconds / static_cast<double>(run.rows));
  });
  for (const auto& [name, pointer] :
       std::map<std::string, const char*>{{"parameters", "/report/parameters"},
                                          {"training cases", "/training/cases"},
                                          {"hash of the preparation", "/preparation_hash"}})
    row(name, [&, at = pointer](const RunData& run) { return Cell{fact(run.facts, at)}; });
  std::string html = "<section><h2>Runs</h2>\n<p>";
  for (std::size_t i = 0; i < runs.size(); ++i)
    html += "<i class=\"key k" + std::to_string(i) + "\"></i>" + html_text(runs[i].name) + " &nbsp; ";
  return html + "</p>\n" + to_html(table) + "</section>\n";
}

/// The entries of model, training and preparation in which the runs differ.
std::string differences(std::span<const RunData> runs) {
  HtmlTable table{.name = "differences", .head = {"setting"}, .rows = {}};
  for (const RunData& run : runs) table.head.push_back(run.name);
  for (const char* part : {"/model", "/training", "/preparation", "/machine"}) {
    std::vector<std::string> names;
    for (const RunData& run : runs)
      if (const Json& facts = part_of(run.facts, part); facts.is_object())
        for (const auto& [name, value] : facts.items())
          if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    for (const std::string& name : names) {
      std::vector<Cell> row = {{name}};
      for (const RunData& run : runs) {
        const Json& facts = part_of(run.facts, part);
        const Json value = facts.is_object() && facts.contains(name) ? facts[name] : Json();
        row.push_back({value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump()});
      }
      const bool alike =
          std::all_of(row.begin() + 2, row.end(), [&](const Cell& cell) { return cell.text == row[1].text; });
      if (!alike) table.rows.push_back(std::move(row));
    }
  }
  const std::string html = "<section><h2>What differs</h2>\n";
  if (table.rows.empty()) return html + "<p>Model, training, preparation and machine are alike.</p></section>\n";
  return html + to_html(table) + "</section>\n";
}

std::string details(const RunData& run) {
  return plan_section(run) + data_section(run) + settings_section(run) + methods_section(run);
}

/// Gives runs of folders with the same name a number.
void make_names_unique(std::vector<RunData>& runs) {
  std::map<std::string, int> seen;
  for (RunData& run : runs)
    if (const int count = ++seen[run.name]; count > 1) run.name += " (" + std::to_string(count) + ")";
}

}  // namespace

std::string report_page(std::span<const RunData> runs) {
  const bool alone = runs.size() == 1;
  HtmlPage page{.title = alone ? "Run " + runs[0].name : std::to_string(runs.size()) + " runs compared",
                .body = {},
                .data = {{"format", "voxshard report 1"}, {"runs", Json::array()}}};
  for (const RunData& run : runs) page.data["runs"].push_back(to_json(run));
  page.body = "<header><h1>" + html_text(page.title) + "</h1>\n";
  if (alone) page.body += "<p class=\"soft\">" + html_text(state_of(runs[0])) + "</p>\n" + tiles(runs[0]);
  page.body += "</header>\n";
  if (!alone) page.body += overview(runs) + spread_section(runs) + differences(runs);
  page.body += curves_section(runs) + scores_section(runs) + precision_section(runs);
  if (alone) page.body += confusion_section(runs[0]) + drawn_section(runs[0]) + slices_section(runs[0]);
  for (const RunData& run : runs)
    page.body += alone ? details(run) : folded("Plan, data, settings and methods of " + run.name, details(run));
  page.body +=
      "<footer>Cases are named as in the run's folder. Every number is from its files: results.csv, validations.csv, "
      "last_validation.json, best_validation.json, run.json, plans.json, fingerprint.json. Made by "
      "voxshard " VOXSHARD_VERSION "; not a medical device.</footer>\n";
  return to_html(page);
}

std::vector<RunData> write_report_page(const std::vector<std::filesystem::path>& runs,
                                       const std::filesystem::path& file) {
  if (runs.empty() || runs.size() > kMostComparedRuns)
    throw Error(ErrorKind::kUsage, "[report] " + std::to_string(runs.size()) + " runs are given; expected 1 to " +
                                       std::to_string(kMostComparedRuns));
  std::vector<RunData> data;
  for (const auto& run : runs) data.push_back(read_run_data(run));
  make_names_unique(data);
  if (runs.size() == 1) data[0].slices = read_slices(runs[0]);
  write_page(file, report_page(data), "give fewer runs");
  return data;
}

}  // namespace voxshard
