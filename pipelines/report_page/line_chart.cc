#include "pipelines/report_page/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"

namespace voxshard {
namespace {

std::string tick_text(double value) { return significant_text(std::abs(value) < 1e-12 ? 0.0 : value); }

/// The ranges of both axes, and where they lie in the view box.
struct Frame {
  double x0 = std::numeric_limits<double>::infinity(), x1 = -x0, y0 = x0, y1 = -x0;
  double left = 52, right = 14, top = 26, bottom = 34, width, height;

  double x(double value) const { return left + (value - x0) / (x1 - x0) * (width - left - right); }
  double y(double value) const { return height - bottom - (value - y0) / (y1 - y0) * (height - top - bottom); }
};

Frame frame_of(const LineChart& chart) {
  Frame frame{.width = chart.width, .height = chart.height};
  for (const ChartLine& line : chart.lines)
    for (const ChartPoint& point : line.points) {
      frame.x0 = std::min(frame.x0, point.x), frame.x1 = std::max(frame.x1, point.x);
      if (!std::isfinite(point.y)) continue;
      frame.y0 = std::min(frame.y0, point.y), frame.y1 = std::max(frame.y1, point.y);
    }
  if (!(frame.x0 <= frame.x1)) frame.x0 = 0, frame.x1 = 1;
  if (!(frame.y0 <= frame.y1)) frame.y0 = 0, frame.y1 = 1;
  if (chart.from) frame.y0 = *chart.from;
  if (chart.to) frame.y1 = std::max(*chart.to, frame.y0);
  if (frame.x0 == frame.x1) frame.x0 -= 0.5, frame.x1 += 0.5;
  if (frame.y0 == frame.y1) frame.y0 -= 0.5, frame.y1 += 0.5;
  return frame;
}

std::string axes(const LineChart& chart, const Frame& frame) {
  std::string svg;
  const double low = chart.height - frame.bottom, end = chart.width - frame.right;
  for (const double y : axis_ticks(frame.y0, frame.y1, chart.height > 200 ? 6 : 4)) {
    svg += "<line class=\"rule\" x1=\"" + svg_number(frame.left) + "\" x2=\"" + svg_number(end) + "\" y1=\"" +
           svg_number(frame.y(y)) + "\" y2=\"" + svg_number(frame.y(y)) + "\"/>";
    svg += "<text class=\"tick\" text-anchor=\"end\" x=\"" + svg_number(frame.left - 6) + "\" y=\"" +
           svg_number(frame.y(y) + 4) + "\">" + tick_text(y) + "</text>";
  }
  for (const double x : axis_ticks(frame.x0, frame.x1, chart.width > 400 ? 8 : 3))
    svg += "<text class=\"tick\" text-anchor=\"middle\" x=\"" + svg_number(frame.x(x)) + "\" y=\"" +
           svg_number(low + 16) + "\">" + tick_text(x) + "</text>";
  svg += "<line class=\"axis\" x1=\"" + svg_number(frame.left) + "\" x2=\"" + svg_number(end) + "\" y1=\"" +
         svg_number(low) + "\" y2=\"" + svg_number(low) + "\"/>";
  svg += "<text class=\"name\" x=\"" + svg_number(frame.left) + "\" y=\"16\">" + html_text(chart.title) + "</text>";
  return svg + "<text class=\"tick\" text-anchor=\"end\" x=\"" + svg_number(end) + "\" y=\"" +
         svg_number(chart.height - 4) + "\">" + html_text(chart.x_title) + "</text>";
}

std::string path_of(const ChartLine& line, const Frame& frame) {
  std::string path;
  bool goes_on = false;
  const ChartPoint* only = nullptr;  // a point without neighbours would not be seen as a line
  std::string dots;
  const auto end_piece = [&] {
    if (only != nullptr)
      dots += "<circle class=\"dot r" + std::to_string(line.colour) + "\" cx=\"" + svg_number(frame.x(only->x)) +
              "\" cy=\"" + svg_number(frame.y(only->y)) + "\" r=\"2.5\"/>";
    only = nullptr, goes_on = false;
  };
  for (const ChartPoint& point : line.points) {
    if (!std::isfinite(point.y)) {
      end_piece();
      continue;
    }
    only = goes_on ? nullptr : &point;
    path += (goes_on ? "L" : "M") + svg_number(frame.x(point.x)) + " " + svg_number(frame.y(point.y));
    goes_on = true;
  }
  end_piece();
  return "<path class=\"line r" + std::to_string(line.colour) + (line.dashed ? " dashed" : "") +
         (line.faint ? " faint" : "") + "\" d=\"" + path + "\"><title>" + html_text(line.name) + "</title></path>" +
         dots;
}

}  // namespace

std::vector<double> axis_ticks(double low, double high, int most) {
  const double least = (high - low) / most, power = std::pow(10.0, std::floor(std::log10(least)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step = factor * power; step >= least * (1 - 1e-9)) break;
  std::vector<double> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i <= most; ++i)
    if (const double tick = (first + i) * step; tick <= high + step * 1e-9) ticks.push_back(tick);
  return ticks;
}

std::vector<ChartPoint> moving_mean(const std::vector<ChartPoint>& points) {
  const std::ptrdiff_t count = std::ssize(points), reach = count / 50;
  std::vector<ChartPoint> means;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, i - reach), end = std::min(count, i + reach + 1);
    double sum = 0;
    for (std::ptrdiff_t k = begin; k < end; ++k) sum += points[k].y;
    means.push_back({points[i].x, sum / static_cast<double>(end - begin)});
  }
  return means;
}

std::string to_svg(const LineChart& chart) {
  const Frame frame = frame_of(chart);
  std::string svg = "<svg class=\"chart\" role=\"img\" aria-label=\"" + html_text(chart.title) + "\" viewBox=\"0 0 " +
                    svg_number(chart.width) + " " + svg_number(chart.height) +
                    "\" style=\"max-width:" + svg_number(chart.width) + "px\"";
  if (!chart.series.empty())
    svg += " data-series=\"" + html_text(chart.series) + "\" data-x=\"" + html_text(chart.x_title) + "\" data-x0=\"" +
           number_text(frame.x0) + "\" data-x1=\"" + number_text(frame.x1) + "\" data-left=\"" +
           svg_number(frame.left) + "\" data-right=\"" + svg_number(chart.width - frame.right) + "\"";
  svg += ">" + axes(chart, frame);
  for (const ChartLine& line : chart.lines) svg += path_of(line, frame);
  return svg + "</svg>\n";
}

}  // namespace voxshard
