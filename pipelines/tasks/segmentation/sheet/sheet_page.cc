#include "pipelines/tasks/segmentation/sheet/sheet_page.h"

#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/html_page.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/slices_section.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// From fine to coarse; the last has one plane of each axis.
constexpr SheetLimits kSteps[] = {{24, 128}, {16, 128}, {10, 128}, {6, 128}, {3, 128}, {1, 128}, {1, 96}, {1, 64}};

/// The value of a class in a case: null where the label map has no such class.
const Json& volume_of(const Json& one, const std::string& name) {
  static const Json kNone;
  for (const Json& volume : one.at("volumes"))
    if (volume.at("class") == name) return volume;
  return kNone;
}

/// Returns the names of the classes of all cases, each once: those of the folder, then others that label maps have.
std::vector<std::string> shown_classes(const Json& cases) {
  std::vector<std::string> names;
  for (const Json& one : cases)
    for (const Json& volume : one.at("volumes"))
      if (const std::string name = volume.at("class"); std::ranges::find(names, name) == names.end())
        names.push_back(name);
  return names;
}

std::string volumes_table(const Json& cases, const std::vector<std::string>& classes) {
  HtmlTable table{.name = "volumes", .head = {"ml"}, .rows = {}};
  table.head.insert(table.head.end(), classes.begin(), classes.end());
  std::vector<double> sums(classes.size());
  const auto cell = [](double ml) { return number_cell(ml, ml < 10 ? 2 : 1); };
  for (const Json& one : cases) {
    std::vector<Cell> row = {{fact(one, "/case")}};
    for (std::size_t c = 0; c < classes.size(); ++c) {
      const Json& volume = volume_of(one, classes[c]);
      row.push_back(volume.is_null() ? number_cell(0, 2) : cell(volume.at("ml").get<double>()));
      if (row.back().value == 0.0) row.back().style = "missed";
      sums[c] += row.back().value.value_or(0);
    }
    table.rows.push_back(std::move(row));
  }
  std::vector<Cell> mean = {{"mean"}};
  for (const double sum : sums) mean.push_back(cell(sum / static_cast<double>(cases.size())));
  if (cases.size() > 1) table.rows.push_back(std::move(mean));
  return to_html(table);
}

std::string case_html(const Json& one, std::size_t item) {
  HtmlTable table{.name = "case-" + std::to_string(item), .head = {"class", "ml", "voxels"}, .rows = {}};
  for (const Json& volume : one.at("volumes"))
    if (const auto voxels = volume.at("voxels").get<std::int64_t>(); voxels > 0)
      table.rows.push_back({{fact(volume, "/class")},
                            number_cell(volume.at("ml").get<double>(), 2),
                            {.text = std::to_string(voxels), .value = static_cast<double>(voxels)}});
  std::string html = "<h3>" + html_text(fact(one, "/case")) + "</h3>\n";
  if (const std::string code = fact(one, "/image"); !code.empty())
    html += "<p class=\"soft\">Its image is not shown: " + html_text(code) + ".</p>\n";
  html += plane_figures(item, one.at("planes"));
  constexpr std::size_t kMostUnfolded = 8;
  if (table.rows.empty()) return html + "<p>No labelled voxel.</p>\n";
  return html + (table.rows.size() <= kMostUnfolded ? to_html(table)
                                                    : folded("Volumes of " + fact(one, "/case"), to_html(table)));
}

std::string counted_cases(std::size_t count) { return std::to_string(count) + (count == 1 ? " case" : " cases"); }

/// What is not on the page, or not whole.
std::string thinning_text(const Sheet& sheet) {
  const SheetBudget& budget = sheet.budget;
  std::string text;
  if (budget.thinned())
    text += "So that the page stays below 20 MB, it has " + std::to_string(budget.limits.planes) +
            " planes of each axis with at most " + std::to_string(budget.limits.side) + " samples a side. ";
  if (budget.sliced < budget.listed) text += "The first " + std::to_string(budget.sliced) + " have slices. ";
  if (budget.listed < sheet.found)
    text += "Of " + std::to_string(sheet.found) + " the first " + std::to_string(budget.listed) + " are listed. ";
  return text;
}

}  // namespace

