// What the page shows of last_validation.json and best_validation.json: their numbers, in words and tables; nothing of
// files of another form, and nothing of another validation than that of the tables beside it.
#include "pipelines/report_page/validation_detail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipelines/report_page/detail_sections.h"
#include "pipelines/report_page/report_page.h"
#include "tests/pipelines/report_page/written_run.h"

namespace voxshard {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

ordered_json detection(int step) {
  return {
      {"step", step},
      {"weights", "last"},
      {"kind", "detection"},
      {"items", 2},
      {"curves", {{"recall", {0, 0.5, 1}}, {"all", {1, 0.75, 0}}, {"by_class", {{1, 0.75, 0}, nullptr}}}},
      {"operating_point",
       {{"score", 0.625},
        {"recall", 0.5},
        {"precision", 0.75},
        {"f1", 0.6},
        {"found", 3},
        {"wrong", 1},
        {"missed", 3}}},
      {"classes",
       {{{"class", "cell"}, {"items", 6}, {"found", 4}, {"recall", 0.5}, {"precision", 0.75}, {"f1", 0.6}},
        {{"class", "<b>"}, {"items", 0}, {"found", 0}, {"recall", nullptr}, {"precision", nullptr}, {"f1", nullptr}}}},
      {"confusion", {{3, 0, 3}, {0, 0, 0}, {1, 0, 0}}},
      {"mistakes", {{{"true", 0}, {"found", nullptr}, {"items", 3}}, {{"true", nullptr}, {"found", 0}, {"items", 1}}}},
      {"worst", {{{"item", "b.png"}, {"ap50", 0.25}, {"objects", 4}, {"found", 1}, {"wrong", 1}}}},
      {"best", {{{"item", "a.png"}, {"ap50", 1.0}, {"objects", 2}, {"found", 2}, {"wrong", 0}}}},
      {"images",
       {{{"item", "b.png"},
         {"width", 64},
         {"height", 48},
         {"ap50", 0.25},
         {"jpeg", "/9j/AAAA"},
         {"reference", {{{"class", 0}, {"box", {1, 2, 3, 4}}}}},
         {"prediction", {{{"class", 0}, {"box", {1.5, 2, 3, 4}}, {"score", 0.625}}}}}}}};
}

struct DetailedRun : WrittenRun {
  explicit DetailedRun(const std::string& name) : WrittenRun(name, "ap50") {
    steps(4);
    validation(2, {{"cell", {{"", 0.5}}}}), validation(4, {{"cell", {{"", 0.25}}}});
  }
  void write_detail(const char* file, const ordered_json& detail) {
    write();
    std::ofstream(path() / file) << detail.dump();
  }
  std::string page() const { return report_page(std::vector{read_run_data(path())}); }
};

TEST(ValidationDetail, IsShownInChartsTablesAndWords) {
  DetailedRun run("detail");
  run.write_detail(kLastDetailFile, detection(4));
  const std::string page = run.page();
  EXPECT_THAT(page, HasSubstr("data-series=\"precision\""));
  EXPECT_THAT(page, HasSubstr("data-series=\"precision:cell\""));
  EXPECT_THAT(page, Not(HasSubstr("data-series=\"precision:&lt;b&gt;\""))) << "a class without a curve has no chart";
  EXPECT_THAT(page, HasSubstr("<li>cell not found: 3</li><li>cell detected where there is none: 1</li>"));
  EXPECT_THAT(page, HasSubstr("<td data-value=\"0.625\">0.625</td><td data-value=\"0.6\">0.600</td>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">cell</th><td style=\"--Share:0.500\" data-value=\"3\">3</td>"));
  EXPECT_THAT(page, HasSubstr("(nothing)"));
  EXPECT_THAT(page, HasSubstr("href=\"data:image/jpeg;base64,/9j/AAAA\""));
  EXPECT_THAT(page, HasSubstr("<title>cell 0.62</title></rect>")) << "the class and score of a box";
  EXPECT_THAT(page, Not(HasSubstr("<b>\"")));
  EXPECT_EQ(page.find("/9j/AAAA"), page.rfind("/9j/AAAA")) << "an image stands in the page once";
}

TEST(ValidationDetail, OfAnotherValidationIsNotShown) {
  DetailedRun run("detail_other");
  run.write_detail(kLastDetailFile, detection(3));
  EXPECT_TRUE(read_run_data(run.path()).last_detail.is_null()) << "a run that went back to a checkpoint";
  run.write_detail(kLastDetailFile, detection(4)), run.write_detail(kBestDetailFile, detection(2));
  const RunData data = read_run_data(run.path());
  EXPECT_EQ(data.last_detail.at("step"), 4);
  EXPECT_EQ(data.best_detail.at("step"), 2);
  EXPECT_THAT(run.page(), HasSubstr("id=\"best-confusion\""));
  ordered_json averaged = detection(4);
  averaged["weights"] = "averaged";
  run.write_detail(kLastDetailFile, averaged);
  EXPECT_TRUE(read_run_data(run.path()).last_detail.is_null());
}

TEST(ValidationDetail, RunsAreComparedInOneChart) {
  DetailedRun a("detail_a"), b("detail_b");
  a.write_detail(kLastDetailFile, detection(4)), b.write_detail(kLastDetailFile, detection(4));
  const std::string html = precision_section(std::vector{read_run_data(a.path()), read_run_data(b.path())});
  EXPECT_THAT(html, HasSubstr("class=\"line r0\""));
  EXPECT_THAT(html, HasSubstr("class=\"line r1\""));
}

TEST(ValidationDetail, OfAClassifierNamesItsItems) {
  DetailedRun run("detail_classes");
  run.write_detail(kLastDetailFile,
                   {{"step", 4},
                    {"weights", "last"},
                    {"kind", "classification"},
                    {"items", 3},
                    {"accuracy", 0.5},
                    {"classes", {{{"class", "red"}, {"recall", 0}}, {{"class", "white"}, {"recall", 1}}}},
                    {"confusion", {{0, 1}, {0, 2}}},
                    {"mistakes", {{{"true", 0}, {"found", 1}, {"items", 1}}}},
                    {"worst", {{{"item", "a<.png"}, {"true", 0}, {"found", 1}, {"probability", 0.125}}}},
                    {"best", ordered_json::array()}});
  const std::string page = run.page();
  EXPECT_THAT(page, HasSubstr("red taken for white: 1"));
  EXPECT_THAT(page, HasSubstr("<td class=\"missed\" data-value=\"0\">0.000</td>"));
  EXPECT_THAT(page, HasSubstr("a&lt;.png</th><td>red</td><td>white</td><td data-value=\"0.125\">0.12500</td>"));
  EXPECT_THAT(page, Not(HasSubstr("Precision over recall</h2>")));
}

TEST(ValidationDetail, OfAnotherFormIsNotShown) {
  DetailedRun run("detail_hostile");
  for (const char* text : {"[]", "17", "{}", R"({"step": 4, "weights": "last"})",
                           R"({"step": 4, "weights": "last", "kind": "<script>"})"}) {
    run.write();
    std::ofstream(run.path() / kLastDetailFile) << text;
    EXPECT_TRUE(read_run_data(run.path()).last_detail.is_null()) << text;
  }
  for (const auto& [key, value] : std::vector<std::pair<const char*, ordered_json>>{
           {"curves", {{"recall", {0, 1}}, {"all", "x"}, {"by_class", 3}}},
           {"curves", 3},
           {"confusion", {{1, 2}, {3, 4}, {5, 6}}},
           {"confusion", {{1, -2, 0}, {0, 0, 0}, {0, 0, 0}}},
           {"classes", {1, "x"}},
           {"mistakes", {{{"true", 99}, {"found", -1}, {"items", "many"}}}},
           {"worst", "x"},
           {"operating_point", {{"score", "high"}}},
           {"images", {{{"item", "a"}, {"width", 1}, {"height", 1e9}, {"jpeg", "\"/><script>"}}}},
           {"images", {{{"item", "a"}, {"width", 1}, {"height", 1}, {"jpeg", "\"/><script>"}}}},
           {"images",
            {{{"item", "a"},
              {"width", 1},
              {"height", 1},
              {"jpeg", "AAAA"},
              {"prediction", {{{"class", 1e30}, {"box", {1}}}}}}}}}) {
    ordered_json detail = detection(4);
    detail[key] = value;
    run.write_detail(kLastDetailFile, detail);
    std::string page;
    EXPECT_NO_THROW(page = run.page()) << key << " " << value;
    EXPECT_THAT(page, Not(HasSubstr("/><script>"))) << key;
  }
}

}  // namespace
}  // namespace voxshard
