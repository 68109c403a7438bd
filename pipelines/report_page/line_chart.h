// A chart of lines as SVG, without a script: axes with round numbers, a gap where a value is missing, the colours of
// the runs from the style sheet of the page.
//
//   to_svg(LineChart{.title = "liver", .x_title = "step", .from = 0, .to = 1, .lines = {{"run", 0, points}}});
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace voxshard {

struct ChartPoint {
  double x = 0, y = 0;  // y may be NaN: the line has a gap
};

struct ChartLine {
  std::string name;
  int colour = 0;  // index of a run
  std::vector<ChartPoint> points;
  bool dashed = false;  // averaged weights
  bool faint = false;   // single values behind their moving mean
};

struct LineChart {
  std::string title, x_title;
  double width = 720, height = 260;          // in units of the view box
  std::optional<double> from = {}, to = {};  // of the y axis; empty: by the values
  std::vector<ChartLine> lines;
  std::string series =
      {};  // what the script of the page looks up in the data: "loss", "score", "class:liver", "precision"
};

/// Returns an <svg> element.
std::string to_svg(const LineChart& chart);

/// Returns round numbers of an axis, at most `most` + 1 of them: 1, 2 or 5 times a power of ten apart, within the
/// range.
std::vector<double> axis_ticks(double low, double high, int most);

/// Returns the mean of each point and those around it, about a 25th of all points; of few points they themselves.
std::vector<ChartPoint> moving_mean(const std::vector<ChartPoint>& points);

}  // namespace voxshard
