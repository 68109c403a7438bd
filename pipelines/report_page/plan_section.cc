#include "pipelines/report_page/plan_section.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/report_page/bar_chart.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_facts.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

std::string seconds_label(double seconds) {
  return seconds < 60 ? fixed_text(seconds, 2) + " s" : duration_text(seconds);
}
std::string bytes_label(double bytes) { return bytes_text(static_cast<std::int64_t>(std::clamp(bytes, 0.0, 9e18))); }

std::string memory_html(const RunData& run) {
  std::vector<Bar> cores, parts;
  for (const Json& bytes : part_of(run.facts, "/memory/bytes_per_core"))
    if (bytes.is_number())
      cores.push_back({"core " + std::to_string(cores.size()), bytes.get<double>(), bytes_label(bytes.get<double>())});
  const Json& planned = part_of(run.facts, "/report/memory/planned");
  if (planned.is_object())
    for (const auto& [part, bytes] : planned.items())
      if (bytes.is_number()) parts.push_back({part, bytes.get<double>(), bytes_label(bytes.get<double>())});
  std::ranges::stable_sort(parts, std::greater(), &Bar::value);
  std::string html;
  if (!cores.empty())
    html += "<h3>Memory of each core, planned</h3>\n" + to_html(BarChart{.name = "core-memory", .bars = cores});
  if (parts.empty()) return html;
  html +=
      "<h3>Memory of the process, planned by part</h3>\n" + to_html(BarChart{.name = "process-memory", .bars = parts});
  const auto total = number_fact(run.facts, "/report/memory/planned_bytes"),
             peak = number_fact(run.facts, "/report/memory/peak_resident_bytes");
  if (total && peak)
    html += "<p>Planned in all " + bytes_label(*total) + ", resident at the peak " + bytes_label(*peak) + ".</p>\n";
  return html;
}

std::string time_html(const RunData& run) {
  std::vector<Bar> bars;
  const auto add = [&](const char* name, double seconds) { bars.push_back({name, seconds, seconds_label(seconds)}); };
  const auto all = number_fact(run.facts, "/report/seconds"), fed = number_fact(run.facts, "/report/feed/seconds"),
             share = number_fact(run.facts, "/report/feed/share_of_steps"),
             validation = number_fact(run.facts, "/report/validation_seconds"),
             checkpoints = number_fact(run.facts, "/report/checkpoint_seconds");
  std::string html =
      "<p>" + std::to_string(run.rows) + " steps took " + seconds_label(run.step_seconds) +
      (run.rows > 0 ? ", " + seconds_label(run.step_seconds / static_cast<double>(run.rows)) + " each on average"
                    : "") +
      ".</p>\n";
  if (!all || !fed || !share || !validation || !checkpoints) return html;
  // Share and seconds of feeding give the seconds of the steps of the last call; of a resumed run the rows are more.
  const double steps = *share > 0 ? *fed / *share : 0;
  add("steps on the cores", std::max(0.0, steps - *fed)), add("reading and feeding samples", *fed);
  add("validation", *validation), add("checkpoints", *checkpoints);
  add("start, tables, the rest", std::max(0.0, *all - steps - *validation - *checkpoints));
  return html + "<h3>The time of the last call, " + seconds_label(*all) + "</h3>\n" +
         to_html(BarChart{.name = "time", .bars = bars});
}

/// Returns "a, b" of a list; other values as fact() does.
std::string text_of(const Json& value) { return fact(Json{{"value", value}}, "/value"); }

void add_row(HtmlTable& table, const std::string& name, const std::string& value) {
  if (!value.empty()) table.rows.push_back({{name}, {value}});
}

/// Adds the entries of an object, but for lists of names that have rows of their own, and for the ranges of the quality
/// flags, hundreds of numbers for predict.
void add_rows(HtmlTable& table, const Json& facts) {
  if (!facts.is_object()) return;
  for (const auto& [name, value] : facts.items())
    if (name != "class_names" && name != "classes" && name != kUsualCases && !(value.is_object() && value.empty()))
      add_row(table, name, value.is_object() ? value.dump() : text_of(value));
}

/// "60 to 80, median 69; 48 to 65, median 58; 48 to 80, median 51" of a range with three axes.
std::string range_text(const Json& range, int digits) {
  const auto value = [&](const char* which, std::size_t axis) {
    const auto number = number_fact(range, std::string("/") + which + "/" + std::to_string(axis));
    return number ? fixed_text(*number, digits) : "-";
  };
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis)
    text += (axis > 0 ? "; " : "") + value("least", axis) + " to " + value("most", axis) + ", median " +
            value("median", axis);
  return text;
}