SheetBudget sheet_budget(const std::vector<Shape>& sizes, std::size_t classes) {
  // Bytes of a case and a class in the table, in the table of the case and in the data; of the page without cases.
  constexpr std::size_t kMostListed = 2000, kNumberBytes = 300, kPageBytes = std::size_t{256} << 10;
  SheetBudget budget;
  const std::size_t case_bytes = kNumberBytes * (classes + 2), room = kMostPageBytes - kPageBytes;
  budget.listed = std::min({sizes.size(), kMostListed, room / 4 * 3 / case_bytes});  // a quarter is for slices
  for (const SheetLimits& limits : kSteps) {
    budget.limits = limits, budget.sliced = 0;
    for (std::size_t left = room - budget.listed * case_bytes; budget.sliced < budget.listed; ++budget.sliced) {
      const auto bytes = static_cast<std::size_t>(most_bytes(limits, sizes[budget.sliced]));
      if (bytes > left) break;
      left -= bytes;
    }
    if (budget.sliced == budget.listed) break;
  }
  return budget;
}

std::vector<std::string> empty_classes(const Json& cases) {
  std::vector<std::pair<std::size_t, std::string>> missing;
  for (const std::string& name : shown_classes(cases)) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(cases, [&](const Json& one) {
      const Json& volume = volume_of(one, name);
      return volume.is_null() || volume.at("voxels") == 0;
    }));
    if (count > 0) missing.emplace_back(count, name);
  }
  std::ranges::stable_sort(missing, std::greater(), &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> lines;
  for (const auto& [count, name] : missing)
    lines.push_back("no voxel of " + name + " in " + std::to_string(count) + " of " + counted_cases(cases.size()));
  return lines;
}

std::string sheet_page(const Sheet& sheet) {
  const std::vector<std::string> classes = shown_classes(sheet.cases);
  HtmlPage page{.title = "Predictions " + sheet.name, .body = {}, .data = {}};
  page.body = "<header><h1>" + html_text(page.title) + "</h1>\n<p class=\"soft\">" + counted_cases(sheet.cases.size()) +
              ", " + std::to_string(classes.size()) + (classes.size() == 1 ? " class" : " classes");
  for (const auto& [code, count] : sheet.left_out.items())
    page.body += "; left out, " + html_text(code) + ": " + count.dump();
  page.body +=
      ". " + html_text(thinning_text(sheet)) +
      "</p>\n</header>\n<div class=\"alert\"><b>This page shows patients.</b> Slices of a head show a face: it is "
      "no anonymous page, whatever its cases are called.</div>\n";
  if (const std::vector<std::string> lines = empty_classes(sheet.cases); !lines.empty()) {
    page.body += "<div class=\"alert\"><b>Classes without a voxel</b><ul>";
    for (const std::string& line : lines) page.body += "<li>" + html_text(line) + "</li>";
    page.body += "</ul></div>\n";
  }
  page.body += "<section><h2>Volumes</h2>\n" + volumes_table(sheet.cases, classes) + "</section>\n";
  Json listed = Json::array(), sliced = Json::array();
  for (const Json& one : sheet.cases) {
    Json numbers = one;
    numbers.erase("planes"), numbers.erase("low"), numbers.erase("high");
    listed.push_back(std::move(numbers));
    if (one.contains("planes"))
      sliced.push_back(
          {{"low", one.value("low", Json(0))}, {"high", one.value("high", Json(0))}, {"planes", one["planes"]}});
  }
  if (!sliced.empty()) {
    page.body +=
        "<section id=\"show-slices\"><h2>Slices</h2>\n<p>Planes between the first and the last labelled one. Dragging "
        "an image to the side changes the width of the window, up and down its centre; a double click shows all values "
        "again.</p>\n<p class=\"legend\"><label><input type=\"checkbox\" id=\"show-prediction\" checked> labels</label>"
        "<br>" +
        classes_legend({sheet.classes.begin() + (sheet.classes.empty() ? 0 : 1), sheet.classes.end()}) +
        "</p>\n<noscript><p>A browser without scripts shows no slices.</p></noscript>\n";
    for (std::size_t i = 0; i < sliced.size(); ++i) page.body += case_html(sheet.cases[i], i);
    page.body += "</section>\n";
  }
  page.body +=
      "<footer>Cases are named as their label maps. Volumes are voxels times spacing. Made by "
      "voxshard " VOXSHARD_VERSION "; not a medical device.</footer>\n";
  page.data = {{"format", "voxshard contact sheet 1"},
               {"name", sheet.name},
               {"classes", classes},
               {"cases", std::move(listed)},
               {"slices", {{"cases", std::move(sliced)}}}};
  return to_html(page);
}

}  // namespace voxshard
