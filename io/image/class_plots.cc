#include "io/image/class_plots.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "io/image/draw_caption.h"
#include "io/image/opencv_threads.h"

namespace voxshard {
namespace {

constexpr int kPlotFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr int kMargin = 20, kTitle = 44, kLabels = 110, kDiagram = 480, kMostMatrix = 1600, kLeastMatrix = 480;
const cv::Scalar kPlotInk(30, 30, 30), kPale(190, 190, 190), kBar(70, 130, 200), kTooSure(225, 120, 110),
    kTooCautious(240, 200, 80);

/// A square grid of cells.
struct Grid {
  int left, top, cell, count;
  cv::Rect at(int row, int column) const { return {left + column * cell, top + row * cell, cell, cell}; }
  int side() const { return cell * count; }
};

cv::Size size_of(const std::string& text, double scale) {
  int below = 0;
  return cv::getTextSize(text, kPlotFont, scale, 1, &below);
}

void write(cv::Mat& image, const std::string& text, cv::Point at, double scale, const cv::Scalar& colour = kPlotInk) {
  cv::putText(image, text, at, kPlotFont, scale, colour, 1, cv::LINE_AA);
}

/// Writes a text in the middle of a cell, or not at all where it does not fit.
void write_inside(cv::Mat& image, const std::string& text, const cv::Rect& cell, const cv::Scalar& colour) {
  for (const double scale : {0.5, 0.4, 0.3}) {
    const cv::Size letters = size_of(text, scale);
    if (letters.width + 4 > cell.width || letters.height + 4 > cell.height) continue;
    write(image, text, {cell.x + (cell.width - letters.width) / 2, cell.y + (cell.height + letters.height) / 2}, scale,
          colour);
    return;
  }
}

/// Cuts a text to as many letters as fit.
std::string cut_to(std::string text, int width, double scale) {
  while (!text.empty() && size_of(text, scale).width > width) text.pop_back();
  return text;
}

void draw_matrix(cv::Mat& image, const ClassPlots& p, const Grid& grid) {
  for (int row = 0; row < grid.count; ++row) {
    const auto begin = p.confusion.begin() + static_cast<std::ptrdiff_t>(row) * grid.count;
    std::int64_t items = 0;
    for (auto it = begin; it != begin + grid.count; ++it) items += *it;
    for (int column = 0; column < grid.count; ++column) {
      const std::int64_t count = begin[column];
      const double share = items > 0 ? static_cast<double>(count) / static_cast<double>(items) : 0;
      const cv::Scalar shade(255 - 225 * share, 255 - 155 * share, 255 - 90 * share);
      const cv::Rect cell = grid.at(row, column);
      cv::rectangle(image, cell, shade, cv::FILLED);
      if (grid.cell >= 10) cv::rectangle(image, cell, kPale, 1);
      if (count > 0)
        write_inside(image, std::to_string(count), cell, share > 0.5 ? cv::Scalar(255, 255, 255) : kPlotInk);
    }
    const std::string name = cut_to(printable_text(p.classes[row]), kLabels - 24, 0.45);
    if (grid.cell < 12) continue;
    const int middle = grid.cell * row + grid.cell / 2;
    write(image, name, {grid.left - 8 - size_of(name, 0.45).width, grid.top + middle + 5}, 0.45);
    const std::string below = cut_to(name, grid.cell - 2, 0.45);
    write(image, below, {grid.left + middle - size_of(below, 0.45).width / 2, grid.top + grid.side() + 18}, 0.45);
  }
  cv::rectangle(image, {grid.left, grid.top, grid.side(), grid.side()}, kPlotInk, 1);
  write(image, "rows: true class, columns: predicted", {grid.left, grid.top + grid.side() + 44}, 0.45);
}

void draw_diagram(cv::Mat& image, const ClassPlots& p, const cv::Rect& box) {
  const auto x_of = [&](double v) { return box.x + static_cast<int>(std::lround(v * box.width)); };
  const auto y_of = [&](double v) { return box.y + box.height - static_cast<int>(std::lround(v * box.height)); };
  for (const ReliabilityBar& bar : p.bars) {
    if (!std::isfinite(bar.accuracy) || !std::isfinite(bar.confidence)) continue;
    const int left = x_of(bar.low) + 1, right = x_of(bar.high) - 1;
    cv::rectangle(image, cv::Point(left, y_of(bar.accuracy)), cv::Point(right, y_of(0)), kBar, cv::FILLED);
    cv::rectangle(image, cv::Point(left, y_of(bar.accuracy)), cv::Point(right, y_of(bar.confidence)),
                  bar.confidence > bar.accuracy ? kTooSure : kTooCautious, cv::FILLED);
    cv::rectangle(image, cv::Point(left, y_of(bar.share)), cv::Point(right, y_of(0)), kPlotInk, 1);
  }
  for (int tenth = 0; tenth <= 10; tenth += 2) {
    const double v = tenth / 10.0;
    const std::string text = tenth == 10 ? "1" : "0." + std::to_string(tenth);
    cv::line(image, {box.x - 4, y_of(v)}, {box.x, y_of(v)}, kPlotInk, 1);
    cv::line(image, {x_of(v), box.y + box.height}, {x_of(v), box.y + box.height + 4}, kPlotInk, 1);
    write(image, text, {box.x - 36, y_of(v) + 5}, 0.45);
    write(image, text, {x_of(v) - 10, box.y + box.height + 18}, 0.45);
  }
  cv::line(image, {x_of(0), y_of(0)}, {x_of(1), y_of(1)}, kPale, 1, cv::LINE_AA);
  cv::rectangle(image, box, kPlotInk, 1);
  write(image, "accuracy over confidence; red: too sure by that much; yellow: too cautious",
        {box.x, box.y + box.height + 44}, 0.45);
  write(image, "outlined: share of items", {box.x, box.y + box.height + 62}, 0.45);
}

}  // namespace

Tensor class_plots(const ClassPlots& p) {
  const auto count = static_cast<int>(p.classes.size());
  ensure(count > 0 && p.confusion.size() == p.classes.size() * p.classes.size(),
         "a confusion matrix has a row and a column per class");
  const int cell = std::max(1, std::clamp(56 * count, kLeastMatrix, kMostMatrix) / count);
  const Grid grid{.left = kLabels + kMargin, .top = kTitle + kMargin, .cell = cell, .count = count};
  const cv::Rect diagram(grid.left + grid.side() + 3 * kMargin + 36, grid.top, kDiagram, kDiagram);
  const int width = diagram.x + kDiagram + 3 * kMargin, height = grid.top + std::max(grid.side(), kDiagram) + 80;
  Tensor rgb(DType::kU8, {height, width, 3});
  cv::Mat image(height, width, CV_8UC3, rgb.data());
  opencv_on_this_thread();
  image.setTo(cv::Scalar(255, 255, 255));
  write(image, printable_text(p.title), {grid.left, kTitle}, 0.6);
  write(image, printable_text(p.note), {diagram.x, kTitle}, 0.6);
  draw_matrix(image, p, grid);
  draw_diagram(image, p, diagram);
  return rgb;
}

}  // namespace voxshard
