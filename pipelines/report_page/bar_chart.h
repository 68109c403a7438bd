// Bars with their names and values, as a table of HTML: it reads as text without the style sheet.
//
//   to_html(BarChart{.name = "time", .bars = {{"validation", 12.5, "12.50 s"}}});
#pragma once

#include <string>
#include <vector>

namespace voxshard {

struct Bar {
  std::string name;
  double value = 0;   // 0 or more
  std::string label;  // "12.50 s"
};

struct BarChart {
  std::string name;  // the id of the table
  std::vector<Bar> bars;
};

/// Returns a table; the longest bar is that of the largest value.
std::string to_html(const BarChart& chart);

}  // namespace voxshard
