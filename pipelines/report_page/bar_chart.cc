#include "pipelines/report_page/bar_chart.h"

#include <algorithm>
#include <cstdio>

#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"

namespace voxshard {

std::string to_html(const BarChart& chart) {
  double most = 0;
  for (const Bar& bar : chart.bars) most = std::max(most, bar.value);
  std::string html = "<table id=\"" + html_text(chart.name) + "\" class=\"bars\"><tbody>\n";
  for (const Bar& bar : chart.bars) {
    char width[32];
    std::snprintf(width, sizeof width, "%.2f", most > 0 ? 100 * bar.value / most : 0);
    html += "<tr><th scope=\"row\">" + html_text(bar.name) + "</th><td data-value=\"" + number_text(bar.value) + "\">" +
            html_text(bar.label) + "</td><td class=\"bar\"><i style=\"width:" + width + "%\"></i></td></tr>\n";
  }
  return html + "</tbody></table>\n";
}

}  // namespace voxshard
