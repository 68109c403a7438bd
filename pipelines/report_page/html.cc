#include "pipelines/report_page/html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : plain_text(text)) switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  return html;
}

std::string script_json(const nlohmann::ordered_json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  return safe;
}

std::string svg_number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", std::clamp(value, -1e9, 1e9));
  return text;
}

Cell number_cell(double value, int digits) {
  if (!std::isfinite(value)) return {.text = fixed_text(value, digits)};
  return {.text = fixed_text(value, digits), .value = value};
}

std::string to_html(const HtmlTable& table) {
  std::string html = "<div class=\"scroll\"><table";
  if (!table.name.empty()) html += " id=\"" + html_text(table.name) + "\"";
  if (table.style != nullptr) html += std::string(" class=\"") + table.style + "\"";
  html += "><thead><tr>";
  for (const std::string& title : table.head) html += "<th scope=\"col\">" + html_text(title) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (bool first = true; const Cell& cell : row) {
      const char* tag = first ? "th" : "td";
      html += std::string("<") + tag + (first ? " scope=\"row\"" : "");
      if (cell.style != nullptr) html += std::string(" class=\"") + cell.style + "\"";
      if (cell.share) html += " style=\"--Share:" + fixed_text(*cell.share) + "\"";
      if (cell.value) html += " data-value=\"" + number_text(*cell.value) + "\"";
      html += ">" + html_text(cell.text) + "</" + tag + ">";
      first = false;
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string folded(std::string_view title, const std::string& html) {
  return "<details><summary>" + html_text(title) + "</summary>\n" + html + "</details>\n";
}

}  // namespace voxshard
