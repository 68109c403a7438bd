// The pages as a reader sees them in headless Chromium, light and dark, wide and narrow: nothing is cut, covered, empty
// or without contrast, and every number that is read back is that of the files.
#include <cmath>
#include <set>

#include "io/image/image.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/commands/run_report.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/report_page/slices_section.h"
#include "tests/pipelines/report_page/chromium.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using nlohmann::json;
using test::chromium, test::kNoChromium, test::RenderedPage, test::Rendering;
using testing::HasSubstr;

/// Adds every number of a document.
void collect(const json& value, std::set<double>& numbers) {
  if (value.is_number()) numbers.insert(value.get<double>());
  if (value.is_structured())
    for (const json& part : value) collect(part, numbers);
}

/// Returns every number in the files of a run.
std::set<double> numbers_of(const std::filesystem::path& run) {
  std::set<double> numbers;
  for (const char* name : {"run.json", "last_validation.json", "best_validation.json", "fingerprint.json"})
    if (std::filesystem::exists(run / name)) collect(json(read_json(run / name)), numbers);
  for (const char* name : {"results.csv", "validations.csv"}) {
    std::istringstream rows(Scene::bytes_of(run / name));
    for (std::string row, field; std::getline(rows, row);) {
      std::istringstream fields(row);
      while (std::getline(fields, field, ',')) {
        char* end = nullptr;
        const double value = std::strtod(field.c_str(), &end);
        if (end != field.c_str() && *end == '\0') numbers.insert(value);
      }
    }
  }
  return numbers;
}

/// Expects that the text of a cell is its value, rounded to the digits that are shown.
void expect_rounded(const json& cell) {
  const std::string text = cell.at("text");
  if (text.find_first_not_of("-0123456789.") != std::string::npos || text == "-") return;  // "12.5 MiB"
  const std::size_t point = text.find('.');
  const double digits = point == std::string::npos ? 0 : static_cast<double>(text.size() - point - 1);
  EXPECT_NEAR(std::stod(text), cell.at("value").get<double>(), 0.5001 * std::pow(10, -digits)) << cell;
}

/// Expects that each number in a table is one of the files, or follows from the others of its row.
void expect_numbers(const json& checks, const std::filesystem::path& run) {
  const std::set<double> known = numbers_of(run);
  std::map<std::pair<std::string, std::string>, std::vector<double>> of_cases;
  EXPECT_GT(checks.at("numbers").size(), 20u);
  for (const json& cell : checks.at("numbers")) {
    expect_rounded(cell);
    const std::string table = cell.at("table");
    if (table == "time") continue;  // parts of the report's seconds: ReportPage.EveryNumberIsThatOfTheFilesOfATraining
    if (table.find("cases-") != std::string::npos)
      of_cases[{table, cell.at("row")}].push_back(cell.at("value"));
    else
      EXPECT_TRUE(known.contains(cell.at("value").get<double>())) << cell;
  }
  for (const auto& [row, values] : of_cases) {  // the mean, then the classes that have a score
    double sum = 0;
    for (std::size_t i = 1; i < values.size(); ++i) {
      sum += values[i];
      EXPECT_TRUE(known.contains(values[i])) << row.second;
    }
    EXPECT_NEAR(values.at(0), sum / static_cast<double>(values.size() - 1), 1e-12) << row.second;
  }
}

/// Returns the points of the first line of the chart with this series, in units of its axes from 0 to 1 vertically.
std::vector<std::pair<double, double>> points_of(const std::string& dom, const std::string& series, double height) {
  std::vector<std::pair<double, double>> points;
  const std::size_t svg = dom.find("data-series=\"" + series + "\"");
  if (svg == std::string::npos) return points;
  const auto attribute = [&](const std::string& name) {
    const std::size_t at = dom.find(" data-" + name + "=\"", svg) + name.size() + 8;
    return std::stod(dom.substr(at));
  };
  const double x0 = attribute("x0"), x1 = attribute("x1"), left = attribute("left"), right = attribute("right");
  const std::size_t path = dom.find(" d=\"", dom.find("class=\"line", svg)) + 4;
  std::string d = dom.substr(path, dom.find('"', path) - path);
  std::ranges::replace_if(
      d, [](char c) { return c == 'M' || c == 'L'; }, ' ');
  std::istringstream numbers(d);
  for (double x, y; numbers >> x >> y;)
    points.emplace_back(x0 + (x - left) / (right - left) * (x1 - x0), (height - 34 - y) / (height - 60));
  return points;
}