/// What stands in the fingerprint of the data that the run was prepared from; nothing of a run without one.
std::string fingerprint_html(const RunData& run) {
  const Json& facts = part_of(run.facts, "/fingerprint");
  if (!facts.is_object()) return "";
  HtmlTable ranges{.name = "fingerprint", .head = {"fingerprint of the data", "value"}, .rows = {}},
      classes{.name = "fingerprint-classes", .head = {"class", "cases", "share of all voxels"}, .rows = {}};
  if (const auto cases = number_fact(facts, "/cases"))
    ranges.rows.push_back({{"prepared cases"}, number_cell(*cases, 0)});
  add_row(ranges, "voxels of a file, along x; y; z", range_text(part_of(facts, "/size"), 0));
  add_row(ranges, "spacing (mm), along x; y; z", range_text(part_of(facts, "/spacing_mm"), 3));
  if (const Json& codes = part_of(facts, "/orientations"); codes.is_object())
    for (const auto& [code, count] : codes.items()) add_row(ranges, "cases stored as " + code, count.dump());
  const auto add_foreground = [&](const std::string& name, const Json& values) {
    if (!values.is_object()) return;
    for (const auto& [key, value] : values.items())
      if (value.is_number()) ranges.rows.push_back({{name + ", " + key}, number_cell(value.get<double>(), 2)});
  };
  add_foreground("foreground HU", part_of(facts, "/foreground_hu"));
  for (const Json& channel : part_of(facts, "/foreground_by_channel"))
    add_foreground("foreground of " + fact(channel, "/channel"), part_of(channel, "/values"));
  for (const Json& one : part_of(facts, "/classes"))
    classes.rows.push_back({{fact(one, "/name")},
                            number_cell(number_fact(one, "/cases").value_or(0), 0),
                            number_cell(number_fact(one, "/share_of_voxels").value_or(0), 6)});
  return to_html(ranges) + to_html(classes);
}

}  // namespace

std::string plan_section(const RunData& run) {
  const std::string partition = fact(run.facts, "/model/partition"), crop = fact(run.facts, "/training/crop"),
                    replicas = fact(run.facts, "/model/replicas");
  std::string html = "<section id=\"plan\"><h2>Plan</h2>\n<p>Partition " + html_text(partition) + ", " +
                     html_text(replicas) + (replicas == "1" ? " replica" : " replicas") + ", " +
                     html_text(fact(run.facts, "/model/precision")) +
                     ", recomputed: " + html_text(fact(run.facts, "/model/recompute")) + "; samples " +
                     html_text(crop.empty() ? "of their own size" : crop) + ".</p>\n";
  html += grid_svg(partition, crop);
  return html + memory_html(run) + time_html(run) + "</section>\n";
}

std::string data_section(const RunData& run) {
  HtmlTable table{.name = "data", .head = {"of the data", "value"}, .rows = {}};
  add_row(table, "training cases", fact(run.facts, "/training/cases"));
  add_row(table, "validation cases", fact(run.facts, "/report/validation_cases"));
  for (const auto& [code, count] : part_of(run.facts, "/left_out").items())
    add_row(table, "left out, " + code, count.dump());
  add_row(table, "classes", joined(run.classes, ", "));
  add_rows(table, part_of(run.facts, "/preparation"));
  add_row(table, "hash of the preparation", fact(run.facts, "/preparation_hash"));
  const Json& drawn = part_of(run.facts, "/report/samples_drawn_on");
  if (drawn.is_object())
    for (const auto& [name, count] : drawn.items()) add_row(table, "samples drawn on " + name, count.dump());
  if (const auto changes = number_fact(run.facts, "/data_changes"); changes.value_or(0) > 0)
    add_row(table, "changes of the data while it trained", fact(run.facts, "/data_changes"));
  return "<section id=\"data\"><h2>Data</h2>\n" + to_html(table) + fingerprint_html(run) + "</section>\n";
}

std::string settings_section(const RunData& run) {
  HtmlTable chosen{.name = "settings", .head = {"setting", "value", "set by", "reason"}, .rows = {}},
      all{.name = "", .head = {"of model and training", "value"}, .rows = {}},
      made{.name = "made-by", .head = {"made with", "version"}, .rows = {}};
  for (const Json& row : part_of(run.facts, "/settings"))
    chosen.rows.push_back(
        {{fact(row, "/option")}, {fact(row, "/value")}, {fact(row, "/layer")}, {fact(row, "/reason")}});
  add_rows(all, part_of(run.facts, "/model"));
  add_rows(all, part_of(run.facts, "/training"));
  add_row(all, "parameters", fact(run.facts, "/report/parameters"));
  add_rows(made, part_of(run.facts, "/machine"));
  return "<section id=\"settings\"><h2>Settings and versions</h2>\n" + to_html(chosen) +
         folded("Everything that decides the result", to_html(all)) + folded("What made it", to_html(made)) +
         "</section>\n";
}

}  // namespace voxshard
