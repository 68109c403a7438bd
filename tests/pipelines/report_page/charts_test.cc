// The images of a page: axes with round numbers, a line for each run, a rectangle for each core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "pipelines/report_page/bar_chart.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/line_chart.h"
#include "pipelines/report_page/plan_section.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

int count_of(const std::string& text, const std::string& piece) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++count;
  return count;
}

TEST(LineChart, TicksAreRoundAndWithinTheRange) {
  EXPECT_THAT(axis_ticks(0, 1, 5), ElementsAre(0, testing::DoubleEq(0.2), testing::DoubleEq(0.4),
                                               testing::DoubleEq(0.6), testing::DoubleEq(0.8), 1));
  EXPECT_THAT(axis_ticks(3, 97, 4), ElementsAre(50));
  EXPECT_THAT(axis_ticks(0, 1000, 8), ElementsAre(0, 200, 400, 600, 800, 1000));
  for (const double size : {1e-9, 0.3, 7.0, 1e12})
    for (const int most : {2, 5, 9}) {
      const auto ticks = axis_ticks(-size, 2 * size, most);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 1);
      EXPECT_GE(ticks.front(), -size * (1 + 1e-6));
      EXPECT_LE(ticks.back(), 2 * size * (1 + 1e-6));
    }
}

TEST(LineChart, PlacesPointsByTheirValuesAndLeavesGaps) {
  const double nan = std::nan("");
  const std::string svg = to_svg({.title = "a < b",
                                  .x_title = "step",
                                  .width = 166,
                                  .height = 160,
                                  .from = 0,
                                  .to = 1,
                                  .lines = {{"run", 2, {{0, 0}, {1, 1}, {2, nan}, {3, 0.5}, {4, 0.25}}}}});
  // Between the left and right margins of 52 and 14 lie 100 units for steps 0 to 4; between 26 and 126 those for 1 to
  // 0.
  EXPECT_THAT(svg, HasSubstr("d=\"M52.0 126.0L77.0 26.0M127.0 76.0L152.0 101.0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"line r2\""));
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(LineChart, APointAloneIsSeenAndNoPointsGiveEmptyAxes) {
  EXPECT_THAT(to_svg({.title = "", .x_title = "", .lines = {{"run", 0, {{5, 0.5}}}}}), HasSubstr("<circle"));
  for (const std::string& svg : {to_svg({.title = "", .x_title = "", .lines = {}}),
                                 to_svg({.title = "", .x_title = "", .lines = {{"run", 0, {{1, std::nan("")}}}}})})
    EXPECT_FALSE(std::regex_search(svg, std::regex("nan|inf"))) << svg;
}

TEST(LineChart, MovingMeanKeepsAConstantAndFewPoints) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 200; ++i) points.push_back({static_cast<double>(i), 3});
  for (const ChartPoint& point : moving_mean(points)) EXPECT_EQ(point.y, 3);
  EXPECT_EQ(moving_mean({{0, 1}, {1, 5}})[1].y, 5);
  for (int i = 0; i < 200; ++i) points[i].y = i;
  EXPECT_EQ(moving_mean(points)[100].y, 100);
  EXPECT_EQ(moving_mean(points)[0].y, 2) << "of 0 to 4";
}

TEST(GridSvg, HasARectangleForEachCoreWithItsBox) {
  const std::string svg = grid_svg("1x2x2x3x1", "16x10x9");
  EXPECT_EQ(count_of(svg, "<rect"), 12);
  EXPECT_EQ(count_of(svg, "<svg"), 2) << "two slabs along the first axis";
  EXPECT_THAT(svg, HasSubstr("slices 0 to 7"));
  EXPECT_THAT(svg, HasSubstr("slices 8 to 15"));
  EXPECT_THAT(svg, HasSubstr("core 11: rows 5 to 9, columns 6 to 8"));
  const std::string uneven = grid_svg("1x4x1x1", "5x8");
  EXPECT_EQ(count_of(uneven, "<rect"), 3) << "5 rows over 4 cores are 2, 2, 1 and none";
  EXPECT_THAT(uneven, HasSubstr("core 2: rows 4 to 4, columns 0 to 7"));
  EXPECT_EQ(count_of(grid_svg("1x2x2x1x1", "whole"), "<rect"), 4);
  for (const char* partition : {"", "1x2", "axb", "1x0x1x1", "1x99999x99999x99999x1", "<script>"})
    EXPECT_EQ(grid_svg(partition, "8x8x8"), "") << partition;
}

TEST(Html, TextOfFilesIsNeverMarkup) {
  const std::string hostile = "</script><b onload=\"x\">&'\x1b[2J\xe2\x80\xae";
  const std::string text = html_text(hostile);
  EXPECT_EQ(text.find_first_of("<>\"'\x1b"), std::string::npos) << text;
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae"))) << "the mark that turns the direction of writing";
  const std::string json = script_json({{"name", hostile}});
  EXPECT_EQ(json.find_first_of("<>&\x1b"), std::string::npos) << json;
  EXPECT_EQ(nlohmann::json::parse(json).at("name"), hostile);
  EXPECT_THAT(to_html(HtmlTable{.name = "t", .head = {"<a>"}, .rows = {{{"<b>"}, number_cell(0.12345)}}}),
              HasSubstr("&lt;b&gt;</th><td data-value=\"0.12345\">0.123</td>"));
}

TEST(BarChart, TheLongestBarIsThatOfTheLargestValue) {
  const std::string html =
      to_html(BarChart{.name = "time", .bars = {{"a", 1, "1 s"}, {"b", 4, "4 s"}, {"c", 0, "0 s"}}});
  EXPECT_THAT(html, HasSubstr("data-value=\"1\">1 s</td><td class=\"bar\"><i style=\"width:25.00%"));
  EXPECT_THAT(html, HasSubstr("width:100.00%"));
  EXPECT_EQ(count_of(to_html(BarChart{.name = "none", .bars = {{"a", 0, "0 s"}}}), "width:0.00%"), 1);
}

}  // namespace
}  // namespace voxshard