/// Expects that dragging changes the window, a double click shows all values again, and the slider the first slice.
void expect_viewer(const json& checks, std::int64_t first_slice) {
  const json& viewer = checks.at("viewer");
  EXPECT_TRUE(viewer.at("dragChanges").get<bool>()) << viewer;
  EXPECT_NE(viewer.at("dragged"), viewer.at("first"));
  EXPECT_EQ(viewer.at("released"), viewer.at("dragged")) << "a released pointer drags nothing";
  EXPECT_EQ(viewer.at("reset"), viewer.at("first"));
  EXPECT_TRUE(viewer.at("resetIsFirst").get<bool>());
  EXPECT_TRUE(viewer.at("hideChanges").get<bool>()) << "labels can be hidden";
  EXPECT_THAT(viewer.at("moved").get<std::string>(),
              testing::StartsWith("axial, slice " + std::to_string(first_slice) + ", window "));
}

/// Renders a page in each scheme and two widths and expects that it looks well; returns the light wide one.
RenderedPage rendered_well(const std::filesystem::path& page) {
  const ScratchFolder folder("rendered");
  RenderedPage light;
  for (const Rendering& how : {Rendering{.dark = false, .width = 1280}, Rendering{.dark = true, .width = 420}}) {
    RenderedPage one = test::render(folder, page, how);
    test::expect_well_looking(one.checks, how);
    if (!how.dark) light = std::move(one);
  }
  const std::string html = Scene::bytes_of(page), begin = "id=\"report-data\">";
  const std::size_t from = html.find(begin);
  const std::string data = html.substr(from, html.find("</script>", from) - from);
  EXPECT_NE(light.dom.find(data), std::string::npos) << "the browser has the data of the page";
  return light;
}

TEST(RenderedPage, WhatIsWrongWithAPageIsFound) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  const ScratchFolder folder("faulty");
  folder.write("page.html", R"(<!DOCTYPE html><html><body style="background:#fff">
<p style="color:#aaa">faint</p><p style="width:3000px">wide</p>
<svg class="chart" aria-label="labels" viewBox="0 0 100 50" width="100"><text x="5" y="20">one</text><text x="8" y="22">two</text>
<text x="95" y="45">three</text></svg>
<svg class="chart" aria-label="no line" data-series="loss" viewBox="0 0 100 50" width="100"><path class="line" d=""/></svg>
<figure data-item="0"><canvas></canvas></figure><p style="color:#111">dark</p></body></html>)");
  const json checks = test::render(folder, folder.path() / "page.html", {}).checks;
  ASSERT_TRUE(checks.is_object());
  EXPECT_EQ(checks.at("contrast").size(), 1u) << checks;
  EXPECT_THAT(checks.at("contrast").dump(), HasSubstr("faint"));
  EXPECT_THAT(checks.at("overflow").dump(), HasSubstr("wide"));
  EXPECT_THAT(checks.at("overlap").dump(), HasSubstr("one / two"));
  EXPECT_THAT(checks.at("cut").dump(), HasSubstr("three"));
  EXPECT_THAT(checks.at("empty").dump(), HasSubstr("no line"));
  EXPECT_THAT(checks.at("empty").dump(), HasSubstr("canvas 0"));
}

TEST(RenderedPage, OfASegmentationShowsTheNumbersAndSlicesOfItsFiles) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  TrainingScene scene("rendered_volumes", 5);
  TrainOptions o = scene.options("run");
  o.steps = 6, o.validate_every = 2, volumes(o).fold = "0", o.spec.cut.mesh.partition = {1, 2, 2, 1, 1};
  run_train(o, scene.progress);
  const RenderedPage page = rendered_well(o.run / kReportPage);
  expect_numbers(page.checks, o.run);
  const json slices = read_json(o.run / kSlicesFile).at("cases");
  ASSERT_EQ(page.checks.at("canvases"), 3 * slices.size());
  for (std::size_t i = 0; i < page.checks.at("outputs").size(); ++i) {
    const json& plane = slices.at(i / 3).at("planes").at(i % 3);
    const std::size_t middle = plane.at("at").size() / 2;
    EXPECT_THAT(page.checks.at("outputs").at(i).get<std::string>(),
                testing::StartsWith(plane.at("plane").get<std::string>() + ", slice " +
                                    plane.at("at").at(middle).dump() + ", window "));
  }
  expect_viewer(page.checks, slices.at(0).at("planes").at(0).at("at").at(0));
  EXPECT_THAT(page.checks.at("read").get<std::string>(), HasSubstr("step 6  ")) << "the values under the pointer";
  EXPECT_EQ(points_of(page.dom, "loss", 260).size(), 6u) << "a point for each step";
  const auto scores = points_of(page.dom, "score", 260);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_NEAR(scores.back().first, 6, 0.02);
  EXPECT_NEAR(scores.back().second, read_json(o.run / "run.json").at("report").at("mean_dice").get<double>(), 1e-3);
}

