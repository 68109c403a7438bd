// The image of a cut in plan_section.h.
#include <algorithm>
#include <charconv>

#include "libcore/base/text.h"
#include "libcore/partition/mesh.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/plan_section.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 1024, kMostExtent = 1 << 20;

/// Returns the numbers of "2x3x4"; none when the text is something else.
std::vector<std::int64_t> extents_of(const std::string& text) {
  std::vector<std::int64_t> extents;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || value < 1 || value > kMostExtent) return {};
    extents.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
    if (at < text.size() && text[at++] != 'x') return {};
  }
  return extents;
}

/// "0 to 15".
std::string interval_text(const Interval& part) {
  if (part.first == part.second) return "nothing";
  return std::to_string(part.first) + " to " + std::to_string(part.second - 1);
}

/// One slab of a volume, or an image: a rectangle for each core.
std::string slab_svg(const std::vector<Interval>& rows, const std::vector<Interval>& columns, std::int64_t first_core,
                     const std::string& title, bool known) {
  constexpr double kSide = 190, kTop = 20;
  const auto height = static_cast<double>(rows.back().second), width = static_cast<double>(columns.back().second);
  const double scale = kSide / std::max(height, width);
  std::string svg = "<svg class=\"chart\" role=\"img\" aria-label=\"" + html_text(title) + "\" viewBox=\"0 0 " +
                    svg_number(width * scale + 2) + " " + svg_number(height * scale + kTop + 2) +
                    "\" style=\"max-width:" + svg_number(width * scale + 2) +
                    "px\"><text class=\"tick\" x=\"0\" y=\"13\">" + html_text(title) + "</text>";
  for (const Interval& row : rows)
    for (const Interval& column : columns) {
      const std::int64_t core = first_core++;
      const double w = static_cast<double>(column.second - column.first) * scale,
                   h = static_cast<double>(row.second - row.first) * scale;
      if (w <= 0 || h <= 0) continue;
      const double x = 1 + static_cast<double>(column.first) * scale, y = kTop + static_cast<double>(row.first) * scale;
      svg += "<rect class=\"tile\" x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" width=\"" + svg_number(w) +
             "\" height=\"" + svg_number(h) + "\"><title>core " + std::to_string(core) +
             (known ? ": rows " + interval_text(row) + ", columns " + interval_text(column) : "") + "</title></rect>";
      if (w > 16 && h > 14)
        svg += "<text class=\"tick\" text-anchor=\"middle\" x=\"" + svg_number(x + w / 2) + "\" y=\"" +
               svg_number(y + h / 2 + 4) + "\">" + std::to_string(core) + "</text>";
    }
  return svg + "</svg>\n";
}

}  // namespace

std::string grid_svg(const std::string& partition, const std::string& size) {
  const std::vector<std::int64_t> parts = extents_of(partition);
  if (parts.size() < 4 || parts.size() > 5) return "";
  std::int64_t cores = 1;
  for (const std::int64_t part : parts)
    if ((cores *= part) > kMostCores) return "";
  std::vector<std::int64_t> extents = extents_of(size);
  const std::size_t axes = parts.size() - 2;
  const bool known = extents.size() == axes;
  if (!known) extents.assign(parts.begin() + 1, parts.end() - 1);
  std::vector<std::vector<Interval>> cuts;
  for (std::size_t a = 0; a < axes; ++a) cuts.push_back(greedy_ceil(extents[a], parts[a + 1]));
  const std::vector<Interval> slabs = axes == 3 ? cuts[0] : std::vector<Interval>{{0, 1}};
  const std::int64_t in_slab = parts[parts.size() - 3] * parts[parts.size() - 2];
  std::string html = "<div class=\"panels\">\n";
  for (std::size_t d = 0; d < slabs.size(); ++d)
    html += slab_svg(cuts[axes - 2], cuts[axes - 1], static_cast<std::int64_t>(d) * in_slab,
                     axes == 2 ? "cores"
                     : known   ? "slices " + interval_text(slabs[d])
                               : "slab " + std::to_string(d + 1),
                     known);
  return html + "</div>\n";
}

}  // namespace voxshard
