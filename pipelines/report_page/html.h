// Pieces of the HTML of a report. Every text that comes from a file (names of classes, cases and runs) passes through
// html_text(), so that it is shown and never becomes markup.
//
//   html_text("<b>")                                                  // "&lt;b&gt;"
//   to_html(HtmlTable{.head = {"class", "Dice"}, .rows = {{{"liver"}, number_cell(0.93412)}}});
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

/// Returns text for elements and for attributes in double quotes; characters that steer a terminal or change the
/// direction of writing are shown as \x1b.
std::string html_text(std::string_view text);

/// Returns JSON for a <script> element: ASCII alone, without "<", ">" and "&", so that no value can end the element.
std::string script_json(const nlohmann::ordered_json& json);

/// Returns a number of an SVG's view box: a tenth of a unit is finer than a screen shows.
std::string svg_number(double value);

struct Cell {
  std::string text;                  // raw; escaped when the table is written
  std::optional<double> value = {};  // the exact number, which the cell keeps as its data-value
  const char* style = nullptr;       // a class of the style sheet
  std::optional<double> share = {};  // 0 to 1: how much the cell is shaded
};

/// "0.934" with its exact value; "-" for NaN.
Cell number_cell(double value, int digits = 3);

struct HtmlTable {
  std::string name = {};  // the id of the table, by which tests and links find it
  std::vector<std::string> head;
  std::vector<std::vector<Cell>> rows;  // the first cell of a row is its heading
  const char* style = nullptr;          // a class of the style sheet
};

std::string to_html(const HtmlTable& table);

/// Returns a block that is folded until it is clicked.
std::string folded(std::string_view title, const std::string& html);

}  // namespace voxshard