TEST(RenderedPage, OfADetectionShowsItsCurvesConfusionAndImages) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  ImagesScene scene("rendered_images");
  TrainOptions o = scene.options("run");
  o.steps = 40, o.validate_every = 20, o.optimizer.learning_rate = 3e-3;
  run_train(o, scene.progress);
  const RenderedPage page = rendered_well(o.run / kReportPage);
  expect_numbers(page.checks, o.run);
  const json curves = read_json(o.run / "last_validation.json").at("curves");
  const auto points = points_of(page.dom, "precision", 320);
  ASSERT_EQ(points.size(), 101u);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(points[i].first, curves.at("recall").at(i).get<double>(), 1e-3) << i;
    EXPECT_NEAR(points[i].second, curves.at("all").at(i).get<double>(), 1e-3) << i;
  }
  EXPECT_EQ(page.checks.at("hidden"), "none") << "boxes can be hidden";
  EXPECT_THAT(page.dom, HasSubstr("class=\"wanted\""));
  EXPECT_THAT(page.dom, HasSubstr("id=\"last-confusion\""));
}

TEST(RenderedPage, OfAClassificationShowsItsConfusion) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  ClassScene scene("rendered_classes");
  scene.idx("data", 40, 20);
  TrainOptions o = scene.digits("run");
  o.validate_every = 3;
  run_train(o, scene.progress);
  const RenderedPage page = rendered_well(o.run / kReportPage);
  expect_numbers(page.checks, o.run);
  std::int64_t items = 0;
  for (const json& cell : page.checks.at("numbers"))
    if (cell.at("table") == "last-confusion") items += cell.at("value").get<std::int64_t>();
  EXPECT_EQ(items, 20) << "each item that validates is in one cell";
}

TEST(RenderedPage, ComparesRunsAndIsDarkOnADarkScreen) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  TrainingScene scene("rendered_runs", 5);
  for (const char* name : {"first", "second"}) {
    TrainOptions o = scene.options(name);
    o.steps = 4, o.validate_every = 2, volumes(o).fold = "0", o.seed = name[0];
    run_train(o, scene.progress);
  }
  run_report({.runs = {scene.path("first"), scene.path("second")}, .file = scene.path("both.html")}, scene.progress);
  rendered_well(scene.path("both.html"));
  const ScratchFolder folder("screenshot");
  for (const bool dark : {false, true}) {
    const Rendering how{.dark = dark, .width = 600};
    test::run_chromium(folder, scene.path("both.html"), how, "--screenshot=" + (folder / "page.png"));
    const Tensor rgb = read_rgb(folder.path() / "page.png");
    EXPECT_EQ(rgb.shape()[1], 600);
    EXPECT_EQ(int{rgb.as<std::uint8_t>()[0]}, dark ? 20 : 255) << "the corner has the colour of the paper";
  }
}

TEST(RenderedPage, OfPredictionsShowsTheVolumesOfTheLabelMaps) {
  if (!chromium()) GTEST_SKIP() << kNoChromium;
  TrainingScene scene("rendered_sheet");
  run_train(scene.options("run"), scene.progress);
  const std::filesystem::path images = scene.data() / "imagesTr";
  run_predict({.run = scene.path("run"), .input = images, .output = scene.path("pred")}, {scene.progress, {}});
  for (const bool with_images : {true, false}) {
    const json report =
        run_report({.runs = {scene.path("pred")}, .images = with_images ? images : ""}, scene.progress).json;
    const RenderedPage page = rendered_well(scene.path("pred") / kReportPage);
    EXPECT_EQ(page.checks.at("canvases"), 6);
    std::map<std::pair<std::string, std::string>, std::int64_t> voxels;  // counted in the files
    const std::vector<std::string> classes = {"lungs", "liver", "lesion", "spine"};
    for (const char* name : {"phantom_000", "phantom_001"}) {
      const Volume map = read_label(scene.path("pred") / (std::string(name) + ".nii.gz"));
      const auto& mm = map.geometry.spacing;
      for (std::size_t c = 0; c < classes.size(); ++c) {
        const auto* label = map.voxels.as<std::int32_t>();
        const std::int64_t count = std::count(label, label + map.voxels.count(), static_cast<std::int32_t>(c + 1));
        const double ml = static_cast<double>(count) * mm[0] * mm[1] * mm[2] * 1e-3;
        bool is_there = false;
        for (const json& cell : page.checks.at("numbers"))
          if (cell.at("table") == "volumes" && cell.at("row") == name && cell.at("column") == c + 1) {
            EXPECT_EQ(cell.at("value"), ml) << name << " " << classes[c];
            expect_rounded(cell), is_there = true;
          }
        EXPECT_TRUE(is_there) << name << " " << classes[c];
      }
    }
    if (with_images) {
      const std::string html = Scene::bytes_of(scene.path("pred") / kReportPage), at = "\"at\":[";
      expect_viewer(page.checks, std::stoll(html.substr(html.find(at) + at.size())));
    }
    for (const json& output : page.checks.at("outputs"))
      EXPECT_EQ(output.get<std::string>().find(", window ") != std::string::npos, with_images) << output;
  }
}

}  // namespace
}  // namespace voxshard
