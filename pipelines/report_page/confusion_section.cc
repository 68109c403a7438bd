// The confusion of detail_sections.h.
#include <algorithm>

#include "pipelines/report_page/detail_sections.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"
#include "pipelines/report_page/validation_detail.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// A validation, "last" or "best", for the ids of its tables.
struct Shown {
  const Json& detail;
  const ValidationData& of;
  std::string id;
};

Cell count_cell(const Json& value) {
  if (!value.is_number()) return {"-"};
  return {.text = value.dump(), .value = value.get<double>()};
}
Cell share_cell(const Json& value, int digits = 3) {
  return value.is_number() ? number_cell(value.get<double>(), digits) : Cell{"-"};
}

/// Returns the name of a class by its number; of no class for null.
std::string name_of(const Json& detail, const Json& number) {
  const Json& classes = part_of(detail, "/classes");
  if (!number.is_number_integer() || number < 0 || number >= classes.size()) return "nothing";
  return fact(classes[number.get<std::size_t>()], "/class");
}

/// "cell taken for nucleus: 4".
std::string words_of(const Json& detail, const Json& mistake) {
  const std::string of = name_of(detail, part_of(mistake, "/true")), as = name_of(detail, part_of(mistake, "/found"));
  const std::string items = ": " + fact(mistake, "/items");
  if (part_of(mistake, "/true").is_null()) return as + " detected where there is none" + items;
  if (part_of(mistake, "/found").is_null()) return of + " not found" + items;
  return of + " taken for " + as + items;
}

std::string mistakes_html(const Json& detail) {
  constexpr std::size_t kMostSaid = 8;
  const Json& mistakes = part_of(detail, "/mistakes");
  if (mistakes.empty()) return "<p>No mistakes.</p>\n";
  std::string html = "<p>Most frequent mistakes:</p>\n<ul>";
  for (std::size_t i = 0; i < std::min(kMostSaid, mistakes.size()); ++i)
    html += "<li>" + html_text(words_of(detail, mistakes[i])) + "</li>";
  return html + "</ul>\n";
}

std::string classes_html(const Shown& shown, bool detects) {
  HtmlTable table{.name = shown.id + "-class-scores",
                  .head = {"class", detects ? "objects" : "items", detects ? "detections" : "classified as it",
                           "recall", "precision", "F1"},
                  .rows = {}};
  for (const Json& row : part_of(shown.detail, "/classes")) {
    table.rows.push_back({{fact(row, "/class")},
                          count_cell(part_of(row, "/items")),
                          count_cell(part_of(row, "/found")),
                          share_cell(part_of(row, "/recall")),
                          share_cell(part_of(row, "/precision")),
                          share_cell(part_of(row, "/f1"))});
    const Json& recall = part_of(row, "/recall");
    if (recall.is_number() && recall == 0) table.rows.back()[3].style = "missed";
  }
  return to_html(table);
}

std::string matrix_html(const Shown& shown) {
  const Json& matrix = part_of(shown.detail, "/confusion");
  if (matrix.is_null())
    return "<p>The matrix of more than " + std::to_string(kMostShownClasses) + " classes is not shown.</p>\n";
  const std::vector<std::string> names = classes_of_detail(shown.detail);
  HtmlTable table{.name = shown.id + "-confusion", .head = {"true class, down; found, across"}, .rows = {}};
  table.style = "confusion";
  table.head.insert(table.head.end(), names.begin(), names.end());
  for (std::size_t r = 0; r < matrix.size(); ++r) {
    double all = 0;
    for (const Json& items : matrix[r]) all += items.get<double>();
    std::vector<Cell> row = {{names[r]}};
    for (const Json& items : matrix[r]) {
      row.push_back(count_cell(items));
      row.back().share = all > 0 ? items.get<double>() / all : 0;
    }
    table.rows.push_back(std::move(row));
  }
  return "<p class=\"soft\">Shaded by the share of the row.</p>\n" + to_html(table);
}

std::string items_html(const Shown& shown, const char* list, bool detects) {
  const Json& items = part_of(shown.detail, std::string("/") + list);
  if (items.empty()) return "";
  HtmlTable table{.name = shown.id + "-" + list, .head = {}, .rows = {}};
  if (detects)
    table.head = {"image", "AP50", "objects", "found", "wrong"};
  else
    table.head = {"item", "class", "taken for", "probability of its class"};
  for (const Json& one : items) {
    std::vector<Cell> row = {{fact(one, "/item")}};
    if (detects)
      row.insert(row.end(), {share_cell(part_of(one, "/ap50")), count_cell(part_of(one, "/objects")),
                             count_cell(part_of(one, "/found")), count_cell(part_of(one, "/wrong"))});
    else
      row.insert(row.end(), {{name_of(shown.detail, part_of(one, "/true"))},
                             {name_of(shown.detail, part_of(one, "/found"))},
                             share_cell(part_of(one, "/probability"), 5)});
    table.rows.push_back(std::move(row));
  }
  const std::string of = detects ? "images by their own AP50" : "items by the probability of their class";
  return "<h3>" + std::string(list == std::string_view("worst") ? "Worst " : "Best ") + of + "</h3>\n" + to_html(table);
}

std::string validation_html(const Shown& shown) {
  const bool detects = fact(shown.detail, "/kind") == "detection";
  std::string html;
  if (detects)
    html += part_of(shown.detail, "/operating_point").is_null()
                ? "<p>No detection finds an object at an IoU of 0.5, whatever its score.</p>\n"
                : "<p>By the detections of at least the score of the operating point, at an IoU of 0.5.</p>\n";
  return html + mistakes_html(shown.detail) + classes_html(shown, detects) + matrix_html(shown) +
         items_html(shown, "worst", detects) + items_html(shown, "best", detects);
}

}  // namespace

std::string confusion_section(const RunData& run) {
  const bool has_last = !run.last_detail.is_null(), has_best = !run.best_detail.is_null() && run.best() != run.last();
  if (!has_last && !has_best) return "";
  std::string html = "<section id=\"confusion\"><h2>Confusion of classes</h2>\n";
  if (has_last)
    html += "<h3>Last validation, " + html_text(title_of(*run.last())) + "</h3>\n" +
            validation_html({run.last_detail, *run.last(), "last"});
  if (has_best)
    html += folded("The best validation, " + title_of(*run.best()),
                   validation_html({run.best_detail, *run.best(), "best"}));
  return html + "</section>\n";
}

}  // namespace voxshard
